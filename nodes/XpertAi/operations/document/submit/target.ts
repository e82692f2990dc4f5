import { mayContinue } from '../../../execution/outputs';
import type { ReadyDocument } from '../../../ingest/batches';
import { changedOnly } from '../../../ingest/changedOnly';
import { askWhere } from '../../../ingest/listedIds';
import type { DocumentName, Holder, Recalled, SourceMemory } from '../../../ingest/memory';
import { planDocuments } from '../../../ingest/plan';
import type { Planning } from '../../../ingest/plan';
import { Processing } from '../../../ingest/processing';
import { saidOf } from '../../../ingest/processingStatus';
import type { ProcessingEnd, Statuses } from '../../../ingest/processingStatus';
import { storeDocuments } from '../../../ingest/storing';
import type { DocumentOutcome } from '../../../ingest/storing';
import { uploaded } from '../../../ingest/uploads';
import type { Upload } from '../../../ingest/uploads';
import { isJsonObject } from '../../../transport/answer';
import { IDS_PER_ADDRESS } from '../../../transport/api';
import { failureMessage } from '../../../transport/failure';
import { UPLOADS_AT_ONCE } from '../../../transport/multipart';
import { Bringing } from './bringing';
import { Remembered } from './memory';
import { processingFlaw } from './outcomeItems';
import { inWords, isForeignId } from './rejections';
import { knowledgebaseRoutes, uploadRoute } from './routes';
import type { KnowledgebaseRoutes } from './routes';
import type { Origin } from './sources/found';
import type { Submission } from './submission';

const PROGRESS_EVERY_MS = 1000;

const ELSEWHERE = 'Not sent: another run of this source is at work';

/** What a document is called, for a run that does not bring it any more. */
const calledOf = ({ record, key }: ReadyDocument<Origin>): DocumentName => ({
	...(record.name && { name: record.name }),
	...(key !== undefined && { key }),
});

/** What documents are sent with, by id. */
const contentsOf = (batch: Array<ReadyDocument<Origin>>) =>
	new Map(batch.flatMap(({ id, content = '' }) => (id === undefined ? [] : [[id, content]])));

/** One knowledgebase in a run: what is brought for it, what is remembered of it, and its processing. */
export class Target {
	/** What the items bring for it. */
	readonly bringing: Bringing;

	/** What earlier runs have stored, once it is open; none where nothing is remembered. */
	memory?: SourceMemory;

	/** By which what is remembered is read and written: these wait for a server on their own. */
	readonly memoryRoutes: KnowledgebaseRoutes;

	readonly remembered: Remembered;

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
		this.remembered = new Remembered(submission, knowledgebaseId, this.memoryRoutes);
		this.bringing = new Bringing(submission, knowledgebaseId, {
			onTurn: () => this.processing?.lookWhenDue(),
			onLeftOut: (document) => this.leaveOut(document),
		});
		const onEnd = (id: string, end: ProcessingEnd) => this.addEnd(id, end);
		const lookFrom = Math.min(settings.stopAfterFailures || Infinity, IDS_PER_ADDRESS);
		if (settings.process)
			this.processing = new Processing(routes, { ...settings, lookFrom, onEnd });
	}

	/** Stores what is brought: what is unchanged is left out, files are uploaded, the rest is stored and processed. */
	async store(): Promise<void> {
		const { submission, knowledgebaseId } = this;
		const { execution, settings, report, brake, clock, signal } = submission;
		if (submission.goesOn) await this.remember();
		const { memory, memoryRoutes } = this;
		if (memory?.holder) return await this.leaveTo(memory.holder);
		const wanted = memory ? this.changed(memory) : this.bringing.documents();
		let hasFailed = false;
		const counts = await storeDocuments({
			...settings,
			documents: uploaded(wanted, {
				upload: this.braking(uploadRoute(submission)),
				atOnce: UPLOADS_AT_ONCE,
				onFailed: (document, failure, attempts) =>
					this.addOutcome({ document, failure, attempts, batch: 0, outcome: 'rejected' }),
				onUnreadable: ({ origin }, caught) => report.addUnreadable(origin, caught),
				goOn: () => submission.goesOn,
				onLeftOut: (document) => this.leaveOut(document),
			}),
			noKnowledgebase: (failure) => isForeignId(failure, knowledgebaseId),
			send: submission.send,
			batchLimits: { ...settings.batchLimits, beside: memory?.roomInBatch },
			journal: memory && (async (batch) => await memory.around(contentsOf(batch))),
			request: (body) => ({
				method: 'POST',
				path: memoryRoutes.storePath,
				body,
				timeoutMs: settings.timeoutMs,
			}),
			onOutcome: (told) => {
				const result = inWords(told, knowledgebaseId);
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
		report.summary.addRequests(counts);
	}

	/** Notes what becomes of uploads: those that are refused may lie between others that wait to be stored. */
	private braking(upload: Upload<Origin>): Upload<Origin> {
		const { brake } = this.submission;
		return async (document) => {
			// What may not be stored need not be uploaded.
			const failure = this.memory?.refusal;
			const result = failure ? { failure, attempts: 0 } : await upload(document);
			if ('failure' in result) brake.failed('upload', failureMessage(result.failure));
			else brake.passed('upload');
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
			`Run it again when that one has ended; one that has crashed counts as ended a minute later. Runs that bring different documents need different names in "${first.labelOf('sourceName')}". To run beside it all the same, switch on "Run Beside Another" in "Options".`,
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
	async plan(memory: Recalled, onPlanned: Planning<Origin>['onPlanned']): Promise<void> {
		const { settings } = this.submission;
		await planDocuments(this.bringing.withFiles(), {
			memory: memory.known,
			processed: settings.process,
			statusesOf: async (ids) => await this.statusesOf(ids, memory),
			onPlanned,
		});
	}

	private async statusesOf(ids: string[], { witness, troubles }: Recalled): Promise<Statuses> {
		const asked = await askWhere(ids, witness, this.memoryRoutes);
		troubles.notAsked ??= asked.failure;
		return asked;
	}

	private async remember(): Promise<void> {
		const { remembers, sourceName } = this.submission.settings;
		if (!remembers) return;
		this.memory = await this.remembered.open();
		if (sourceName === '' || !this.memory.isKept) return;
		const before = await this.remembered.recallUnnamed(this.memory);
		if ('failure' in before) this.memory.troubles.notRecalled = before.failure;
		else this.bringing.unnamed = before.known;
	}

	private changed(memory: SourceMemory): AsyncGenerator<ReadyDocument<Origin>> {
		const { report, settings } = this.submission;
		return changedOnly(this.bringing.documents(), {
			memory: memory.known,
			processed: settings.process,
			statusesOf: async (ids) => await this.statusesOf(ids, memory),
			onUnchanged: (document, status) => {
				report.addUnchanged(document, status);
				if (document.id) memory.unchanged(document.id, calledOf(document));
				if (saidOf(status).word === 'running') this.follow(document.id, document.origin);
			},
		});
	}

	private addOutcome(result: DocumentOutcome<Origin>): void {
		const { id, content = '', origin } = result.document;
		if (id && result.outcome === 'stored')
			this.memory?.stored(id, content, calledOf(result.document));
		else if (id && result.outcome === 'rejected') this.memory?.refused(id);
		this.submission.report.addOutcome(result);
		if (result.outcome === 'stored') {
			// With incremental sync, a server keeps a document under the first id its source had.
			const kept = isJsonObject(result.record) ? result.record.id : undefined;
			this.follow(typeof kept === 'string' ? kept : id, origin.isTracked ? origin : undefined);
		}
		this.showProgress();
	}

	/** Has a stored document processed, or followed where the server is at it. */
	private follow(id: string | undefined, origin: Origin | undefined): void {
		if (!this.processing || id === undefined) return;
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
		context.sendMessageToUI(report.summary.line());
	}
}
