import { createHash, hash, randomUUID } from 'crypto';

import { compact, isObject, map } from 'lodash';
import { NodeOperationError } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import type { ItemError } from '../../../execution/apiError';
import { asJson } from '../../../execution/outputs';
import { fetchStatuses, processingState } from '../../../ingest/answers';
import type { Documents, Fact, ReadyDocument, Statuses } from '../../../ingest/answers';
import { Fingerprints, MARKS, ROOM_IN_BATCH, SourceMemory } from '../../../ingest/memory';
import { compareDocuments, planDocuments } from '../../../ingest/planDocuments';
import { Processing } from '../../../ingest/processing';
import { Folders, Storer, inFolder, uploadFiles } from '../../../ingest/storing';
import { derivedId, isUuid, keyRule } from '../../../payloads/common';
import { type DocumentRecord, unsignedAddress } from '../../../payloads/document';
import { isRejection } from '../../../transport/failure';
import { UPLOAD_TIMEOUT_SECONDS } from '../../shared/fields';
import { type Origin, type Submission, asHint, outermostMode } from './report';
import { type Source, keyOwner, knowledgebaseRoutes, memoryPlaceOf } from './settings';
import { type FoundDocument, type SourceDocuments, readDocuments, refusedKeys } from './sources';

type Document = ReadyDocument<Origin>;
type Processed = Extract<Fact<Origin>, { outcome: 'processed' }>;

/** The record as JSON. To save time, reuses `json` if the record is unchanged or only got an ID. */
function jsonWithId(
	{ record: read, json = '' }: FoundDocument,
	record: DocumentRecord,
	id: string,
) {
	const isSame = record.parent === read.parent && record.folder === read.folder;
	if (!isSame || json.length <= 2) return JSON.stringify(record);
	if (read.id === undefined) return `{"id":"${id}",${json.slice(1)}`;
	return read.id === id ? json : JSON.stringify(record);
}

/**
 * The content hash of a document, after a mark (see `MARKS`). If the document has a version, only the version is
 * hashed. Otherwise, the record and the file are hashed. The signature in `fileUrl` is left out, because it differs in
 * each run.
 */
async function hashOf({ json, record, file }: Document, version?: string): Promise<string> {
	if (version !== undefined) return MARKS.version + hash('sha256', version, 'binary');
	const { fileUrl } = record;
	const given = fileUrl ? JSON.stringify({ ...record, fileUrl: unsignedAddress(fileUrl) }) : json;
	// Normalizes Unicode to NFC, so that the same name in NFD does not count as a change.
	const text = given.normalize('NFC');
	if (!file) return MARKS.content + hash('sha256', text, 'binary');
	const digest = createHash('sha256').update(text);
	const { content } = await file();
	for await (const piece of Buffer.isBuffer(content) ? [content] : content.open())
		digest.update(piece);
	return MARKS.content + digest.digest('binary');
}

/** Number of documents in the first batch. A small first batch shows early whether all documents would fail. */
const FIRST_BATCH = 10;

/** Maximum number of documents that `documentsReportingStored` looks up on the server. */
const MAX_CHECKED = 100;

/** Maximum number of documents in `Target.begun`. The limit saves memory, because `begun` keeps whole documents. */
const MAX_BEGUN = 1000;

const STORED_TWICE = 'also found without a Source Name. Document: Disable takes them out.';

const STORED_BEFORE = 'stored before this source was remembered: what is gone may be found.';

const OLDER = 'Not sent: this is a retry, and other content is stored, perhaps newer';

const OTHER_RUN_SENDS = 'Not sent: another run of this source is at work';

/**
 * The name and key of a document. The memory keeps both, so that later runs can name a document that was removed from
 * the source.
 */
const documentName = ({ record: { name }, key }: Document) => (name ? { name, key } : { key });

/**
 * Handles one source in a run. Reads its documents, compares them with what earlier runs stored, sends them to the
 * knowledgebase, and follows their processing.
 */
export class Target {
	/**
	 * IDs of the documents in this run. Only filled if the run disables or counts documents that are missing from the
	 * source.
	 */
	readonly seen = new Fingerprints();
	/**
	 * The latest document with each ID (in lower case), to report that the document was replaced or processed. To save
	 * memory, not every document is kept (see `Origin.isTracked`).
	 */
	readonly origins = new Map<string, Origin>();
	/** Items of this source that are still to be read. `documents` is set if the item was read in advance. */
	readonly queue: Array<{ item: Item; documents?: SourceDocuments }> = [];
	/**
	 * Number of documents that could not be read, or may not have been stored (see `recordGap`). If there are any, this
	 * run disables no missing documents.
	 */
	gaps = 0;
	/**
	 * A key with a missing value, such as `docs-undefined`. If set, this run disables no missing documents, because the
	 * document under its correct key may still exist.
	 */
	brokenKey?: string;
	/**
	 * The memory of this source: what earlier runs stored. Unset if the mode is Send Everything and no earlier run kept
	 * a memory.
	 */
	memory?: SourceMemory;
	/**
	 * Routes for the memory, the statuses and the folders. They share one `OutageBudget`. Storing, uploads and
	 * processing each have their own.
	 */
	readonly memoryRoutes: ReturnType<typeof knowledgebaseRoutes>;
	/** Starts and follows the processing on the server. Unset if After Storing is Nothing, and in Find Changes. */
	readonly processing?: Processing;
	/** Number of documents that were stored without a version, but have one now. */
	unversioned = 0;
	/** Number of documents that a retried execution did not send, because the stored content may be newer. */
	older = 0;
	/**
	 * Unchanged documents whose processing this run started, because an earlier run only stored them. By ID in lower
	 * case. If the processing of a document fails, `followProcessing` sends the document again.
	 */
	private readonly begun = new Map<string, Document>();
	private readonly owner: string;

	/** @param item the first item of this source, for errors about the source */
	constructor(
		readonly submission: Submission,
		readonly knowledgebaseId: string,
		private readonly source: Source,
		readonly item = submission.first,
	) {
		const { settings } = submission;
		this.memoryRoutes = this.newRoutes();
		this.owner = keyOwner(knowledgebaseId, source.sourceName);
		if (settings.process) this.processing = new Processing(this.newRoutes(), settings.waitMs);
	}

	private newRoutes() {
		const { send, settings, signal } = this.submission;
		return knowledgebaseRoutes(this.knowledgebaseId, send, settings, signal);
	}

	/**
	 * Uploads and stores the documents of this source, except unchanged ones, and starts their processing. If another
	 * run of this source is active, reports all documents as not sent.
	 */
	async store(): Promise<void> {
		const { submission } = this;
		if (!submission.canSend) return await this.send(this.documents());
		const mode = submission.settings.remembers ? 'to send' : 'if kept';
		const memory = await this.newMemory().open(mode);
		if (!memory.isKept) return await this.send(this.documents());
		this.memory = memory;
		if (memory.holder) return await this.yieldTo(memory.holder);
		await this.send(this.changedDocuments(memory));
	}

	private async send(documents: Documents<Origin>): Promise<void> {
		const { knowledgebaseId, memory, memoryRoutes, processing, submission } = this;
		const { first, settings, circuitBreaker } = submission;
		const storer = new Storer({
			...settings,
			client: this.newRoutes().client,
			path: memoryRoutes.storePath,
			memory,
			circuitBreaker,
			stopsAtFailure: !first.context.continueOnFail(),
			documents: uploadFiles({
				documents,
				client: this.newRoutes().client,
				timeoutMs: Math.max(settings.timeoutMs, UPLOAD_TIMEOUT_SECONDS * 1000),
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
		for await (const some of storer.run()) {
			for (const fact of some) this.take(fact);
			this.takeEnded();
			processing?.pollWhenDue();
		}
	}

	/**
	 * Ends the work on this source after a failure. Starts the processing of all stored documents, without waiting for
	 * its end.
	 */
	async stop(): Promise<void> {
		await this.processing?.startRemaining();
		this.takeEnded();
		for (const id of this.begun.keys()) this.endBegun(id);
	}

	/**
	 * Follows the processing of all documents until it ends or the wait is over. Documents that then remain in `begun`
	 * failed, so they are sent again and followed too.
	 */
	async followProcessing(): Promise<void> {
		for await (const some of this.processing?.end() ?? [])
			for (const fact of some) this.takeProcessed(fact);
		const documents = [...this.begun.values()];
		if (documents.length === 0) return;
		this.begun.clear();
		await this.send(documents);
		await this.followProcessing();
	}

	/**
	 * Reports what the next run would do with each document. Changes nothing on the server. If the memory cannot be
	 * read, reports an error for each item.
	 */
	async plan(): Promise<void> {
		const { settings } = this.submission;
		const memory = this.newMemory();
		this.memory = memory;
		if (settings.remembers) await memory.open('to read');
		const { holder, refusal } = memory;
		if (refusal)
			for (const { item } of this.queue.splice(0))
				this.submission.takeFlaw(item, item.apiError(refusal));
		if (holder) {
			const held = `Another run of this source is at work, or was stopped: ${holder.by}`;
			this.submission.remark(asHint(`${held}, since ${holder.since}`));
			// The other run may still be writing its memory, so missing parts are not reported as lost.
			memory.troubles.lost = undefined;
		}
		const plans = planDocuments(this.documentsReportingStored(memory), this.comparison(memory));
		for await (const { document, plan } of plans) {
			const { id, origin } = document;
			this.submission.take({ outcome: 'planned', plan, origin, id });
		}
	}

	/** Fetches processing statuses, by ID in lower case. Records the first failure in `troubles.notAsked`. */
	async statusesOf(ids: string[], { requiredId, troubles }: SourceMemory): Promise<Statuses> {
		const asked = await fetchStatuses(ids, this.memoryRoutes, requiredId);
		troubles.notAsked ??= asked.failure;
		return asked;
	}

	/** Creates the memory of this source, without reading it. */
	newMemory(): SourceMemory {
		const { first, settings, signal } = this.submission;
		const { context } = first;
		const { forgetDamage: forgetLost, process: processed } = settings;
		const place = memoryPlaceOf(this.knowledgebaseId, this.source, context);
		const { name } = context.getWorkflow();
		const by = `execution ${context.getExecutionId()}${name ? ` of "${name}"` : ''}`;
		return new SourceMemory(place, this.memoryRoutes, { signal, by, forgetLost, processed });
	}

	/**
	 * Reports all documents as not sent, because another run of this source is active. Other sources are not affected.
	 */
	private async yieldTo({ by, since }: NonNullable<SourceMemory['holder']>): Promise<void> {
		const { item, submission } = this;
		const error = item.operationError(
			`Nothing was sent: another run of this source is at work, ${by}, since ${since}`,
			`Run it again when that one has ended; one that has crashed counts as ended a minute later. Runs that bring different documents need different names in "${item.labelOf('sourceName')}".`,
		);
		submission.refuse(error);
		for await (const document of this.documents())
			submission.take({ outcome: 'notSent', document, reason: OTHER_RUN_SENDS });
	}

	private async *changedDocuments(memory: SourceMemory): AsyncGenerator<Document> {
		const isRetry = outermostMode(this.submission.first.context) === 'retry';
		const comparison = { ...this.comparison(memory), isRetry };
		const all = compareDocuments(this.documentsReportingStored(memory), comparison);
		for await (const { document, is, status } of all)
			if (is === 'unchanged') this.take({ document, outcome: is, status });
			else if (is === 'older') {
				this.older += 1;
				this.take({ document, outcome: 'notSent', reason: OLDER });
			} else yield document;
	}

	/** Makes the options of `compareDocuments` from the memory and the settings. */
	private comparison(memory: SourceMemory) {
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
	 * Yields the documents of this source, and counts `unversioned`. If the source has no memory yet, first looks up
	 * some documents on the server, and adds a hint if some are stored. For a named source, also looks up the IDs that
	 * the same keys have without a Source Name.
	 */
	private async *documentsReportingStored(memory: SourceMemory): AsyncGenerator<Document> {
		const documents = this.documents(true);
		const held: Array<Document> = [];
		while (memory.isNew && held.length < MAX_CHECKED) {
			const { done, value } = await documents.next();
			if (done) break;
			held.push(value);
		}
		if (held.length > 0) await this.checkStored(held, memory);
		yield* held;
		for await (const document of documents) {
			const isVersion = document.contentHash?.startsWith(MARKS.version);
			if (isVersion && memory.known.isOf(document.id, MARKS.content)) this.unversioned += 1;
			yield document;
		}
	}

	private async checkStored(documents: Array<Document>, memory: SourceMemory): Promise<void> {
		const ids = documents.flatMap(({ id, isNew }) => (isNew ? [] : id));
		const keys = this.source.sourceName === '' ? [] : compact(map(documents, 'key'));
		const otherIds = keys.map((key) => derivedId(this.knowledgebaseId, key));
		const { statuses } = await this.statusesOf([...ids, ...otherIds], memory);
		const stored = ids.filter((id) => statuses.has(id.toLowerCase())).length;
		this.submission.remarkOn(stored, STORED_BEFORE);
		// A disabled document has the state `none`. Assistants do not find it, so it does not count as a duplicate.
		const duplicates = otherIds.filter((id) => processingState(statuses.get(id)) !== 'none').length;
		this.submission.remarkOn(duplicates, STORED_TWICE);
	}

	/**
	 * Records a fact in the tally, the circuit breaker and the memory. Starts the processing of a document that needs
	 * it. A document in `begun` is recorded later, after its processing.
	 */
	private take(fact: Fact<Origin>): void {
		if (fact.outcome === 'processed') return this.takeProcessed(fact);
		if ('document' in fact) this.endBegun(fact.document.id);
		if (this.begins(fact)) return;
		this.submission.take(fact);
		this.recordGap(fact);
		this.submission.circuitBreaker.take(fact);
		if (!('document' in fact)) return;
		const { document } = fact;
		const { id, contentHash = '', origin, isNew } = document;
		const memory = isNew ? undefined : this.memory;
		if (fact.outcome === 'stored') {
			memory?.recordStored(id, contentHash, documentName(document));
			// Uses the ID in the answer: with incremental sync, the server may keep a document under an earlier ID.
			const { id: storedId } = asJson(fact.record);
			const isFollowed = origin.isTracked || origin.isUploaded;
			// Assistants must not find a disabled document, so it needs no processing. The memory counts it as
			// processed.
			if (document.record.disabled) memory?.known.markProcessed(id);
			else this.startProcessing(String(storedId), isFollowed ? origin : undefined);
		} else if (fact.outcome === 'unchanged') {
			memory?.names.add(id, documentName(document));
			const state = processingState(fact.status);
			if (fact.status && (state === 'running' || state === 'none'))
				this.startProcessing(id, origin);
		} else if (fact.outcome !== 'unknown' && 'failure' in fact) memory?.recordRejected(id);
	}

	/** Removes a document from `begun`, if present, and reports it as unchanged. */
	private endBegun(id: string): void {
		const document = this.begun.get(id.toLowerCase());
		this.begun.delete(id.toLowerCase());
		if (document) this.take({ document, outcome: 'unchanged' });
	}

	/**
	 * Starts the processing of an unchanged document that an earlier run only stored, and adds it to `begun`. Does
	 * nothing if the run does not wait for processing, or `begun` is full.
	 *
	 * @returns whether the processing was started
	 */
	private begins(fact: Fact<Origin>): boolean {
		const { waitMs } = this.submission.settings;
		const isStored = fact.outcome === 'unchanged' && fact.status;
		if (!isStored || processingState(fact.status) !== 'none') return false;
		if (waitMs === undefined || this.begun.size >= MAX_BEGUN) return false;
		const { id, origin } = fact.document;
		this.begun.set(id.toLowerCase(), fact.document);
		this.startProcessing(id, origin);
		return true;
	}

	/** Starts and follows the processing of a stored document. Does nothing if this run processes no documents. */
	private startProcessing(id: string, origin: Origin | undefined): void {
		if (!this.processing) return;
		// Removes the origin of an earlier document with the same ID, because this document replaces the earlier one.
		if (!origin) this.origins.delete(id.toLowerCase());
		else if (!origin.isReplaced) this.origins.set(id.toLowerCase(), origin);
		this.processing.add(id);
	}

	private takeEnded(): void {
		for (const fact of this.processing?.ended() ?? []) this.takeProcessed(fact);
	}

	/**
	 * Records the last processing state of a document. If processing failed or is stuck, the memory forgets the
	 * content, so that the next run sends the document again. A failed document in `begun` is not reported, because
	 * `followProcessing` sends it again.
	 */
	private takeProcessed(fact: Processed): void {
		const { id, end } = fact;
		const key = id.toLowerCase();
		const origin = this.origins.get(key);
		const isFailed = end.state !== 'finish' && end.state !== 'running' && !end.failure;
		if (isFailed && this.begun.has(key)) return this.memory?.known.forget(id);
		this.endBegun(id);
		this.submission.take({ ...fact, origin });
		this.submission.circuitBreaker.take(fact);
		// No other document can have the ID of an untracked file, so its origin is no longer needed.
		if (origin?.isUploaded && !origin.isTracked) this.origins.delete(key);
		// A server without a route for processing processes documents by itself when it stores them.
		if (end.state === 'finish' || end.hasNoRoute) this.memory?.known.markProcessed(id);
		else if (end.isStuck || isFailed) this.memory?.known.forget(id);
	}

	/**
	 * Reads the queued items on demand, and yields their documents. After sending has stopped, yields nothing, and
	 * reports the remaining documents as not sent. Stops reading when the execution is stopped.
	 *
	 * @param isHashed whether to set `contentHash`, for the comparison with earlier runs
	 */
	async *documents(isHashed = false): AsyncGenerator<Document> {
		const { submission } = this;
		this.queue.reverse();
		while (!submission.signal?.aborted) {
			const queued = this.queue.pop();
			if (!queued) return;
			const { item } = queued;
			let count = 0;
			try {
				const documents = queued.documents ?? submission.read(item);
				for await (const found of documents) {
					count += 1;
					const document = await this.ready(found, item, isHashed);
					if (document) yield document;
					if (submission.stoppedBy && !Array.isArray(documents)) break;
				}
				if (count === 0 && !Array.isArray(documents)) submission.take({ outcome: 'noRecords' });
			} catch (caught) {
				// Does not throw: the documents that were read before the error must still be sent.
				this.takeRefused(item, caught);
			}
		}
	}

	/**
	 * Prepares a document for sending. If the document cannot be read, or sending has stopped, records the outcome and
	 * returns `undefined`.
	 */
	private async ready(
		found: FoundDocument | ItemError,
		item: Item,
		isHashed: boolean,
	): Promise<Document | undefined> {
		if (found instanceof Error) return this.takeRefused(item, found);
		const { submission } = this;
		const origin: Origin = { item };
		submission.take({ outcome: 'begun', origin });
		const document = this.asDocument(found, origin);
		if (!submission.canSend) return void this.take({ outcome: 'notSent', document });
		this.recordSeen(document);
		try {
			if (isHashed) document.contentHash = await hashOf(document, found.version);
			return document;
		} catch (error) {
			return void this.take({ outcome: 'unreadable', document, error });
		}
	}

	/**
	 * Counts a failed document in `gaps`. Exceptions are an invalid file, and a rejection for which the server gave a
	 * reason. A rejected document without a stable ID (`isNew`) always counts.
	 */
	private recordGap(fact: Fact<Origin>): void {
		const isGap =
			fact.outcome === 'unknown' ||
			fact.outcome === 'notSent' ||
			(fact.outcome === 'unreadable' && !(fact.error instanceof NodeOperationError)) ||
			(fact.outcome === 'rejected' &&
				(fact.document.isNew || !isRejection(fact.failure) || fact.failure.reason === undefined));
		if (isGap) this.gaps += 1;
	}

	/**
	 * Records a document that could not be read. With a known key, the document counts as present in the source.
	 * Otherwise, it counts as a gap.
	 */
	private takeRefused(item: Item, caught: unknown): undefined {
		const key = isObject(caught) ? refusedKeys.get(caught) : undefined;
		if (key === undefined) this.gaps += 1;
		else this.recordKey(key, derivedId(this.owner, key));
		this.submission.takeFlaw(item, caught);
	}

	/**
	 * Gives a found document its ID, and fills `origin`. The ID is derived from the key. Without a key, the document
	 * keeps its own ID. Without either, the ID is random, so that a repeated request does not store the document twice.
	 */
	private asDocument(found: FoundDocument, origin: Origin): Document {
		const { key, file, hadNul } = found;
		const ownId = key === undefined ? found.record.id : derivedId(this.owner, key);
		const id = ownId || randomUUID();
		const record = inFolder({ ...found.record, id }, this.knowledgebaseId);
		const isUploaded = file !== undefined;
		const isNew = key === undefined && !isUuid(ownId ?? '');
		// With Output = Summary, only files with a stable ID are tracked, to save memory.
		const isTracked = this.submission.settings.output !== 'summary' || (isUploaded && !isNew);
		const name = record.name ?? undefined;
		Object.assign(origin, { name, key, id, hadNul, isUploaded, isTracked });
		const json = jsonWithId(found, record, id);
		return { record, json, bytes: Buffer.byteLength(json), origin, id, isNew, key, file };
	}

	/** Records the ID of a document. Skips IDs that later runs cannot recognize (`isNew`). */
	private recordSeen({ id, isNew, key, origin }: Document): void {
		if (isNew) return;
		const earlier = origin.isTracked && this.origins.get(id.toLowerCase());
		if (earlier) this.submission.take({ outcome: 'replaced', origin: earlier });
		if (origin.isTracked) this.origins.set(id.toLowerCase(), origin);
		this.recordKey(key, id);
	}

	/** Records that a document is present in the source. */
	private recordKey(key: string | undefined, id: string): void {
		if (!this.submission.settings.mirrors && this.submission.read === readDocuments) return;
		if (key !== undefined && keyRule(key, true)) this.brokenKey = key;
		this.seen.markUnknown(id);
	}
}
