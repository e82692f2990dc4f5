import { createHash, hash, randomUUID } from 'crypto';
import { compact, isObject, map, pick, sumBy } from 'lodash';
import { NodeOperationError } from 'n8n-workflow';

import type { ItemError } from '../../../execution/apiError';
import type { Item } from '../../../execution/item';
import { asJson, outermostMode } from '../../../execution/outputs';
import type { Documents, Fact, ReadyDocument } from '../../../ingest/facts';
import { Folders, inFolder } from '../../../ingest/folders';
import { MARKS, ROOM_IN_BATCH, SourceMemory } from '../../../ingest/memory';
import { compareDocuments, planDocuments } from '../../../ingest/planDocuments';
import { Processing } from '../../../ingest/processing';
import { SeenDocuments } from '../../../ingest/seenDocuments';
import { fetchStatuses, processingState, type Statuses } from '../../../ingest/statuses';
import { Storer } from '../../../ingest/storing';
import { uploadFiles } from '../../../ingest/uploads';
import { derivedId, isUuid } from '../../../payloads/common';
import { type DocumentRecord, unsignedAddress } from '../../../payloads/document';
import { isRejection } from '../../../transport/failure';
import { UPLOAD_SECONDS } from '../../shared/fields';
import { documentsError } from './documentErrors';
import { type DocumentReport, OUTCOME_NAMES } from './outcomes';
import { keyOwner, knowledgebaseRoutes, memoryPlaceOf, type Source } from './settings';
import { type FoundDocument, refusedKeys, type SourceDocuments } from './sources/found';
import type { Submission } from './submission';
import { asHint } from './wording';

type Document = ReadyDocument<DocumentReport>;
type Processed = Extract<Fact<DocumentReport>, { outcome: 'processed' }>;

/** The record as JSON. Reuses the JSON of the found document if possible, to save time. */
function jsonWithId(found: FoundDocument, record: DocumentRecord, id: string) {
	const { record: read, json = '' } = found;
	const isSame = record.parent === read.parent && record.folder === read.folder;
	if (!isSame || json.length <= 2) return JSON.stringify(record);
	if (read.id === undefined) return `{"id":"${id}",${json.slice(1)}`;
	return read.id === id ? json : JSON.stringify(record);
}

/** The IDs of pages or chunks. */
const idsOf = (parts: DocumentRecord['pages']) => parts?.map(({ id }) => ({ id }));

/** The hash of a version or of a record, with a prefix from `MARKS`. */
function hashOf({ bytes, json, record: { fileUrl } }: Document, version?: string): string {
	if (version !== undefined) return MARKS.version + hash('sha256', version, 'binary');
	// Leaves out the signature of a URL, because the signature differs in each run.
	const unsigned = () => JSON.stringify(unsignedAddress(fileUrl ?? ''));
	const given = fileUrl ? json.replace(JSON.stringify(fileUrl), unsigned) : json;
	// Normalizes the text, so that a file name has the same hash in NFC and in NFD. ASCII text needs no normalization.
	const text = bytes === json.length ? given : given.normalize('NFC');
	return MARKS.content + hash('sha256', text, 'binary');
}

/** Number of documents in the first batch. A small batch is processed soon, and shows early if all documents fail. */
const FIRST_BATCH = 10;

/** Maximum number of documents that are passed on together. */
const MAX_GROUPED = 10;

/** Maximum number of documents, and about how many bytes of JSON, to look up on the server for a new source. */
const MAX_CHECKED = 100;
const MAX_CHECKED_BYTES = 8 * 1024 * 1024;

/** What became of a document. `listed`: nothing yet. `refused`: it could not be read, so that it replaces nothing. */
const SEEN = ['listed', 'refused', ...OUTCOME_NAMES] as const;

/** Maximum number of documents in `SourceRun.startedNow`, to save memory. */
const MAX_STARTED_NOW = 1000;

const STORED_TWICE = 'also found without a Source Name. Document: Disable takes them out.';

const STORED_BEFORE = 'stored before this source was remembered: what is gone may be found.';

const OLDER = 'Not sent: this is a retry, and other content is stored, perhaps newer';

const OTHER_RUN_SENDS = 'Not sent: another run of this source is at work';

/** The name and key of a document, as the memory stores them. */
const documentName = ({ record: { name }, key }: Document) => (name ? { name, key } : { key });

/**
 * Handles one source in a run. Reads its documents, compares them with what earlier runs stored, sends them to the
 * knowledgebase, and follows their processing.
 */
export class SourceRun {
	/**
	 * The documents that the source contains in this run, with what became of each that is not in `reports` any more.
	 * Used to find missing documents, and documents that come again.
	 */
	readonly seen = new SeenDocuments(SEEN);
	/**
	 * The latest document with each ID (in lower case), to the end of the run. To save memory, an untracked document
	 * (see `DocumentReport.isTracked`) is removed once the run is done with it.
	 */
	readonly reports = new Map<string, DocumentReport>();
	/** Items of this source that the run has not handled yet. `documents` is set if the item was read in advance. */
	readonly queue: Array<{ item: Item; documents?: SourceDocuments }> = [];
	/**
	 * Number of failed documents that leave unclear what the source contains, or what is stored (see `recordGap`). If
	 * above 0, this run does not disable documents.
	 */
	gaps = 0;
	/** What earlier runs of this source stored. Unset if this run uses no memory. */
	memory?: SourceMemory;
	/** Routes for the memory, the statuses and the folders. They share one `OutageBudget`. */
	readonly memoryRoutes: ReturnType<typeof knowledgebaseRoutes>;
	/** Starts and follows the processing on the server. Unset if this run starts no processing. */
	readonly processing?: Processing;
	/** Number of documents without a version, although the user filled in its field. */
	versionless = 0;
	/** Number of documents that have a version, but were stored without it. */
	unversioned = 0;
	/** Number of documents that a retry skipped, because their stored content may be newer. */
	older = 0;
	/**
	 * Documents that an earlier run stored without processing. This run has started the processing. If the processing
	 * fails, `followProcessing` sends the document again. The keys are IDs in lower case.
	 */
	private readonly startedNow = new Map<string, Document>();
	private readonly owner: string;

	/** @param item the first item of this source, for errors about the source */
	constructor(
		readonly submission: Submission,
		readonly knowledgebaseId: string,
		readonly source: Source,
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

	/** Uploads and stores the documents of this source, and starts their processing. */
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

	private async send(documents: Documents<DocumentReport>): Promise<void> {
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
				timeoutMs: Math.max(settings.timeoutMs, UPLOAD_SECONDS * 1000),
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
			for (const fact of some) this.handleFact(fact);
			this.handleEnded();
			processing?.pollWhenDue();
		}
	}

	/** Ends the work on this source after a failure. Starts the processing of the remaining stored documents. */
	async stop(): Promise<void> {
		await this.processing?.startRemaining();
		this.handleEnded();
		for (const id of this.startedNow.keys()) this.endStartedNow(id);
	}

	/** Follows the processing of all documents, until it ends or the maximum wait is over. */
	async followProcessing(): Promise<void> {
		for await (const some of this.processing?.end() ?? [])
			for (const fact of some) this.handleProcessed(fact);
		// Only documents whose processing failed are still in `startedNow`. Sends these documents again.
		const documents = [...this.startedNow.values()];
		if (documents.length === 0) return;
		this.startedNow.clear();
		await this.send([documents]);
		await this.followProcessing();
	}

	/** Reports what the next run would do with each document. Changes nothing on the server. */
	async plan(): Promise<void> {
		const { settings } = this.submission;
		const memory = this.newMemory();
		this.memory = memory;
		if (settings.remembers) await memory.open('to read');
		const { holder, sendFailure: failure } = memory;
		if (failure)
			for (const { item } of this.queue.splice(0))
				this.submission.addFailedItem(item, documentsError(item, failure));
		if (holder) {
			const held = `Another run of this source is at work, or was stopped: ${holder.by}`;
			this.submission.addHint(asHint(`${held}, since ${holder.since}`));
			// The other run may still be writing the parts of the memory that seem lost.
			memory.failures.lost = undefined;
		}
		const plans = planDocuments(this.hashedDocuments(memory), this.comparison(memory));
		for await (const { document, plan } of plans) {
			const { id, report } = document;
			this.submission.add({ outcome: 'planned', plan, report, id });
			this.release(id, report);
		}
	}

	/** Fetches the processing statuses of documents. Records the first failure in `failures`. */
	async statusesOf(ids: string[], { requiredId, failures }: SourceMemory): Promise<Statuses> {
		const asked = await fetchStatuses(ids, this.memoryRoutes, requiredId);
		failures.notAsked ??= asked.failure;
		return asked;
	}

	/** Creates the memory object of this source. Sends no request. */
	newMemory(): SourceMemory {
		const { first, settings, signal } = this.submission;
		const { context } = first;
		const { forgetDamage: forgetLost, process: processed } = settings;
		const place = memoryPlaceOf(this.knowledgebaseId, this.source, context);
		const { name } = context.getWorkflow();
		const by = `execution ${context.getExecutionId()}${name ? ` of "${name}"` : ''}`;
		return new SourceMemory(place, this.memoryRoutes, { signal, by, forgetLost, processed });
	}

	/** Reports all documents as not sent, because another run of this source is active. */
	private async yieldTo({ by, since }: NonNullable<SourceMemory['holder']>): Promise<void> {
		const { item, submission } = this;
		const error = item.operationError(
			`Nothing was sent: another run of this source is at work, ${by}, since ${since}`,
			`Run it again when that one has ended, or a minute after it crashed. Runs that bring other documents need another name in "${item.labelOf('sourceName')}".`,
		);
		submission.addSourceError(error);
		for await (const group of this.documents())
			for (const document of group)
				submission.add({ outcome: 'notSent', document, reason: OTHER_RUN_SENDS });
	}

	private async *changedDocuments(memory: SourceMemory): AsyncGenerator<Document[]> {
		const isRetry = outermostMode(this.submission.first.context) === 'retry';
		const comparison = { ...this.comparison(memory), isRetry };
		const all = compareDocuments(this.hashedDocuments(memory), comparison);
		for await (const group of all) {
			const changed: Document[] = [];
			for (const { document, standing, status } of group)
				if (standing === 'unchanged') this.handleFact({ document, outcome: standing, status });
				else if (standing === 'older') {
					this.older += 1;
					this.handleFact({ document, outcome: 'notSent', reason: OLDER });
				} else changed.push(document);
			yield changed;
		}
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
	 * Yields the documents of this source with their hashes. For a new source, looks for documents that the server
	 * already has. Adds hints about these documents, until a run has ended that has told the user.
	 */
	private async *hashedDocuments(memory: SourceMemory): AsyncGenerator<Document[]> {
		const documents = this.documents(true);
		const held: Document[] = [];
		const isUnversioned = ({ contentHash = '', id }: Document) =>
			contentHash.startsWith(MARKS.version) && memory.known.isOf(id, MARKS.content);
		// The documents are held in memory until the server has answered.
		let bytes = 0;
		while (memory.isNew && held.length < MAX_CHECKED && bytes < MAX_CHECKED_BYTES) {
			const { done, value } = await documents.next();
			if (done) break;
			held.push(...value);
			bytes += sumBy(value, 'bytes');
		}
		if (held.length > 0) await this.checkStored(held.slice(0, MAX_CHECKED), memory);
		const { stored = 0, twice = 0 } = memory.unsaid ?? {};
		this.submission.addCountedHint(stored, STORED_BEFORE);
		// If a linked node has another source, these documents may be the only copies.
		if (!this.submission.settings.otherSource) this.submission.addCountedHint(twice, STORED_TWICE);
		yield held;
		for await (const group of documents) {
			this.unversioned += group.filter(isUnversioned).length;
			yield group;
		}
	}

	private async checkStored(documents: Document[], memory: SourceMemory): Promise<void> {
		const ids = documents.flatMap(({ id, isNew }) => (isNew ? [] : id));
		const keys = this.source.sourceName === '' ? [] : compact(map(documents, 'key'));
		// The IDs that these documents have if they were stored without a Source Name.
		const otherIds = keys.map((key) => derivedId(this.knowledgebaseId, key));
		const { statuses } = await this.statusesOf([...ids, ...otherIds], memory);
		const stored = ids.filter((id) => statuses.has(id.toLowerCase())).length;
		// Documents in the state `none` are not counted, because assistants do not find them.
		const twice = otherIds.filter((id) => processingState(statuses.get(id)) !== 'none').length;
		if (stored + twice > 0) memory.recordUnsaid({ stored, twice });
	}

	/** Records the outcome of a document or a request. Starts the processing of a document that needs it. */
	private handleFact(fact: Fact<DocumentReport>): void {
		if (fact.outcome === 'processed') return this.handleProcessed(fact);
		if ('document' in fact) this.endStartedNow(fact.document.id);
		// A document in `startedNow` is recorded when its processing ends.
		if (this.startsNow(fact)) return;
		this.submission.add(fact);
		this.recordGap(fact);
		this.submission.circuitBreaker.count(fact);
		if (!('document' in fact)) return;
		const { document } = fact;
		this.release(document.id, document.report);
		const { id, contentHash = '', report, isNew } = document;
		const memory = isNew ? undefined : this.memory;
		if (fact.outcome === 'stored') {
			memory?.recordStored(id, contentHash, documentName(document));
			// Uses the ID in the answer, because the server may keep an earlier ID of the document.
			const { id: storedId } = asJson(fact.record);
			const isFollowed = report.isTracked || report.isUploaded;
			// A disabled document needs no processing, because assistants must not find it.
			if (document.record.disabled) memory?.known.markProcessed(id);
			else this.startProcessing(String(storedId), isFollowed ? report : undefined);
		} else if (fact.outcome === 'unchanged') {
			memory?.names.add(id, documentName(document));
			const state = processingState(fact.status);
			if (fact.status && ['running', 'none'].includes(state)) this.startProcessing(id, report);
		} else if (fact.outcome !== 'unknown' && 'failure' in fact) memory?.recordRejected(id);
	}

	/**
	 * Removes an untracked document from `reports`. `seen` keeps what became of it. Does nothing if a later document has
	 * taken its place.
	 */
	private release(id: string, report: DocumentReport): void {
		if (report.isTracked || report.isReplaced) return;
		this.reports.delete(id.toLowerCase());
		if (this.seen.has(id)) this.seen.set(id, report.outcome ?? 'listed');
	}

	/** Makes the report of a document from what `seen` keeps of it. */
	private releasedReport(id: string): DocumentReport | undefined {
		const became = this.seen.get(id);
		if (became === undefined || became === 'refused') return undefined;
		return { item: this.item, id, outcome: became === 'listed' ? undefined : became };
	}

	/** Removes a document from `startedNow`, if present, and reports it as unchanged. */
	private endStartedNow(id: string): void {
		const document = this.startedNow.get(id.toLowerCase());
		this.startedNow.delete(id.toLowerCase());
		if (document) this.handleFact({ document, outcome: 'unchanged' });
	}

	/**
	 * Starts the processing of an unchanged document that an earlier run stored without processing. Does nothing if
	 * this run does not wait for processing, or if `startedNow` is full. In these cases, `handleFact` starts the processing.
	 *
	 * @returns whether the document was added to `startedNow`
	 */
	private startsNow(fact: Fact<DocumentReport>): boolean {
		const { waitMs } = this.submission.settings;
		const isStored = fact.outcome === 'unchanged' && fact.status;
		if (!isStored || processingState(fact.status) !== 'none') return false;
		if (waitMs === undefined || this.startedNow.size >= MAX_STARTED_NOW) return false;
		const { id, report } = fact.document;
		this.startedNow.set(id.toLowerCase(), fact.document);
		this.startProcessing(id, report);
		return true;
	}

	/** Starts and follows the processing of a stored document. */
	private startProcessing(id: string, report: DocumentReport | undefined): void {
		if (!this.processing) return;
		// `reports` must contain only the latest document with this ID.
		if (report && !report.isReplaced) this.reports.set(id.toLowerCase(), report);
		this.processing.add(id);
	}

	private handleEnded(): void {
		for (const fact of this.processing?.ended() ?? []) this.handleProcessed(fact);
	}

	/**
	 * Records the last processing state of a document. If the processing failed or is stuck, the memory forgets the
	 * content. The next run then sends the document again.
	 */
	private handleProcessed(fact: Processed): void {
		const { id, end } = fact;
		const key = id.toLowerCase();
		const report = this.reports.get(key) ?? this.releasedReport(id);
		const isFailed = end.state !== 'finish' && end.state !== 'running' && !end.failure;
		// `followProcessing` sends this document again, so its failure is not reported.
		if (isFailed && this.startedNow.has(key)) return this.memory?.known.forget(id);
		this.endStartedNow(id);
		this.submission.add({ ...fact, report });
		this.submission.circuitBreaker.count(fact);
		// The outcome is unset if a later document with this ID is on its way.
		if (report?.outcome) this.release(id, report);
		// Without a route for processing, a server processes documents when it stores them.
		if (end.state === 'finish' || end.hasNoRoute) this.memory?.known.markProcessed(id);
		else if (end.isStuck || isFailed) this.memory?.known.forget(id);
	}

	/**
	 * Reads the queued items one after another, and yields their documents in groups. If sending has stopped, reports
	 * the documents as not sent instead.
	 *
	 * @param isHashed whether to set `contentHash`, for the comparison with earlier runs
	 */
	async *documents(isHashed = false): AsyncGenerator<Document[]> {
		const { submission } = this;
		const group: Document[] = [];
		this.queue.reverse();
		while (!submission.signal?.aborted) {
			const queued = this.queue.pop();
			if (!queued) break;
			const { item } = queued;
			let count = 0;
			try {
				const documents = queued.documents ?? submission.read(item);
				const isFile = !Array.isArray(documents);
				const isOver = () => isFile && submission.stoppedBy;
				for await (const some of isFile ? documents : [documents]) {
					for (const found of some) {
						count += 1;
						const document = this.ready(found, item, isHashed);
						if (document && (!document.file || (await this.hashFile(document))))
							group.push(document);
						// A file is passed on at once, so that its upload starts while the next file is read.
						if (document?.file || group.length >= MAX_GROUPED) yield group.splice(0);
						if (isOver()) break;
					}
					if (isOver()) break;
				}
				if (count === 0 && isFile) submission.add({ outcome: 'noRecords' });
			} catch (caught) {
				// Does not throw, because the documents before the error must still be sent.
				this.handleUnread(item, caught);
			}
		}
		yield group;
	}

	/**
	 * Prepares a document for sending.
	 *
	 * @returns undefined if the document must not be sent
	 */
	private ready(found: FoundDocument | ItemError, item: Item, isHashed: boolean) {
		if (found instanceof Error) return this.handleUnread(item, found);
		const { submission } = this;
		const document = this.asDocument(found, item);
		const { unusedColumns } = found;
		submission.add({ outcome: 'read', report: document.report, unusedColumns });
		if (!submission.canSend) return void this.handleFact({ outcome: 'notSent', document });
		this.recordSeen(document);
		if (found.lacksVersion) this.versionless += 1;
		submission.tally.inputHints.missingMetadata += found.missingMetadata ?? 0;
		if (isHashed) document.contentHash = hashOf(document, found.version);
		return document;
	}

	/** Adds the content of the file to the hash, unless it is the hash of a version. Returns whether this was possible. */
	private async hashFile(document: Document): Promise<boolean> {
		const { contentHash = '', file } = document;
		if (!file || !contentHash.startsWith(MARKS.content)) return true;
		const digest = createHash('sha256').update(contentHash);
		try {
			const { content } = await file();
			for await (const piece of Buffer.isBuffer(content) ? [content] : content.open())
				digest.update(piece);
			document.contentHash = MARKS.content + digest.digest('binary');
			return true;
		} catch (error) {
			this.handleFact({ outcome: 'unreadable', document, error });
			return false;
		}
	}

	/**
	 * Counts a document in `gaps` if it was not sent, or if its outcome is unclear. Does not count a document with an
	 * invalid file, or a document that the server rejected for a stated reason. Such a document is certainly present in
	 * the source. But a rejected document that later runs cannot recognize (`isNew`) always counts.
	 */
	private recordGap(fact: Fact<DocumentReport>): void {
		const isGap =
			fact.outcome === 'unknown' ||
			fact.outcome === 'notSent' ||
			(fact.outcome === 'unreadable' && !(fact.error instanceof NodeOperationError)) ||
			(fact.outcome === 'rejected' &&
				(fact.document.isNew || !isRejection(fact.failure) || fact.failure.reason === undefined));
		if (isGap) this.gaps += 1;
	}

	/** Records a document that could not be read. If the key is known, the document counts as present in the source. */
	private handleUnread(item: Item, caught: unknown): undefined {
		const key = isObject(caught) ? refusedKeys.get(caught) : undefined;
		if (key === undefined) this.gaps += 1;
		else this.recordSeenAs(derivedId(this.owner, key), 'refused');
		this.submission.addFailedItem(item, caught);
	}

	/** Gives a found document its ID and its `report`. The ID is derived from the key, if there is one. */
	private asDocument(found: FoundDocument, item: Item): Document {
		const { key, file, hadNul } = found;
		const ownId = key === undefined ? found.record.id : derivedId(this.owner, key);
		// With a random ID, the request can be repeated without storing the document twice.
		const id = ownId || randomUUID();
		const record = inFolder({ ...found.record, id }, this.knowledgebaseId);
		const isUploaded = file !== undefined;
		const isNew = key === undefined && !isUuid(ownId ?? '');
		const isTracked = this.submission.settings.output !== 'summary';
		const name = record.name ?? undefined;
		const report: DocumentReport = { item, name, key, id, hadNul, isUploaded, isTracked };
		const json = jsonWithId(found, record, id);
		const [pages, chunks] = [record.pages, record.chunks].map(idsOf);
		// The content is in the JSON. A second copy would only need memory.
		if (!file) Object.assign(record, { metadata: null, pages, chunks });
		return { record, json, bytes: Buffer.byteLength(json), report, id, isNew, key, file };
	}

	/** Records the ID of a document. If an earlier document has this ID, reports the earlier document as replaced. */
	private recordSeen({ id, isNew, key, report }: Document): void {
		if (isNew) return;
		const released = this.releasedReport(id);
		// The name of a released document is not kept: its key identifies it, or else the name of the later one.
		const named = released && { ...released, ...pick(report, key === undefined ? 'name' : 'key') };
		const earlier = this.reports.get(id.toLowerCase()) ?? named;
		if (earlier) this.submission.add({ outcome: 'replaced', report: earlier });
		this.reports.set(id.toLowerCase(), report);
		this.recordSeenAs(id, 'listed');
	}

	/** Records that a document is present in the source. A refused one changes nothing about an earlier one. */
	private recordSeenAs(id: string, state: 'listed' | 'refused'): void {
		if (state === 'listed' || !this.seen.has(id)) this.seen.set(id, state);
	}
}
