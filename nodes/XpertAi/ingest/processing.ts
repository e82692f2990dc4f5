import { chunk, clamp } from 'lodash';

import { MAX_IDS_PER_URL } from '../transport/api';
import { FIRST_PAUSE_MS, longerPause, MINUTE_MS } from '../transport/clock';
import type { Failure } from '../transport/failure';
import type { ProcessingFact } from './facts';
import { documentListSchema } from './documentList';
import type { KnowledgebaseRoutes } from '../transport/knowledgebaseRoutes';
import { fetchStatuses, lastStateOf, statusesById, type StatusRecord } from './statuses';

const START_REQUESTS_AT_ONCE = 5;
const MAX_IDS_PER_START = 100;

/**
 * `startRestAndPoll` waits this time per document before its first poll, at most FIRST_PAUSE_MS in total. A server needs
 * at least this time for a document.
 */
const FIRST_PAUSE_PER_DOCUMENT_MS = 250;

/** Time without progress after which documents in `Processing.notQueued` may be stuck. */
const STALLED_MS = 5 * MINUTE_MS;

/**
 * Requests the processing of stored documents, and polls their statuses.
 *
 * In this class, to "start" a document is to request its processing.
 */
export class Processing {
	/** IDs of stored documents to start. */
	private pending: string[] = [];
	/** IDs of documents to poll, in the order in which they were started. Servers process them roughly in this order. */
	private readonly toPoll = new Set<string>();
	/**
	 * Documents that the server did not queue, for example because an earlier run started them. Maps IDs to the last
	 * status and progress, or to `NEVER_POLLED`.
	 */
	private readonly notQueued = new Map<string, string>();
	/**
	 * IDs of documents that were started again, because a poll showed the state `none`. An ID is removed when a poll shows
	 * its processing. Then the document can be started once more, in case the server restarts and forgets its queue.
	 */
	private readonly restarted = new Set<string>();
	private readonly inFlight = new Set<Promise<void>>();
	private allStarted = true;
	private failure?: Failure;
	private routeWorked = false;
	/** The pause between polls while documents are being stored. Each poll adapts the pause. */
	private pause = FIRST_PAUSE_MS;
	private nextPollAt?: number;
	/** Time when the processing of a document last started or ended, or when a status in `notQueued` last changed. */
	private lastProgressAt = 0;
	/** Facts that `takeFacts` has not returned yet. */
	private facts: ProcessingFact[] = [];

	/** @param waitMs maximum time to wait for the end of processing; if `undefined`, processing is only started */
	constructor(
		private readonly routes: Omit<KnowledgebaseRoutes, 'storePath'>,
		private readonly waitMs?: number,
	) {}

	/** Returns the facts that were added since the last call. */
	takeFacts(): ProcessingFact[] {
		return this.facts.splice(0);
	}

	/** Adds a stored document. Starts documents when there are enough for a full request. */
	add(id: string): void {
		this.pending.push(id);
		if (this.pending.length >= IDS_PER_START) this.startPending();
	}

	/** Starts the remaining documents, and waits until all requests have been answered. */
	async startRemaining(): Promise<void> {
		this.startPending();
		while (this.pending.length > 0) {
			await Promise.race(this.inFlight);
			this.startPending();
		}
		// Repeats, because a request that ends may add a poll to `inFlight`.
		while (this.inFlight.size > 0) await Promise.all(this.inFlight);
	}

	/** Polls statuses if enough documents are waiting for a poll and a poll is due. Does not wait for the answer. */
	pollWhenDue(): void {
		const { now } = this.routes.clock;
		if (this.toPoll.size < IDS_PER_START) return;
		this.nextPollAt ??= now() + this.pause;
		if (now() < this.nextPollAt) return;
		// No other poll starts while this one runs. After a failure, only `startRestAndPoll` polls again.
		this.nextPollAt = Infinity;
		const work = this.poll().then((failure) => {
			if (!failure) this.nextPollAt = now() + this.pause;
		});
		this.trackInFlight(work);
	}

	/**
	 * Starts the remaining documents. Polls until all processing has ended or `waitMs` is over. Without `waitMs`, polls
	 * only documents that the server did not queue, and does not wait for the end of their processing.
	 */
	async *startRestAndPoll(): AsyncGenerator<ProcessingFact[]> {
		const { clock, signal } = this.routes;
		const { waitMs } = this;
		await this.startRemaining();
		yield this.takeFacts();
		const deadline = waitMs === undefined ? Infinity : clock.now() + waitMs;
		let pause = Math.min(FIRST_PAUSE_MS, this.toPoll.size * FIRST_PAUSE_PER_DOCUMENT_MS);
		// Without `waitMs`, `toPoll` holds only documents that the server did not queue. The first poll reports them, except
		// those in the state `none`. These are started again. If the server does not queue them this time either, a second
		// poll reports them. So there are at most two polls, without a pause.
		while (this.toPoll.size > 0 && this.canContinue && clock.now() < deadline) {
			if (waitMs !== undefined) await clock.sleep(Math.min(pause, deadline - clock.now()), signal);
			const isLastPoll = clock.now() >= deadline;
			await this.pollAndReportStuck(isLastPoll);
			await this.startRemaining();
			yield this.takeFacts();
			pause = longerPause(pause);
		}
		this.reportUnfinished();
		yield this.takeFacts();
	}

	/** Polls, and reports documents in `notQueued` as stuck if nothing progressed. */
	private async pollAndReportStuck(isLastPoll: boolean): Promise<void> {
		const wasStalled = this.isStalled;
		this.failure = await this.poll(wasStalled || isLastPoll);
		// An earlier run may have queued the documents in `notQueued`. While other documents end, these may still wait.
		const areStuck = wasStalled && this.isStalled && !this.failure;
		if (!areStuck) return;
		for (const id of this.notQueued.keys()) this.reportEnd(id, { state: 'running', isStuck: true });
	}

	/** Reports the documents whose processing has not ended. */
	private reportUnfinished(): void {
		for (const id of this.toPoll) {
			// A document that the server did not queue, and that no poll has shown, may not be in process at all.
			const isUnseen = this.notQueued.get(id) === NEVER_POLLED;
			if (this.failure && isUnseen) this.reportNotStarted([id]);
			else this.report(id, { state: 'running' });
		}
	}

	/**
	 * How processing ended.
	 * `failure`: why documents could not be started or polled.
	 * `allStarted`: false if the processing of a document could not be started.
	 * `unfinished`: number of documents whose processing has not ended. 0 after a failure.
	 */
	get result() {
		const { allStarted, failure, hasNoRoute, toPoll: started } = this;
		return { failure, hasNoRoute, allStarted, unfinished: failure ? 0 : started.size };
	}

	/**
	 * Whether the server has no route for processing. If the route has worked in this run, a later 404 has another
	 * cause.
	 */
	private get hasNoRoute(): boolean {
		return this.failure?.missing === 'route' && !this.routeWorked;
	}

	private get canContinue(): boolean {
		return this.failure === undefined && !this.routes.signal?.aborted;
	}

	/**
	 * Starts pending documents, with up to START_REQUESTS_AT_ONCE requests at once. After a failure, reports them as not
	 * started. If the execution was stopped, drops them without a report.
	 */
	private startPending(): void {
		if (!this.canContinue) this.reportNotStarted(this.pending.splice(0));
		// If many documents are pending, divides them evenly among the requests.
		const size = clamp(
			this.pending.length / START_REQUESTS_AT_ONCE,
			IDS_PER_START,
			MAX_IDS_PER_START,
		);
		while (this.pending.length > 0 && this.inFlight.size < START_REQUESTS_AT_ONCE)
			this.trackInFlight(this.requestStart(this.pending.splice(0, size)));
	}

	/** Keeps a request in `inFlight` until it ends. After that, starts pending documents if they fill a request. */
	private trackInFlight(request: Promise<void>): void {
		const work = request.finally(() => {
			this.inFlight.delete(work);
			if (this.pending.length >= IDS_PER_START) this.startPending();
		});
		this.inFlight.add(work);
	}

	private reportNotStarted(ids: string[]): void {
		const { failure, hasNoRoute } = this;
		this.allStarted &&= ids.length === 0;
		if (failure)
			for (const id of ids) this.report(id, { state: 'none', startFailure: failure, hasNoRoute });
	}

	/** Starts documents. The server answers with the documents that it has queued. */
	private async requestStart(ids: string[]): Promise<void> {
		const { send, processPath: path } = this.routes;
		const body = JSON.stringify(ids);
		const outcome = await send({ method: 'POST', path, body, schema: documentListSchema() });
		if (!outcome.ok) {
			this.failure ??= outcome.failure;
			return this.reportNotStarted(ids);
		}
		this.routeWorked = true;
		this.lastProgressAt = this.routes.clock.now();
		const queued = statusesById(outcome.answer);
		for (const id of ids) {
			const isQueued = queued.has(id.toLowerCase());
			if (isQueued) this.notQueued.delete(id);
			else this.notQueued.set(id, NEVER_POLLED);
			// Without `waitMs`, a queued document needs no poll. A document that was not queued is always polled.
			if (isQueued && this.waitMs === undefined) this.report(id, { state: 'running' });
			else this.toPoll.add(id);
		}
		this.pollWhenDue();
	}

	/**
	 * Polls documents in groups, oldest first. Stops after a group whose last documents are all unfinished, because
	 * servers process documents in order.
	 *
	 * @param pollsAll whether to poll all groups
	 * @returns the failure of a poll, if any
	 */
	private async poll(pollsAll = false): Promise<Failure | undefined> {
		for (const ids of chunk([...this.toPoll], MAX_IDS_PER_URL)) {
			const { statuses, failure } = await fetchStatuses(ids, this.routes);
			if (failure || this.routes.signal?.aborted) return failure;
			for (const id of ids) this.handleStatus(id, statuses.get(id.toLowerCase()));
			const areLastUnfinished = ids.slice(-IDS_PER_START).every((id) => this.toPoll.has(id));
			this.pause = areLastUnfinished ? longerPause(this.pause) : FIRST_PAUSE_MS;
			if (areLastUnfinished && !pollsAll) break;
		}
		return undefined;
	}

	/**
	 * Records the status of a document. If the state is `none`, starts the document again. Reports a second `none` in a row
	 * as the end. Reports any other state if the processing has ended; without `waitMs`, reports `running`, too.
	 */
	private handleStatus(id: string, status: StatusRecord | undefined): void {
		const end = lastStateOf(status);
		if (end.state === 'none' && !this.restarted.has(id)) return this.queueRestart(id);
		if (end.state === 'running') this.restarted.delete(id);
		const isStillPolled = end.state === 'running' && this.waitMs !== undefined;
		if (isStillPolled) return this.recordProgress(id, status);
		const processMsg = status ? NOT_BEGUN_MESSAGE : UNKNOWN_DOCUMENT_MESSAGE;
		this.reportEnd(id, end.state === 'none' ? { ...end, processMsg } : end);
		this.lastProgressAt = this.routes.clock.now();
	}

	/** Lets a document be started once more, because the server did not begin. `restarted` prevents this twice in a row. */
	private queueRestart(id: string): void {
		this.toPoll.delete(id);
		this.notQueued.delete(id);
		this.restarted.add(id);
		this.pending.push(id);
	}

	/** Records the status and progress of a document in `notQueued`. Ignores other documents. */
	private recordProgress(id: string, status: StatusRecord | undefined): void {
		const lastProgress = this.notQueued.get(id);
		const progress = `${status?.status} ${status?.progress}`;
		if (lastProgress === undefined || lastProgress === progress) return;
		this.notQueued.set(id, progress);
		this.lastProgressAt = this.routes.clock.now();
	}

	/** Whether documents in `notQueued` have waited for a long time without any progress. */
	private get isStalled(): boolean {
		return this.notQueued.size > 0 && this.routes.clock.now() - this.lastProgressAt >= STALLED_MS;
	}

	private reportEnd(id: string, end: ProcessingFact['lastProcessingState']): void {
		for (const ids of [this.toPoll, this.notQueued, this.restarted]) ids.delete(id);
		this.report(id, end);
	}

	private report(id: string, end: ProcessingFact['lastProcessingState']): void {
		this.facts.push({ outcome: 'processed', id, lastProcessingState: end });
	}
}

/** The value in `Processing.notQueued` of a document that no poll has shown yet. */
const NEVER_POLLED = '';

const UNKNOWN_DOCUMENT_MESSAGE = 'the server does not know it in this knowledgebase';
const NOT_BEGUN_MESSAGE = 'the server did not begin, though it was asked to twice';

/**
 * Number of documents in one request to start processing. If many documents wait, `Processing` sends larger requests.
 * Servers process several requests in parallel, but the documents of one request in sequence. So several small requests
 * end sooner than a large one.
 */
export const IDS_PER_START = 10;
