import { mayContinue } from '../../../execution/outputs';
import { mustListDocuments } from '../../../ingest/answeredRecords';
import type { ReadyDocument } from '../../../ingest/batches';
import { changedOnly, planDocuments } from '../../../ingest/planDocuments';
import type { Planning } from '../../../ingest/planDocuments';
import { Folders } from '../../../ingest/folders';
import { ROOM_IN_BATCH } from '../../../ingest/memory';
import type { DocumentName, Holder, SourceMemory } from '../../../ingest/memory';
import { Processing } from '../../../ingest/processing';
import { askStatuses, processingState, processingEndOf } from '../../../ingest/processingStatus';
import type { ProcessingEnd, Statuses } from '../../../ingest/processingStatus';
import { storeDocuments } from '../../../ingest/storing';
import type { DocumentOutcome } from '../../../ingest/storing';
import { uploaded } from '../../../ingest/uploads';
import type { Upload } from '../../../ingest/uploads';
import { derivedId } from '../../../payloads/derivedId';
import { isJsonObject } from '../../../transport/answer';
import { failureMessage } from '../../../transport/failure';
import { UPLOADS_AT_ONCE } from '../../../transport/multipart';
import { counted } from './counts';
import { withReadableReason } from './advice';
import { DocumentStream } from './documentStream';
import { asHint, memoryOf } from './memory';
import { processingFlaw } from './outcomeItems';
import { knowledgebaseRoutes, uploadRoute } from './routes';
import type { KnowledgebaseRoutes } from './routes';
import type { Origin } from './sources/identity';
import type { Submission } from './submission';

const PROGRESS_EVERY_MS = 1000;

/** A small first batch is processed soon, and shows early what keeps all documents from being found. */
const FIRST_BATCH = 10;

/** Limits of the first documents that are looked up on the server, if a source has no memory. */
const MAX_CHECKED = 500;
const MAX_CHECKED_BYTES = 8 * 1024 * 1024;

const STORED_TWICE =
	'also stored without a Source Name, and found twice. Document: Disable takes them out.';

const OTHER_RUN_ACTIVE = 'Not sent: another run of this source is at work';

/** The name and key of a document, for runs that no longer contain it. */
const documentName = ({ record, key }: ReadyDocument<Origin>): DocumentName => ({
	...(record.name && { name: record.name }),
	...(key !== undefined && { key }),
});

/** Contents of documents by ID. Documents whose ID is new each time are left out: later runs cannot recognize them. */
const contentsOf = (batch: Array<ReadyDocument<Origin>>) =>
	new Map(batch.flatMap(({ id, isNew, content = '' }) => (isNew ? [] : [[id, content]])));

/** One knowledgebase in a run: its documents, its memory, and its processing. */
export class Target {
	/** The documents of the items for this knowledgebase. */
	readonly stream: DocumentStream;
	/** What earlier runs stored, once it is open; `undefined` if nothing is remembered. */
	memory?: SourceMemory;
	/** The routes for the memory. They have an outage budget of their own. */
	readonly memoryRoutes: KnowledgebaseRoutes;
	private readonly folders: Folders;
	/** Processes the stored documents; `undefined` with After Storing = Nothing. */
	readonly processing?: Processing;
	/** The origins of documents in process, by ID. */
	private readonly processingOrigins = new Map<string, Origin[]>();
	private progressShownAt = 0;

	constructor(
		readonly submission: Submission,
		readonly knowledgebaseId: string,
	) {
		const { settings } = submission;
		const routes = knowledgebaseRoutes(submission, knowledgebaseId);
		this.memoryRoutes = knowledgebaseRoutes(submission, knowledgebaseId);
		this.folders = new Folders(knowledgebaseId, async (body) => {
			const { send, storePath: path } = this.memoryRoutes;
			return await send({ method: 'POST', path, body, checkAnswer: mustListDocuments });
		});
		this.stream = new DocumentStream(submission, knowledgebaseId, {
			onDocument: () => this.processing?.pollWhenDue(),
			onNotSent: (document) => this.addNotSent(document),
		});
		const onEnd = (id: string, end: ProcessingEnd) => this.addEnd(id, end);
		if (settings.process) this.processing = new Processing(routes, { ...settings, onEnd });
	}

	/** Stores the documents: leaves out unchanged ones, uploads files, then stores and processes the rest. */
	async store(): Promise<void> {
		const { submission } = this;
		const { execution, settings, report, circuitBreaker, clock, signal } = submission;
		if (submission.canSend && settings.remembers) this.memory = await memoryOf(this).open();
		const { memory, memoryRoutes } = this;
		if (memory?.holder) return await this.yieldTo(memory.holder);
		const documents = memory ? this.changedDocuments(memory) : this.stream.documents();
		let hasFailed = false;
		const counts = await storeDocuments({
			...settings,
			documents: uploaded(documents, {
				upload: this.countingFailures(uploadRoute(submission)),
				concurrency: UPLOADS_AT_ONCE,
				onOutcome: (result) => this.addOutcome(result),
				onUnreadable: ({ origin }, caught) => report.addUnreadable(origin, caught),
				mayUpload: () => submission.canSend,
			}),
			send: submission.send,
			batchLimits: {
				...settings.batchLimits,
				firstCount: FIRST_BATCH,
				reserved: memory && ROOM_IN_BATCH,
			},
			journal: async (batch) => {
				const failure = await this.folders.createFor(batch.map(({ record }) => record));
				return failure ? { failure } : await memory?.journalBatch(contentsOf(batch));
			},
			request: (body) => ({
				method: 'POST',
				path: memoryRoutes.storePath,
				body,
				timeoutMs: settings.timeoutMs,
			}),
			onOutcome: (outcome) => {
				const result = withReadableReason(outcome);
				if ('failure' in result)
					circuitBreaker.failed('storing', failureMessage(result.failure), result.batch);
				else if (result.outcome === 'stored') circuitBreaker.passed('storing');
				hasFailed ||= 'failure' in result;
				this.addOutcome(result);
			},
			maySend: () =>
				circuitBreaker.reason === undefined && (!hasFailed || mayContinue(execution.context)),
			clock,
			signal,
		});
		report.addRequests(counts);
	}

	/** Reports uploads to the circuit breaker. */
	private countingFailures(upload: Upload<Origin>): Upload<Origin> {
		const { circuitBreaker } = this.submission;
		return async (document) => {
			this.processing?.pollWhenDue();
			// A document that must not be stored need not be uploaded.
			const failure = this.memory?.refusal;
			const result = failure ? { failure, attempts: 0 } : await upload(document);
			if ('failure' in result) {
				const { failure: refused } = result;
				// With 403, the key may have no right to upload any file.
				circuitBreaker.failed('upload', failureMessage(refused), undefined, refused.status === 403);
			} else circuitBreaker.passed('upload');
			return result;
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
		if (!mayContinue(first.context)) throw error;
		report.addRefusal(error);
		for await (const document of this.stream.documents())
			this.addNotSent(document, OTHER_RUN_ACTIVE);
	}

	/** Reports a document as not sent. */
	private addNotSent(document: ReadyDocument<Origin>, reason?: string): void {
		this.addOutcome({ document, batch: 0, attempts: 0, outcome: 'notSent', reason });
	}

	/**
	 * Reports what the next run would do with each document, as far as its file can be read; sends and notes nothing.
	 *
	 * @param memory what earlier runs stored
	 */
	async plan(memory: SourceMemory, onPlanned: Planning<Origin>['onPlanned']): Promise<void> {
		const { settings } = this.submission;
		await planDocuments(this.checkingNewSource(this.stream.withFiles(), memory), {
			memory: memory.known,
			processed: settings.process,
			statusesOf: async (ids) => await this.statusesOf(ids, memory),
			onPlanned,
		});
	}

	/**
	 * Looks up the first documents of a source without a memory: the memory may be lost, or the documents may have been
	 * stored in another way before, also under the IDs that they have without a Source Name.
	 */
	private async *checkingNewSource(
		documents: AsyncGenerator<ReadyDocument<Origin>>,
		memory: SourceMemory,
	): AsyncGenerator<ReadyDocument<Origin>> {
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

	private async statusesOf(ids: string[], { witness, troubles }: SourceMemory): Promise<Statuses> {
		const asked = await askStatuses(ids, this.memoryRoutes, witness);
		troubles.notAsked ??= asked.failure;
		return asked;
	}

	private changedDocuments(memory: SourceMemory): AsyncGenerator<ReadyDocument<Origin>> {
		const { report, settings } = this.submission;
		return changedOnly(this.checkingNewSource(this.stream.documents(), memory), {
			memory: memory.known,
			processed: settings.process,
			statusesOf: async (ids) => await this.statusesOf(ids, memory),
			onUnchanged: (document, status) => {
				report.addUnchanged(document, status);
				memory.names.add(document.id, documentName(document));
				if (processingEndOf(status).state === 'running')
					this.startProcessing(document.id, document.origin);
			},
		});
	}

	private addOutcome(result: DocumentOutcome<Origin>): void {
		const { id, isNew, content = '', origin } = result.document;
		const memory = isNew ? undefined : this.memory;
		if (result.outcome === 'stored')
			memory?.recordStored(id, content, documentName(result.document));
		else if (result.outcome === 'rejected') memory?.recordRejected(id);
		this.submission.report.addOutcome(result);
		if (result.outcome === 'stored') {
			// With incremental sync, a server keeps a document under the first ID that its source had.
			const storedId = isJsonObject(result.record) ? result.record.id : undefined;
			this.startProcessing(
				typeof storedId === 'string' ? storedId : id,
				origin.isTracked ? origin : undefined,
			);
		}
		this.processing?.pollWhenDue();
		this.showProgress();
	}

	/** Starts the processing of a stored document, or follows it if the server has already begun. */
	private startProcessing(id: string, origin: Origin | undefined): void {
		// An ID with a comma, which only a user can give, cannot be polled in a list of IDs.
		if (!this.processing || id.includes(',')) return;
		if (origin) this.processingOrigins.set(id, [...(this.processingOrigins.get(id) ?? []), origin]);
		this.processing.add(id);
	}

	/**
	 * Records for the next run which documents are done; it fetches the statuses of the others before it sends them
	 * again.
	 */
	private addEnd(id: string, end: ProcessingEnd): void {
		const { state, hasNoRoute, failure, isStuck, processMsg } = end;
		// On a server without a route for processing, documents are done when they are stored.
		if (state === 'finish' || hasNoRoute) this.memory?.known.markProcessed(id);
		else if (isStuck || (state !== 'running' && !failure)) this.memory?.known.forget(id);
		const flaw = processingFlaw(end);
		if (flaw) this.submission.circuitBreaker.failed('processing', processMsg ?? flaw);
		else if (state === 'finish') this.submission.circuitBreaker.passed('processing');
		this.submission.report.addProcessed(id, end, this.processingOrigins.get(id) ?? []);
		this.processingOrigins.delete(id);
	}

	/** In manual executions, shows the progress once a second in the browser's console. */
	private showProgress(): void {
		const { execution, clock, report } = this.submission;
		const { context } = execution;
		const now = clock.now();
		if (context.getMode() !== 'manual' || now - this.progressShownAt < PROGRESS_EVERY_MS) return;
		this.progressShownAt = now;
		context.sendMessageToUI(report.line);
	}
}
