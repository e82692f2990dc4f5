import { mayContinue } from '../../../execution/outputs';
import { mustListDocuments } from '../../../ingest/answeredRecords';
import type { ReadyDocument } from '../../../ingest/batches';
import { changedOnly, planDocuments } from '../../../ingest/planDocuments';
import type { Planning } from '../../../ingest/planDocuments';
import { Folders } from '../../../ingest/folders';
import { ROOM_IN_BATCH } from '../../../ingest/memory';
import type { DocumentName, Holder, SourceMemory } from '../../../ingest/memory';
import { Processing } from '../../../ingest/processing';
import { askStatuses, processingWord, processingEndOf } from '../../../ingest/processingStatus';
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
import { inWords } from './advice';
import { DocumentStream } from './documentStream';
import { asHint, memoryOf } from './memory';
import { processingFlaw } from './outcomeItems';
import { knowledgebaseRoutes, uploadRoute } from './routes';
import type { KnowledgebaseRoutes } from './routes';
import type { Origin } from './sources/identity';
import type { Submission } from './submission';

const PROGRESS_EVERY_MS = 1000;

/** A first batch that is small is processed soon, and shows what keeps all documents from being found. */
const FIRST_BATCH = 10;

/** Documents that are asked after where a source has no note, at most so many bytes of them. */
const ASKED_FIRST = 500;
const ASKED_BYTES = 8 * 1024 * 1024;

const THERE_TWICE =
	'also stored without a Source Name, and found twice. Document: Disable takes them out.';

const ELSEWHERE = 'Not sent: another run of this source is at work';

/** What a document is called, for a run that does not bring it any more. */
const calledOf = ({ record, key }: ReadyDocument<Origin>): DocumentName => ({
	...(record.name && { name: record.name }),
	...(key !== undefined && { key }),
});

/** What documents are sent with, by id; one whose id is new each time is no concern of a later run. */
const contentsOf = (batch: Array<ReadyDocument<Origin>>) =>
	new Map(batch.flatMap(({ id, isNew, content = '' }) => (isNew ? [] : [[id, content]])));

/** One knowledgebase in a run: what is brought for it, what is remembered of it, and its processing. */
export class Target {
	/** What the items bring for it. */
	readonly bringing: DocumentStream;
	/** What earlier runs have stored, once it is open; none where nothing is remembered. */
	memory?: SourceMemory;
	/** By which what is remembered is read and written: these wait for a server on their own. */
	readonly memoryRoutes: KnowledgebaseRoutes;
	private readonly folders: Folders;
	/** What follows the documents that are stored; none with After Storing = Nothing. */
	readonly processing?: Processing;
	/** Where the documents came from that are in process, by id. */
	private readonly inProcess = new Map<string, Origin[]>();
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
		this.bringing = new DocumentStream(submission, knowledgebaseId, {
			onTurn: () => this.processing?.lookWhenDue(),
			onLeftOut: (document) => this.leaveOut(document),
		});
		const onEnd = (id: string, end: ProcessingEnd) => this.addEnd(id, end);
		if (settings.process) this.processing = new Processing(routes, { ...settings, onEnd });
	}

	/** Stores what is brought: what is unchanged is left out, files are uploaded, the rest is stored and processed. */
	async store(): Promise<void> {
		const { submission } = this;
		const { execution, settings, report, brake, clock, signal } = submission;
		if (submission.goesOn && settings.remembers) this.memory = await memoryOf(this).open();
		const { memory, memoryRoutes } = this;
		if (memory?.holder) return await this.leaveTo(memory.holder);
		const wanted = memory ? this.changed(memory) : this.bringing.documents();
		let hasFailed = false;
		const counts = await storeDocuments({
			...settings,
			documents: uploaded(wanted, {
				upload: this.braking(uploadRoute(submission)),
				atOnce: UPLOADS_AT_ONCE,
				onOutcome: (result) => this.addOutcome(result),
				onUnreadable: ({ origin }, caught) => report.addUnreadable(origin, caught),
				goOn: () => submission.goesOn,
			}),
			send: submission.send,
			batchLimits: {
				...settings.batchLimits,
				firstCount: FIRST_BATCH,
				beside: memory && ROOM_IN_BATCH,
			},
			journal: async (batch) => {
				const failure = await this.folders.makeFor(batch.map(({ record }) => record));
				return failure ? { failure } : await memory?.around(contentsOf(batch));
			},
			request: (body) => ({
				method: 'POST',
				path: memoryRoutes.storePath,
				body,
				timeoutMs: settings.timeoutMs,
			}),
			onOutcome: (told) => {
				const result = inWords(told);
				if ('failure' in result)
					brake.failed('storing', failureMessage(result.failure), result.batch);
				else if (result.outcome === 'stored') brake.passed('storing');
				hasFailed ||= 'failure' in result;
				this.addOutcome(result);
			},
			goOn: () => brake.reason === undefined && (!hasFailed || mayContinue(execution.context)),
			clock,
			signal,
		});
		report.addRequests(counts);
	}

	/** Notes what becomes of uploads: those that are refused may lie between others that wait to be stored. */
	private braking(upload: Upload<Origin>): Upload<Origin> {
		const { brake } = this.submission;
		return async (document) => {
			this.processing?.lookWhenDue();
			// What may not be stored need not be uploaded.
			const failure = this.memory?.refusal;
			const result = failure ? { failure, attempts: 0 } : await upload(document);
			if ('failure' in result) {
				const { failure: refused } = result;
				// The key may have no right to upload.
				brake.failed('upload', failureMessage(refused), undefined, refused.status === 403);
			} else brake.passed('upload');
			return result;
		};
	}

	/**
	 * Sends nothing, as another run of the source is at work.
	 *
	 * @throws NodeOperationError with Stop, saying which one
	 */
	private async leaveTo({ by, since }: Holder): Promise<void> {
		const { first, report } = this.submission;
		const error = first.operationError(
			`Nothing was sent: another run of this source is at work, ${by}, since ${since}`,
			`Run it again when that one has ended; one that has crashed counts as ended a minute later. Runs that bring different documents need different names in "${first.labelOf('sourceName')}".`,
		);
		if (!mayContinue(first.context)) throw error;
		report.addRefusal(error);
		for await (const document of this.bringing.documents()) this.leaveOut(document, ELSEWHERE);
	}

	/** A document is not sent, as nothing new is. */
	private leaveOut(document: ReadyDocument<Origin>, reason?: string): void {
		this.addOutcome({ document, batch: 0, attempts: 0, outcome: 'notSent', reason });
	}

	/**
	 * Tells what the next run would do with what is brought, as far as it can be read; sends and notes nothing.
	 *
	 * @param memory what earlier runs have stored
	 */
	async plan(memory: SourceMemory, onPlanned: Planning<Origin>['onPlanned']): Promise<void> {
		const { settings } = this.submission;
		await planDocuments(this.askingFirst(this.bringing.withFiles(), memory), {
			memory: memory.known,
			processed: settings.process,
			statusesOf: async (ids) => await this.statusesOf(ids, memory),
			onPlanned,
		});
	}

	/**
	 * Asks after the first documents of a source that has no note: its memory may be gone, or they may have been stored
	 * otherwise before, also under the IDs they have without a Source Name.
	 */
	private async *askingFirst(
		documents: AsyncGenerator<ReadyDocument<Origin>>,
		memory: SourceMemory,
	): AsyncGenerator<ReadyDocument<Origin>> {
		const held: Array<ReadyDocument<Origin>> = [];
		let bytes = 0;
		while (memory.isNew && held.length < ASKED_FIRST && bytes < ASKED_BYTES) {
			const { done, value } = await documents.next();
			if (done) break;
			held.push(value);
			bytes += value.bytes;
		}
		if (held.length > 0) await this.askAfter(held, memory);
		yield* held;
		yield* documents;
	}

	private async askAfter(
		documents: Array<ReadyDocument<Origin>>,
		memory: SourceMemory,
	): Promise<void> {
		const { report, settings } = this.submission;
		const ids = documents.flatMap(({ id, isNew }) => (isNew ? [] : id));
		const without = documents.flatMap(({ key }) =>
			key === undefined || settings.sourceName === '' ? [] : derivedId(this.knowledgebaseId, key),
		);
		const { statuses } = await this.statusesOf([...ids, ...without], memory);
		if (ids.some((id) => statuses.has(id.toLowerCase()))) memory.lose();
		// One that was disabled has no status.
		const twice = without.filter((id) => processingWord(statuses.get(id)) !== 'none').length;
		if (twice > 0)
			report.remark(asHint(`${counted(twice, 'document is', 'documents are')} ${THERE_TWICE}`));
	}

	private async statusesOf(ids: string[], { witness, troubles }: SourceMemory): Promise<Statuses> {
		const asked = await askStatuses(ids, this.memoryRoutes, witness);
		troubles.notAsked ??= asked.failure;
		return asked;
	}

	private changed(memory: SourceMemory): AsyncGenerator<ReadyDocument<Origin>> {
		const { report, settings } = this.submission;
		return changedOnly(this.askingFirst(this.bringing.documents(), memory), {
			memory: memory.known,
			processed: settings.process,
			statusesOf: async (ids) => await this.statusesOf(ids, memory),
			onUnchanged: (document, status) => {
				report.addUnchanged(document, status);
				memory.names.note(document.id, calledOf(document));
				if (processingEndOf(status).word === 'running') this.follow(document.id, document.origin);
			},
		});
	}

	private addOutcome(result: DocumentOutcome<Origin>): void {
		const { id, isNew, content = '', origin } = result.document;
		const memory = isNew ? undefined : this.memory;
		if (result.outcome === 'stored') memory?.stored(id, content, calledOf(result.document));
		else if (result.outcome === 'rejected') memory?.refused(id);
		this.submission.report.addOutcome(result);
		if (result.outcome === 'stored') {
			// With incremental sync, a server keeps a document under the first id its source had.
			const kept = isJsonObject(result.record) ? result.record.id : undefined;
			this.follow(typeof kept === 'string' ? kept : id, origin.isTracked ? origin : undefined);
		}
		this.processing?.lookWhenDue();
		this.showProgress();
	}

	/** Has a stored document processed, or followed where the server is at it. */
	private follow(id: string, origin: Origin | undefined): void {
		// An ID with a comma, which only a user's own may have, cannot be asked after among others.
		if (!this.processing || id.includes(',')) return;
		if (origin) this.inProcess.set(id, [...(this.inProcess.get(id) ?? []), origin]);
		this.processing.add(id);
	}

	/** Tells the next run which documents are done; it asks for the status of the others before it sends them again. */
	private addEnd(id: string, end: ProcessingEnd): void {
		const { word, hasNoRoute, failure, isStuck, processMsg } = end;
		// On a server that cannot process, documents are done when they are stored.
		if (word === 'finish' || hasNoRoute) this.memory?.known.settle(id);
		else if (isStuck || (word !== 'running' && !failure)) this.memory?.known.forget(id);
		const flaw = processingFlaw(end);
		if (flaw) this.submission.brake.failed('processing', processMsg ?? flaw);
		else if (word === 'finish') this.submission.brake.passed('processing');
		this.submission.report.addProcessed(id, end, this.inProcess.get(id) ?? []);
		this.inProcess.delete(id);
	}

	/** In manual executions, says once a second in the browser's console how far it has come. */
	private showProgress(): void {
		const { execution, clock, report } = this.submission;
		const { context } = execution;
		const now = clock.now();
		if (context.getMode() !== 'manual' || now - this.progressShownAt < PROGRESS_EVERY_MS) return;
		this.progressShownAt = now;
		context.sendMessageToUI(report.line);
	}
}
