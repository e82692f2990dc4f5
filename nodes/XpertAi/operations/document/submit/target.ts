import size from 'lodash/size';
import sumBy from 'lodash/sumBy';

import { asJson } from '../../../execution/outputs';
import type { Documents } from '../../../ingest/batches';
import type { ReadyDocument, Fact, ProcessedFact } from '../../../ingest/readyDocument';
import { Folders } from '../../../ingest/folders';
import { MARKS, ROOM_IN_BATCH, SourceMemory } from '../../../ingest/memory';
import type { DocumentName, Holder } from '../../../ingest/memory';
import { filterChanged, planDocuments } from '../../../ingest/planDocuments';
import { Processing } from '../../../ingest/processing';
import { fetchStatuses, processingState, type Statuses } from '../../../ingest/processingStatus';
import { storeDocuments } from '../../../ingest/storing';
import { uploadFiles } from '../../../ingest/uploads';
import { derivedId } from '../../../payloads/derivedId';
import { OutageBudget } from '../../../transport/call';
import { systemClock } from '../../../transport/clock';
import { UPLOAD_TIMEOUT_SECONDS } from '../../shared/fields';
import { DocumentStream } from './documentStream';
import { knowledgebaseRoutes, memoryPlaceOf } from './knowledgebase';
import { knowledgebaseError, type Origin } from './outcomes';
import type { Source } from './settings';
import { outermostMode, type Submission } from './submission';
import { asHint } from './wording';

/** A small first batch is processed soon, and reveals errors that affect all documents. */
const FIRST_BATCH = 10;

/** Limits of the first documents that are looked up on the server, if a source has no memory. */
const MAX_CHECKED = 100;
const MAX_CHECKED_BYTES = 8 * 1024 * 1024;

/** Documents that are kept until it is known whether the server can process them as they are. */
const MAX_BEGUN = 1000;

const STORED_TWICE =
	'also stored without a Source Name, and found twice. Document: Disable takes them out.';

const STORED_BEFORE =
	'stored before this source was remembered: what is gone since may still be found.';

const OLDER =
	'Not sent: this is a retry of an earlier execution, and other content of this document is stored, perhaps newer';

const OTHER_RUN_SENDS = 'Not sent: another run of this source is at work';

const OTHER_RUN_ACTIVE = 'Another run of this source is at work, or was stopped';

/** The name and key of a document, for runs that no longer contain it. */
const documentName = ({ record: { name }, key }: ReadyDocument<Origin>): DocumentName =>
	name ? { name, key } : { key };

/** One source in a run, with the knowledgebase that it fills: its documents, its memory, and its processing. */
export class Target {
	/** The documents of the items of this source. */
	readonly stream: DocumentStream;
	/** What earlier runs stored, once it is open; `undefined` if nothing is remembered. */
	memory?: SourceMemory;
	/** The routes for the memory. They have an outage budget of their own. */
	readonly memoryRoutes: ReturnType<typeof knowledgebaseRoutes>;
	/** Processes the stored documents; `undefined` with After Storing = Nothing. */
	readonly processing?: Processing;
	/** Documents that come with a version and were stored without one. */
	unversioned = 0;
	/** Documents of a retried execution that are stored with other content. */
	older = 0;
	/** Documents of earlier runs whose processing this run has begun without sending them, until its end is known. */
	private readonly begun = new Map<string, ReadyDocument<Origin>>();
	/** Of those, the ones that the server could not process: they are sent whole. */
	private readonly toSendWhole = new Map<string, ReadyDocument<Origin>>();

	/** @param item the first item of this source, which its errors name */
	constructor(
		readonly submission: Submission,
		readonly knowledgebaseId: string,
		private readonly source: Source,
		readonly item = submission.first,
	) {
		const { send, settings, signal } = submission;
		const newRoutes = () => knowledgebaseRoutes(knowledgebaseId, send, settings, signal);
		this.memoryRoutes = newRoutes();
		this.stream = new DocumentStream(submission, knowledgebaseId, source.sourceName);
		if (settings.process) this.processing = new Processing(newRoutes(), settings.waitMs);
	}

	/** Stores the documents: leaves out unchanged ones, uploads files, then stores and processes the rest. */
	async store(): Promise<void> {
		const { submission } = this;
		const opened = submission.canSend ? this.newMemory() : undefined;
		await opened?.open(submission.settings.remembers ? 'to send' : 'if kept');
		const memory = opened?.isKept ? opened : undefined;
		this.memory = memory;
		this.stream.isHashed = memory !== undefined && !memory.holder;
		if (memory?.holder) return await this.yieldTo(memory.holder);
		await this.send(memory ? this.changedDocuments(memory) : this.stream.documents());
	}

	private async send(documents: Documents<Origin>): Promise<void> {
		const { knowledgebaseId, memory, memoryRoutes, processing, submission } = this;
		const { first, settings, circuitBreaker, send, signal } = submission;
		const { retryLimits, timeoutMs } = settings;
		const client = { send, clock: systemClock, signal };
		const facts = storeDocuments({
			...settings,
			client,
			path: memoryRoutes.storePath,
			memory,
			circuitBreaker,
			stopsAtFailure: !first.context.continueOnFail(),
			documents: uploadFiles({
				documents,
				client: { ...client, outageBudget: new OutageBudget(retryLimits) },
				timeoutMs: Math.max(timeoutMs, UPLOAD_TIMEOUT_SECONDS * 1000),
				gate: submission,
				memory,
			}),
			batchLimits: {
				...settings.batchLimits,
				firstCount: FIRST_BATCH,
				reserved: memory && ROOM_IN_BATCH,
			},
			folders: new Folders(knowledgebaseId, memoryRoutes),
		});
		for await (const some of facts) {
			for (const fact of some) this.take(fact);
			this.takeEnded();
			processing?.pollWhenDue();
		}
	}

	/** Starts the remaining documents after a failure; the next run fetches their statuses. */
	async stop(): Promise<void> {
		await this.processing?.startRemaining();
		this.takeEnded();
	}

	/** Documents that were read and have no outcome yet. */
	get waiting(): number {
		const unread = sumBy(this.stream.queue, ({ documents }) => size(documents));
		return unread + this.begun.size + this.toSendWhole.size;
	}

	/** Starts the remaining documents, and follows the processing of all to its end. */
	async followProcessing(): Promise<void> {
		for await (const some of this.processing?.end() ?? [])
			for (const fact of some) this.takeProcessed(fact);
		if (this.toSendWhole.size === 0) return;
		const documents = [...this.toSendWhole.values()];
		this.toSendWhole.clear();
		await this.send(documents);
		await this.followProcessing();
	}

	/**
	 * Reports what the next run would do with each document; sends and notes nothing.
	 *
	 * @throws NodeApiError if the memory cannot be read: the next run would send nothing
	 */
	async plan(): Promise<void> {
		const { settings } = this.submission;
		const memory = this.newMemory();
		this.memory = memory;
		this.stream.isHashed = true;
		if (settings.remembers) await memory.open('to read');
		if (memory.refusal) throw knowledgebaseError(this.item, memory.refusal);
		if (memory.holder) {
			const { by, since } = memory.holder;
			this.submission.remark(asHint(`${OTHER_RUN_ACTIVE}: ${by}, since ${since}`));
			// What it has begun is not known yet, and no damage.
			memory.troubles.lost = undefined;
		}
		await planDocuments(this.countingUnversioned(memory), {
			...this.detection(memory),
			onPlanned: ({ id, origin }, plan) =>
				this.submission.take({ outcome: 'planned', plan, origin, id }),
		});
	}

	/** The statuses of documents, by ID in lower case. */
	async statusesOf(ids: string[], { requiredId, troubles }: SourceMemory): Promise<Statuses> {
		const asked = await fetchStatuses(ids, this.memoryRoutes, requiredId);
		troubles.notAsked ??= asked.failure;
		return asked;
	}

	/** The memory of the source, not yet read. */
	newMemory(): SourceMemory {
		const { first, settings, signal } = this.submission;
		const { context } = first;
		const { forgetDamage: forgetLost, process } = settings;
		const place = memoryPlaceOf(this.knowledgebaseId, this.source, context);
		const { name } = context.getWorkflow();
		const by = `execution ${context.getExecutionId()}${name ? ` of "${name}"` : ''}`;
		return new SourceMemory(place, this.memoryRoutes, {
			signal,
			by,
			forgetLost,
			processed: process,
		});
	}

	/** Sends nothing, because another run of the source holds the lease. Other sources go on. */
	private async yieldTo({ by, since }: Holder): Promise<void> {
		const { item, submission } = this;
		const error = item.operationError(
			`Nothing was sent: another run of this source is at work, ${by}, since ${since}`,
			`Run it again when that one has ended; one that has crashed counts as ended a minute later. Runs that bring different documents need different names in "${item.labelOf('sourceName')}".`,
		);
		submission.refuse(error);
		for await (const document of this.stream.documents())
			submission.take({ outcome: 'notSent', document, reason: OTHER_RUN_SENDS });
	}

	private changedDocuments(memory: SourceMemory): AsyncGenerator<ReadyDocument<Origin>> {
		return filterChanged(this.checkingNewSource(memory), {
			...this.detection(memory),
			onUnchanged: (document, status) => this.take({ document, outcome: 'unchanged', status }),
			isRetry: outermostMode(this.submission.first.context) === 'retry',
			onOlder: (document) => {
				this.older += 1;
				this.take({ document, outcome: 'notSent', reason: OLDER });
			},
		});
	}

	/** How unchanged documents are told from changed ones. */
	private detection(memory: SourceMemory) {
		const { process, remembers, resendAll } = this.submission.settings;
		return {
			memory: memory.known,
			processed: process ?? !memory.onlyStored,
			onlyStored: memory.onlyStored,
			resends: resendAll || !remembers,
			statusesOf: async (ids: string[]) => await this.statusesOf(ids, memory),
		};
	}

	/**
	 * The documents of the source. Looks up the first ones of a source without a memory: they may have been stored before
	 * anything was remembered, or by another node, also under the IDs that they have without a Source Name.
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

	private async *countingUnversioned(memory: SourceMemory) {
		for await (const document of this.checkingNewSource(memory)) {
			const isVersion = document.contentHash?.startsWith(MARKS.version);
			if (isVersion && memory.known.isOf(document.id, MARKS.content)) this.unversioned += 1;
			yield document;
		}
	}

	private async checkStored(
		documents: Array<ReadyDocument<Origin>>,
		memory: SourceMemory,
	): Promise<void> {
		const ids = documents.flatMap(({ id, isNew }) => (isNew ? [] : id));
		const otherIds = documents.flatMap(({ key }) =>
			key === undefined || this.source.sourceName === ''
				? []
				: derivedId(this.knowledgebaseId, key),
		);
		const { statuses } = await this.statusesOf([...ids, ...otherIds], memory);
		const stored = ids.filter((id) => statuses.has(id.toLowerCase())).length;
		this.submission.remarkOn(stored, STORED_BEFORE);
		// A disabled document has no status.
		const duplicates = otherIds.filter((id) => processingState(statuses.get(id)) !== 'none').length;
		this.submission.remarkOn(duplicates, STORED_TWICE);
	}

	/** Records what happened, in the tally, the circuit breaker and the memory; then processes what is stored. */
	private take(fact: Fact<Origin>): void {
		if (fact.outcome === 'processed') return this.takeProcessed(fact);
		if ('document' in fact) this.replaceBegun(fact.document);
		if (this.begins(fact)) return;
		const { circuitBreaker } = this.submission;
		this.submission.take(fact);
		this.stream.recordGap(fact);
		circuitBreaker.take(fact);
		if (!('document' in fact)) return;
		const { document } = fact;
		const { id, contentHash = '', origin, isNew } = document;
		const memory = isNew ? undefined : this.memory;
		if (fact.outcome === 'stored') {
			memory?.recordStored(id, contentHash, documentName(document));
			// With incremental sync, a server keeps a document under the first ID that its source had.
			const { id: storedId } = asJson(fact.record);
			const isFollowed = origin.isTracked || origin.isUploaded;
			// Nobody is to find it, so it is done.
			if (document.record.disabled) memory?.known.markProcessed(id);
			else this.startProcessing(String(storedId), isFollowed ? origin : undefined);
		} else if (fact.outcome === 'unchanged') {
			memory?.names.add(id, documentName(document));
			const state = processingState(fact.status);
			if (fact.status && (state === 'running' || state === 'none'))
				this.startProcessing(id, origin);
		} else if (fact.outcome !== 'unknown' && 'failure' in fact) memory?.recordRejected(id);
	}

	/** A later document with the same ID takes the place of one whose processing was begun. */
	private replaceBegun({ id }: ReadyDocument<Origin>): void {
		const key = id.toLowerCase();
		const earlier = this.begun.get(key) ?? this.toSendWhole.get(key);
		if (!earlier) return;
		this.begun.delete(key);
		this.toSendWhole.delete(key);
		this.submission.take({ document: earlier, outcome: 'unchanged' });
	}

	/** Whether a document is only stored. If its end is waited for, its outcome comes with that. */
	private begins(fact: Fact<Origin>): boolean {
		if (fact.outcome !== 'unchanged' || !fact.status) return false;
		const { id, origin } = fact.document;
		const { waitMs } = this.submission.settings;
		if (processingState(fact.status) !== 'none' || waitMs === undefined) return false;
		if (this.begun.size >= MAX_BEGUN) return false;
		this.begun.set(id.toLowerCase(), fact.document);
		this.startProcessing(id, origin);
		return true;
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

	private takeEnded(): void {
		for (const fact of this.processing?.ended() ?? []) this.takeProcessed(fact);
	}

	/**
	 * Records how the processing of a document ended. The next run fetches the statuses of documents that are not done
	 * before it sends them again.
	 */
	private takeProcessed(fact: ProcessedFact): void {
		const { circuitBreaker } = this.submission;
		const { id, end } = fact;
		const { seen } = this.stream;
		const key = id.toLowerCase();
		const origin = seen.get(key);
		const isFailed = end.state !== 'finish' && end.state !== 'running' && !end.failure;
		const document = this.begun.get(key);
		this.begun.delete(key);
		if (document && isFailed) {
			this.toSendWhole.set(key, document);
			return this.memory?.known.forget(id);
		}
		if (document) this.take({ document, outcome: 'unchanged' });
		this.submission.take({ ...fact, origin });
		circuitBreaker.take(fact);
		// Its ID cannot come again.
		if (origin?.isUploaded && !origin.isTracked) seen.delete(key);
		// On a server without a route for processing, documents are done when they are stored.
		if (end.state === 'finish' || end.hasNoRoute) this.memory?.known.markProcessed(id);
		else if (end.isStuck || isFailed) this.memory?.known.forget(id);
	}
}
