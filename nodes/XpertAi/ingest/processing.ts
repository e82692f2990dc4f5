import chunk from 'lodash/chunk';

import { IDS_PER_ADDRESS } from '../transport/api';
import { MINUTE_MS, FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import type { Failure } from '../transport/failure';
import type { ProcessedFact } from './readyDocument';
import { documentList } from './answeredRecords';
import { IDS_TO_START, fetchStatuses, processingEndOf, statusesById } from './processingStatus';
import type { ProcessingEnd, ProcessingRoutes, ProcessingStatus } from './processingStatus';

const REQUESTS_AT_ONCE = 5;

/**
 * The least time that a server takes per document, in milliseconds. Few documents are polled soon, many no more often
 * than the pause.
 */
const MIN_PAUSE_PER_DOCUMENT_MS = 250;

/** When documents are stored faster than small requests can start them, larger requests start more at a time. */
const MAX_IDS_TO_START = 100;
const MANY_TO_START = REQUESTS_AT_ONCE * MAX_IDS_TO_START;

/** After this long without progress, documents that an earlier run started count as stuck. */
const STALLED_MS = 5 * MINUTE_MS;

/**
 * Processes documents while others are still being stored. It starts them in small concurrent requests, so that the
 * server embeds some while it stores the next, and polls their statuses. It keeps only the ID of a document, and only
 * until its processing has ended.
 */
export class Processing {
	/** IDs of documents to be started. */
	private pending: string[] = [];
	/** Documents started and not ended, in the order of the requests: servers process them in this order. */
	private readonly started = new Set<string>();
	/**
	 * Of `started`, the documents that the server did not queue, with the status and progress last seen: they have
	 * ended, are running since an earlier run started them, or are unknown to it.
	 */
	private readonly notQueued = new Map<string, string>();
	/** Documents without a status when polled, which were started a second time. */
	private readonly restarted = new Set<string>();
	private allStarted = true;
	private readonly inFlight = new Set<Promise<void>>();
	private failure?: Failure;
	private routeWorked = false;
	/** The pause between polls while others are being stored; it grows when the server falls behind. */
	private pause = FIRST_PAUSE_MS;
	private nextPollAt?: number;
	/** When a document last ended, or one of an earlier run last progressed. */
	private lastProgressAt = 0;
	/** Facts since they were last given. */
	private facts: ProcessedFact[] = [];

	/** @param waitMs how long to wait for the end; `undefined` does not wait */
	constructor(
		private readonly routes: ProcessingRoutes,
		private readonly waitMs?: number,
	) {}

	/** The documents that have ended since they were last given, each once. */
	ended(): ProcessedFact[] {
		return this.facts.splice(0);
	}

	/** Adds a stored document. Processing starts once there are enough documents for a request. */
	add(id: string): void {
		this.pending.push(id);
		if (this.pending.length >= IDS_TO_START) this.startPending();
	}

	/** Starts the remaining documents, and waits until the server has answered. */
	async startRemaining(): Promise<void> {
		for (this.startPending(); this.pending.length > 0; this.startPending())
			await Promise.race(this.inFlight);
		// The answer to a start may have begun a poll.
		while (this.inFlight.size > 0) await Promise.all(this.inFlight);
	}

	/** Polls the statuses of documents if a poll is due; does not wait for the answer. */
	pollWhenDue(): void {
		const { now } = this.routes.clock;
		if (this.started.size < IDS_TO_START) return;
		this.nextPollAt ??= now() + this.pause;
		if (now() >= this.nextPollAt) this.track(this.pollWhileStoring());
	}

	/**
	 * Starts the remaining documents, and follows all until they have ended or the wait is over. Without a wait, only
	 * those that the server did not queue are polled.
	 */
	async *end(): AsyncGenerator<ProcessedFact[]> {
		const { clock, signal } = this.routes;
		const { waitMs } = this;
		await this.startRemaining();
		yield this.ended();
		const deadline = clock.now() + (waitMs ?? 0);
		let pause = Math.min(FIRST_PAUSE_MS, this.started.size * MIN_PAUSE_PER_DOCUMENT_MS);
		const isOver = () => waitMs !== undefined && clock.now() >= deadline;
		while (this.started.size > 0 && this.canContinue && !isOver()) {
			if (waitMs !== undefined) await clock.sleep(Math.min(pause, deadline - clock.now()), signal);
			// The last poll covers all documents, including those that the server has not reached.
			this.failure = (await this.poll(clock.now() >= deadline)) ?? (await this.giveUpStuck());
			await this.startRemaining();
			yield this.ended();
			pause = longerPause(pause);
		}
		for (const id of this.started)
			if (this.failure && this.notQueued.has(id)) this.reportNotStarted([id]);
			else this.report(id, { state: 'running' });
		yield this.ended();
	}

	/**
	 * How it ended: why the remaining documents could not be started or polled, and whether that is because this server
	 * has no route for processing; whether all were started; how many are still in process.
	 */
	get result() {
		const { failure, hasNoRoute, allStarted, started } = this;
		return { failure, hasNoRoute, allStarted, unfinished: failure ? 0 : started.size };
	}

	/** Whether this server has no route for processing. A route that has answered in this run exists. */
	private get hasNoRoute(): boolean {
		return this.failure?.missing === 'route' && !this.routeWorked;
	}

	private get canContinue(): boolean {
		return this.failure === undefined && !this.routes.signal?.aborted;
	}

	/** Starts documents while fewer than REQUESTS_AT_ONCE requests are in flight. */
	private startPending(): void {
		if (!this.canContinue) this.reportNotStarted(this.pending.splice(0));
		while (this.pending.length > 0 && this.inFlight.size < REQUESTS_AT_ONCE) {
			const size = this.pending.length > MANY_TO_START ? MAX_IDS_TO_START : IDS_TO_START;
			this.track(this.requestStart(this.pending.splice(0, size)));
		}
	}

	/** Lets a request run concurrently with others; starts further documents when it ends. */
	private track(request: Promise<void>): void {
		const work = request.finally(() => {
			this.inFlight.delete(work);
			if (this.pending.length >= IDS_TO_START) this.startPending();
		});
		this.inFlight.add(work);
	}

	private reportNotStarted(ids: string[]): void {
		const { failure, hasNoRoute } = this;
		this.allStarted &&= ids.length === 0;
		if (failure) for (const id of ids) this.report(id, { state: 'none', failure, hasNoRoute });
	}

	/** Starts documents. The server answers with those that it has queued. */
	private async requestStart(ids: string[]): Promise<void> {
		const { send, startPath: path } = this.routes;
		const body = JSON.stringify(ids);
		const outcome = await send({ method: 'POST', path, body, schema: documentList });
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
			else this.notQueued.set(id, '');
			if (isQueued && this.waitMs === undefined) this.report(id, { state: 'running' });
			else this.started.add(id);
		}
		this.pollWhenDue();
	}

	/** Polls while documents are still being stored, so that ended ones need not be kept. */
	private async pollWhileStoring(): Promise<void> {
		this.nextPollAt = Infinity;
		// A failure that persists is reported by the last poll.
		if (await this.poll()) return;
		this.nextPollAt = this.routes.clock.now() + this.pause;
	}

	/**
	 * Polls the oldest documents, and continues while the last ones polled have ended: servers process in order, so
	 * later ones have not ended either.
	 *
	 * @param all whether to poll all documents in any case
	 * @returns why the statuses could not be read
	 */
	private async poll(all = false): Promise<Failure | undefined> {
		for (const ids of chunk([...this.started], IDS_PER_ADDRESS)) {
			const { statuses, failure } = await fetchStatuses(ids, this.routes);
			if (failure || this.routes.signal?.aborted) return failure;
			for (const id of ids) this.recordStatus(id, statuses.get(id.toLowerCase()));
			const isFarEnough = ids.slice(-IDS_TO_START).every((id) => this.started.has(id));
			this.pause = isFarEnough ? longerPause(this.pause) : FIRST_PAUSE_MS;
			if (isFarEnough && !all) break;
		}
		return undefined;
	}

	/** Records the status of a document. One without a status is started once more. */
	private recordStatus(id: string, status: ProcessingStatus | undefined): void {
		const end = processingEndOf(status);
		if (end.state === 'running') return this.recordRunning(id, status);
		if (end.state !== 'none') {
			this.lastProgressAt = this.routes.clock.now();
			return this.reportEnd(id, end);
		}
		if (this.restarted.has(id))
			return this.reportEnd(id, { ...end, processMsg: status ? NOT_STARTED : NOT_KNOWN });
		this.restarted.add(id);
		for (const ids of [this.started, this.notQueued]) ids.delete(id);
		this.pending.push(id);
	}

	private recordRunning(id: string, status: ProcessingStatus | undefined): void {
		this.restarted.delete(id);
		if (this.waitMs === undefined) return this.reportEnd(id, { state: 'running' });
		const progress = `${status?.status} ${status?.progress}`;
		const seen = this.notQueued.get(id);
		if (seen === undefined || seen === progress) return;
		this.notQueued.set(id, progress);
		this.lastProgressAt = this.routes.clock.now();
	}

	/**
	 * Gives up documents that an earlier run started, once neither they nor any others progress: the server has lost
	 * them. While others end, they may be waiting in its queue.
	 */
	private async giveUpStuck(): Promise<Failure | undefined> {
		const { clock } = this.routes;
		const isStalled = () => clock.now() - this.lastProgressAt >= STALLED_MS;
		if (this.notQueued.size === 0 || !isStalled()) return undefined;
		const failure = await this.poll(true);
		if (failure || !isStalled()) return failure;
		for (const id of this.notQueued.keys()) this.reportEnd(id, { state: 'running', isStuck: true });
		return undefined;
	}

	private reportEnd(id: string, end: ProcessingEnd): void {
		for (const ids of [this.started, this.notQueued, this.restarted]) ids.delete(id);
		this.report(id, end);
	}

	private report(id: string, end: ProcessingEnd): void {
		this.facts.push({ outcome: 'processed', id, end });
	}
}

const NOT_KNOWN = 'the server does not know it in this knowledgebase';
const NOT_STARTED = 'the server did not begin, though it was asked to twice';
