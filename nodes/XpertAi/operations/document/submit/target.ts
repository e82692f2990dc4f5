import { z } from 'zod';

import { asJson, mayContinue } from '../../../execution/outputs';
import { documentList } from '../../../ingest/answeredRecords';
import type { ReadyDocument } from '../../../ingest/batches';
import { Folders } from '../../../ingest/folders';
import { ROOM_IN_BATCH, SourceMemory } from '../../../ingest/memory';
import type { DocumentName, Holder } from '../../../ingest/memory';
import { filterChanged, planDocuments } from '../../../ingest/planDocuments';
import { Processing } from '../../../ingest/processing';
import { fetchStatuses, processingState } from '../../../ingest/processingStatus';
import type { ProcessingEnd, Statuses } from '../../../ingest/processingStatus';
import { storeDocuments } from '../../../ingest/storing';
import { uploadFiles } from '../../../ingest/uploads';
import type { Upload } from '../../../ingest/uploads';
import { numberIfAny, textIfAny } from '../../../payloads/common';
import { derivedId } from '../../../payloads/derivedId';
import { call, OutageBudget } from '../../../transport/call';
import { systemClock } from '../../../transport/clock';
import { failureMessage } from '../../../transport/failure';
import { UPLOADS_AT_ONCE, multipartBody } from '../../../transport/multipart';
import { UPLOAD_TIMEOUT_SECONDS } from '../../shared/fields';
import { DocumentStream } from './documentStream';
import { knowledgebaseRoutes, memoryPlaceOf } from './knowledgebase';
import { defined, knowledgebaseError, processingFlaw, withReadableReason } from './outcomes';
import type { Origin, SubmitOutcome } from './outcomes';
import { SOURCES } from './sources';
import type { Submission } from './submission';
import { asHint, counted } from './wording';

/** A small first batch is processed soon, and reveals errors that affect all documents. */
const FIRST_BATCH = 10;

/** Limits of the first documents that are looked up on the server, if a source has no memory. */
const MAX_CHECKED = 500;
const MAX_CHECKED_BYTES = 8 * 1024 * 1024;

const STORED_TWICE =
	'also stored without a Source Name, and found twice. Document: Disable takes them out.';

const OTHER_RUN_ACTIVE = 'Not sent: another run of this source is at work';

/** The fields of the answer that are used. */
const uploadedFile = z.object({
	url: z.string().min(1),
	id: textIfAny,
	size: numberIfAny,
});

const NO_UPLOADS = `this server takes no uploads. Set "Documents From" to ${SOURCES.fields.name}, and send what it can read`;

/** The name and key of a document, for runs that no longer contain it. */
const documentName = ({ record: { name }, key }: ReadyDocument<Origin>): DocumentName =>
	name ? { name, key } : { key };

/** Content hashes by ID, without documents whose ID is new each time: later runs cannot recognize them. */
const hashesOf = (batch: Array<ReadyDocument<Origin>>) =>
	new Map(batch.flatMap(({ id, isNew, contentHash = '' }) => (isNew ? [] : [[id, contentHash]])));

/** One knowledgebase in a run: its documents, its memory, and its processing. */
export class Target {
	/** The documents of the items for this knowledgebase. */
	readonly stream: DocumentStream;
	/** What earlier runs stored, once it is open; `undefined` if nothing is remembered. */
	memory?: SourceMemory;
	/** The routes for the memory. They have an outage budget of their own. */
	readonly memoryRoutes: ReturnType<typeof knowledgebaseRoutes>;
	/** Processes the stored documents; `undefined` with After Storing = Nothing. */
	readonly processing?: Processing;
	private readonly folders: Folders;

	constructor(
		readonly submission: Submission,
		readonly knowledgebaseId: string,
	) {
		const { send, settings, signal } = submission;
		const newRoutes = () => knowledgebaseRoutes(knowledgebaseId, send, settings, signal);
		this.memoryRoutes = newRoutes();
		this.folders = new Folders(knowledgebaseId, async (body) => {
			const { send: sendRepeatedly, storePath: path } = this.memoryRoutes;
			return await sendRepeatedly({
				method: 'POST',
				repeatable: true,
				path,
				body,
				schema: documentList,
			});
		});
		this.stream = new DocumentStream(submission, knowledgebaseId);
		const onEnd = (id: string, end: ProcessingEnd) => this.addEnd(id, end);
		if (settings.process) this.processing = new Processing(newRoutes(), { ...settings, onEnd });
	}

	/** Stores the documents: leaves out unchanged ones, uploads files, then stores and processes the rest. */
	async store(): Promise<void> {
		const { submission } = this;
		const { first, settings, report, circuitBreaker, send, signal } = submission;
		if (submission.canSend && settings.remembers) this.memory = await this.newMemory().open();
		const { memory } = this;
		if (memory?.holder) return await this.yieldTo(memory.holder);
		let hasFailed = false;
		const counts = await storeDocuments({
			...settings,
			documents: uploadFiles(memory ? this.changedDocuments(memory) : this.stream.documents(), {
				upload: this.upload(),
				concurrency: UPLOADS_AT_ONCE,
				onOutcome: (result) => this.addOutcome(result),
				onUnreadable: ({ origin }, caught) => report.addUnreadable(origin, caught),
				mayUpload: () => submission.canSend,
			}),
			send,
			batchLimits: {
				...settings.batchLimits,
				firstCount: FIRST_BATCH,
				reserved: memory && ROOM_IN_BATCH,
			},
			journal: async (batch) => {
				const failure = await this.folders.createFor(batch.map(({ record }) => record));
				return failure ? { failure } : await memory?.journalBatch(hashesOf(batch));
			},
			request: (body) => ({
				method: 'POST',
				repeatable: true,
				path: this.memoryRoutes.storePath,
				body,
				timeoutMs: settings.timeoutMs,
			}),
			onOutcome: (result) => {
				hasFailed ||= 'failure' in result;
				this.addOutcome(withReadableReason(result));
			},
			maySend: () =>
				circuitBreaker.reason === undefined && (!hasFailed || mayContinue(first.context)),
			clock: systemClock,
			signal,
		});
		report.addRequests(counts);
	}

	/**
	 * Reports what the next run would do with each document; sends and notes nothing.
	 *
	 * @throws NodeApiError if the memory cannot be read: the next run would send nothing
	 */
	async plan(): Promise<void> {
		const { first, report, settings } = this.submission;
		const memory = this.newMemory();
		this.memory = memory;
		if (settings.remembers) await memory.open('to read');
		if (memory.refusal) throw knowledgebaseError(first, memory.refusal);
		await planDocuments(this.checkingNewSource(memory), {
			...this.detection(memory),
			onPlanned: ({ id, key, origin }, plan) =>
				report.addPlanned(plan, { name: origin.name, key, id }, origin),
		});
	}

	/** The statuses of documents, by ID in lower case. */
	async statusesOf(ids: string[], { requiredId, troubles }: SourceMemory): Promise<Statuses> {
		const asked = await fetchStatuses(ids, this.memoryRoutes, requiredId);
		troubles.notAsked ??= asked.failure;
		return asked;
	}

	/** The memory of the source, not yet read. */
	private newMemory(): SourceMemory {
		const { first, settings, signal } = this.submission;
		const { context } = first;
		const { resendAll: fresh, forgetDamage: forgetLost } = settings;
		const place = memoryPlaceOf(this.knowledgebaseId, settings, context);
		const { name } = context.getWorkflow();
		const by = `execution ${context.getExecutionId()}${name ? ` of "${name}"` : ''}`;
		return new SourceMemory(place, this.memoryRoutes, { signal, by, fresh, forgetLost });
	}

	/**
	 * Makes the upload of a document's file (E16). An upload whose answer is lost is repeated: an unused file does no
	 * harm. All uploads share one outage budget. A document that must not be stored need not be uploaded.
	 */
	private upload(): Upload<Origin> {
		const { circuitBreaker, send, settings, signal } = this.submission;
		const outageBudget = new OutageBudget(settings.retryLimits);
		const client = { send, clock: systemClock, signal, outageBudget };
		const timeoutMs = Math.max(settings.timeoutMs, UPLOAD_TIMEOUT_SECONDS * 1000);
		return async ({ file }) => {
			this.processing?.pollWhenDue();
			if (this.memory?.refusal) return { failure: this.memory.refusal, attempts: 0 };
			const uploadedContent = await file?.();
			const { answer, failure, attempts } = await call(client, {
				method: 'POST',
				repeatable: true,
				path: '/v1/file',
				schema: uploadedFile,
				timeoutMs,
				body: uploadedContent && (() => multipartBody(uploadedContent, {})),
			});
			if (answer) {
				circuitBreaker.passed('upload');
				const { url: fileUrl, id: storageFileId, size } = answer;
				return { file: { fileUrl, ...defined({ storageFileId, size }) } };
			}
			const reason = failure.missing === 'route' ? NO_UPLOADS : failure.reason;
			return { failure: { ...failure, reason }, attempts };
		};
	}

	/**
	 * Sends nothing, because another run of the source holds the lease.
	 *
	 * @throws NodeOperationError with Stop, naming that run
	 */
	private async yieldTo({ by, since }: Holder): Promise<void> {
		const { first, report } = this.submission;
		const error = first.operationError(
			`Nothing was sent: another run of this source is at work, ${by}, since ${since}`,
			`Run it again when that one has ended; one that has crashed counts as ended a minute later. Runs that bring different documents need different names in "${first.labelOf('sourceName')}".`,
		);
		report.addRefusal(error);
		for await (const document of this.stream.documents())
			report.addNotSent(document, OTHER_RUN_ACTIVE);
	}

	private changedDocuments(memory: SourceMemory): AsyncGenerator<ReadyDocument<Origin>> {
		return filterChanged(this.checkingNewSource(memory), {
			...this.detection(memory),
			onUnchanged: (document, status) =>
				this.addOutcome({ document, outcome: 'unchanged', status }),
		});
	}

	/** How unchanged documents are told from changed ones. */
	private detection(memory: SourceMemory) {
		return {
			memory: memory.known,
			processed: this.submission.settings.process,
			statusesOf: async (ids: string[]) => await this.statusesOf(ids, memory),
		};
	}

	/**
	 * The documents of the source. Looks up the first ones of a source without a memory: the memory may be lost, or the
	 * documents may have been stored in another way before, also under the IDs that they have without a Source Name.
	 */
	private async *checkingNewSource(memory: SourceMemory): AsyncGenerator<ReadyDocument<Origin>> {
		const documents = this.stream.documents();
		const held: Array<ReadyDocument<Origin>> = [];
		let bytes = 0;
		while (memory.isNew && held.length < MAX_CHECKED && bytes < MAX_CHECKED_BYTES) {
			const { done, value } = await documents.next();
			if (done) break;
			held.push(value);
			bytes += value.bytes;
		}
		if (held.length > 0) await this.checkStored(held, memory);
		yield* held;
		yield* documents;
	}

	private async checkStored(
		documents: Array<ReadyDocument<Origin>>,
		memory: SourceMemory,
	): Promise<void> {
		const { report, settings } = this.submission;
		const ids = documents.flatMap(({ id, isNew }) => (isNew ? [] : id));
		const otherIds = documents.flatMap(({ key }) =>
			key === undefined || settings.sourceName === '' ? [] : derivedId(this.knowledgebaseId, key),
		);
		const { statuses } = await this.statusesOf([...ids, ...otherIds], memory);
		if (ids.some((id) => statuses.has(id.toLowerCase()))) memory.markLost();
		// A disabled document has no status.
		const duplicates = otherIds.filter((id) => processingState(statuses.get(id)) !== 'none').length;
		if (duplicates > 0)
			report.remark(
				asHint(`${counted(duplicates, 'document is', 'documents are')} ${STORED_TWICE}`),
			);
	}

	/** Records what became of a document: in the report, the memory and the circuit breaker; then processes it. */
	private addOutcome(result: SubmitOutcome): void {
		const { circuitBreaker, report } = this.submission;
		const { document } = result;
		const { id, contentHash = '', origin } = document;
		const memory = document.isNew ? undefined : this.memory;
		report.addOutcome(result);
		if (result.outcome === 'stored') {
			memory?.recordStored(id, contentHash, documentName(document));
			circuitBreaker.passed('storing');
			// With incremental sync, a server keeps a document under the first ID that its source had.
			const { id: storedId } = asJson(result.record);
			const isFollowed = origin.isTracked || origin.isUploaded;
			this.startProcessing(String(storedId), isFollowed ? origin : undefined);
		} else if (result.outcome === 'unchanged') {
			memory?.names.add(id, documentName(document));
			if (processingState(result.status) === 'running') this.startProcessing(id, origin);
		} else if (result.outcome !== 'notSent') {
			const { batch, failure } = result;
			if (result.outcome === 'rejected') memory?.recordRejected(id);
			const reason = failureMessage(failure);
			if (batch > 0) circuitBreaker.failed('storing', reason, batch);
			// With 403, the key may have no right to upload any file.
			else circuitBreaker.failed('upload', reason, undefined, failure.status === 403);
		}
		this.processing?.pollWhenDue();
	}

	/** Starts the processing of a stored document, or follows it if the server has already begun. */
	private startProcessing(id: string, origin: Origin | undefined): void {
		// An ID with a comma, which only a user can give, cannot be polled in a list of IDs.
		if (!this.processing || id.includes(',')) return;
		const { seen } = this.stream;
		const key = id.toLowerCase();
		// A record that is not tracked takes the place of an unchanged one that is in process.
		if (origin ? !origin.isReplaced : seen.has(key)) seen.set(key, origin);
		this.processing.add(id);
	}

	/**
	 * Records how the processing of a document ended. The next run fetches the statuses of documents that are not done
	 * before it sends them again.
	 */
	private addEnd(id: string, end: ProcessingEnd): void {
		const { circuitBreaker, report } = this.submission;
		const { state, hasNoRoute, failure, isStuck, processMsg } = end;
		const flaw = processingFlaw(end);
		const { seen } = this.stream;
		const origin = seen.get(id.toLowerCase());
		report.addProcessed(id, end, flaw, origin);
		// Its ID cannot come again.
		if (origin?.isUploaded && !origin.isTracked) seen.delete(id.toLowerCase());
		// On a server without a route for processing, documents are done when they are stored.
		if (state === 'finish' || hasNoRoute) this.memory?.known.markProcessed(id);
		else if (isStuck || (state !== 'running' && !failure)) this.memory?.known.forget(id);
		if (flaw !== undefined) circuitBreaker.failed('processing', processMsg ?? flaw);
		else if (state === 'finish') circuitBreaker.passed('processing');
	}
}
