import { IDS_PER_ADDRESS } from '../transport/api';
import { MINUTE_MS, FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import type { Failure } from '../transport/failure';
import { isRouteMissing } from '../transport/classifyFailure';
import { mustListDocuments } from './answeredRecords';
import { IDS_TO_START, askStatuses, processingEndOf, statusesById } from './processingStatus';
import type { ProcessingEnd, ProcessingRoutes, ProcessingStatus } from './processingStatus';

const REQUESTS_AT_ONCE = 5;

/** A server takes at least so long for a document, in milliseconds: a few are looked at soon, many not more often. */
const MIN_PAUSE_PER_DOCUMENT_MS = 250;

/** Where documents are stored faster than small requests start them, larger ones keep the server as busy, and start more. */
const MAX_IDS_TO_START = 100;
const MANY_TO_START = REQUESTS_AT_ONCE * MAX_IDS_TO_START;

/** After so long without any sign of work, what an earlier run has started is taken for lost. */
const STALLED_MS = 5 * MINUTE_MS;

/** Who follows the processing, and for how long. */
export interface ProcessingWait {
	/** How long to wait for the end, in milliseconds; not at all without it. */
	waitMs?: number;
	/** Told each document once, as soon as nothing more is to be learned of it. */
	onEnd: (id: string, end: ProcessingEnd) => void;
}

/** What is said of the documents together. */
export interface ProcessingResult {
	/** What kept the rest from being started, or from being followed. */
	failure?: Failure;
	/** Whether the failure is that this server has no route to process. */
	hasNoRoute: boolean;
	/** Whether all documents were started. */
	allStarted: boolean;
	/** Documents that were still being processed when the wait ended. */
	unfinished: number;
}

/**
 * Processes documents while others are still being stored: starts them in small requests, a few at once, so that
 * the server embeds some while it stores the next, and looks how far it has come. Of a document only the id is
 * kept, and only until it has ended.
 */
export class Processing {
	/** To be started. */
	private pending: string[] = [];
	/** Started and not ended, in the order the server was asked, which is the order in which it works. */
	private readonly started = new Set<string>();
	/** Those of them that the server did not queue: they ended, run already, or are not known to it. */
	private readonly notQueued = new Set<string>();
	/** Those of them that an earlier run has started, with what was last seen of each. */
	private readonly startedEarlier = new Map<string, string>();
	/** Those that had no status when looked at, and were asked for once more since. */
	private readonly restarted = new Set<string>();
	private readonly notStarted: string[] = [];
	private allStarted = true;
	private readonly inFlight = new Set<Promise<void>>();
	private failure?: Failure;
	/** Whether the route has worked in this run: it is there, whatever is said of it afterwards. */
	private routeWorked = false;
	/** Until the next look while others are being stored: the longer, the less the server keeps up. */
	private pause = FIRST_PAUSE_MS;
	private nextPollAt?: number;
	/** When a document was last seen to have ended or, of those of an earlier run, to have come further. */
	private lastProgressAt = 0;

	constructor(
		private readonly routes: ProcessingRoutes,
		private readonly wait: ProcessingWait,
	) {}

	/** Adds a document that is stored; it is started as soon as there are enough for a request. */
	add(id: string): void {
		this.pending.push(id);
		if (this.pending.length >= IDS_TO_START) this.startWaiting();
	}

	/** Starts the rest, and waits until the server has answered. */
	async startRemaining(): Promise<void> {
		for (this.startWaiting(); this.pending.length > 0; this.startWaiting())
			await Promise.race(this.inFlight);
		// A look may have begun when a start was answered.
		while (this.inFlight.size > 0) await Promise.all(this.inFlight);
	}

	/** Looks how far documents have come, where it is time to; does not wait for the answer. */
	pollWhenDue(): void {
		const { now } = this.routes.clock;
		if (this.started.size < IDS_TO_START) return;
		this.nextPollAt ??= now() + this.pause;
		if (now() >= this.nextPollAt) this.track(this.pollWhileStoring());
	}

	/** Starts the rest and follows all to their end, or for as long as is to be waited. */
	async end(): Promise<ProcessingResult> {
		await this.startRemaining();
		const { waitMs, onEnd } = this.wait;
		const failure =
			this.failure ?? (waitMs === undefined ? await this.pollUntilStarted() : await this.waitForEnd(waitMs));
		const hasNoRoute = failure !== undefined && isRouteMissing(failure) && !this.routeWorked;
		for (const id of this.started) {
			if (failure && this.notQueued.has(id)) this.notStarted.push(id);
			else onEnd(id, { state: 'running' });
		}
		const allStarted = this.allStarted && this.notStarted.length === 0;
		if (failure) this.reportNotStarted(failure, hasNoRoute);
		const unfinished = failure ? 0 : this.started.size;
		return { failure, hasNoRoute, allStarted, unfinished };
	}

	private get canContinue(): boolean {
		return this.failure === undefined && !this.routes.signal?.aborted;
	}

	/** Starts documents as long as further requests may go at once. */
	private startWaiting(): void {
		if (!this.canContinue) this.abandon(this.pending.splice(0));
		while (this.pending.length > 0 && this.inFlight.size < REQUESTS_AT_ONCE) {
			const size = this.pending.length > MANY_TO_START ? MAX_IDS_TO_START : IDS_TO_START;
			this.track(this.start(this.pending.splice(0, size)));
		}
	}

	/** Has a request answered beside others, and goes on starting when it is. */
	private track(request: Promise<void>): void {
		const work = request.finally(() => {
			this.inFlight.delete(work);
			if (this.pending.length >= IDS_TO_START) this.startWaiting();
		});
		this.inFlight.add(work);
	}

	/** Notes what is not started any more. Whether the server has the route at all is known only at the end. */
	private abandon(ids: string[]): void {
		for (const id of ids) this.notStarted.push(id);
		const { failure } = this;
		if (failure && !isRouteMissing(failure)) this.reportNotStarted(failure, false);
	}

	private reportNotStarted(failure: Failure, hasNoRoute: boolean): void {
		const ids = this.notStarted.splice(0);
		this.allStarted &&= ids.length === 0;
		for (const id of ids) this.wait.onEnd(id, { state: 'none', failure, hasNoRoute });
	}

	/** The server answers with what it has queued. */
	private async start(ids: string[]): Promise<void> {
		const { send, startPath: path } = this.routes;
		const body = JSON.stringify(ids);
		const outcome = await send({ method: 'POST', path, body, checkAnswer: mustListDocuments });
		if (!outcome.ok) {
			this.failure ??= outcome.failure;
			return this.abandon(ids);
		}
		this.routeWorked = true;
		const queued = statusesById(outcome.answer);
		const { waitMs, onEnd } = this.wait;
		for (const id of ids) {
			const isQueued = queued.has(id.toLowerCase());
			if (isQueued) this.notQueued.delete(id);
			else this.notQueued.add(id);
			if (isQueued && waitMs === undefined) onEnd(id, { state: 'running' });
			else this.started.add(id);
		}
		this.pollWhenDue();
	}

	/** Looks while documents are still being stored, so that those that have ended need not be kept. */
	private async pollWhileStoring(): Promise<void> {
		this.nextPollAt = Infinity;
		// What keeps it from looking is told at the end, if it is there then.
		if (await this.poll()) return;
		this.nextPollAt = this.routes.clock.now() + this.pause;
	}

	/** Where nobody waits: looks at what was not queued, and once more at what was asked for again. */
	private async pollUntilStarted(): Promise<Failure | undefined> {
		let failure: Failure | undefined;
		while (!failure && this.started.size > 0 && this.canContinue) {
			failure = await this.poll(true);
			await this.startRemaining();
		}
		return failure ?? this.failure;
	}

	private async waitForEnd(waitMs: number): Promise<Failure | undefined> {
		const { clock, signal } = this.routes;
		const deadline = clock.now() + waitMs;
		const firstPause = Math.min(FIRST_PAUSE_MS, this.started.size * MIN_PAUSE_PER_DOCUMENT_MS);
		for (let pause = firstPause; this.started.size > 0; pause = longerPause(pause)) {
			const left = deadline - clock.now();
			if (left <= 0 || signal?.aborted) return undefined;
			await clock.sleep(Math.min(pause, left), signal);
			// The last look shows all, also what the server has not come to.
			const failure = (await this.poll(clock.now() >= deadline)) ?? (await this.giveUpStuck());
			await this.startRemaining();
			if (failure ?? this.failure) return failure ?? this.failure;
		}
		return undefined;
	}

	/**
	 * Asks where the oldest stand, and goes on as long as the last asked for have ended: what comes after them in
	 * the order of the server has not.
	 *
	 * @param all whether to ask for all in any case
	 * @returns what kept it from asking
	 */
	private async poll(all = false): Promise<Failure | undefined> {
		let ids: string[] = [];
		let left = this.started.size;
		for (const oldest of this.started) {
			ids.push(oldest);
			if (--left > 0 && ids.length < IDS_PER_ADDRESS) continue;
			const { statuses, failure } = await askStatuses(ids, this.routes);
			if (failure || this.routes.signal?.aborted) return failure;
			for (const id of ids) this.recordStatus(id, statuses.get(id));
			const isFarEnough = ids.slice(-IDS_TO_START).every((id) => this.started.has(id));
			this.pause = isFarEnough ? longerPause(this.pause) : FIRST_PAUSE_MS;
			if (left <= 0 || (isFarEnough && !all)) return undefined;
			ids = [];
		}
		return undefined;
	}

	/** Notes where a document stands; one that has no status is asked for once more. */
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
		this.started.delete(id);
		this.pending.push(id);
	}

	private recordRunning(id: string, status: ProcessingStatus | undefined): void {
		this.restarted.delete(id);
		if (this.wait.waitMs === undefined) return this.reportEnd(id, { state: 'running' });
		if (!this.notQueued.has(id)) return;
		const seen = `${status?.status} ${status?.progress}`;
		if (this.startedEarlier.get(id) === seen) return;
		this.startedEarlier.set(id, seen);
		this.lastProgressAt = this.routes.clock.now();
	}

	/**
	 * Gives up what an earlier run has started once nothing moves, of these or of all others: the server has lost
	 * it. As long as others end, it may be waiting behind them.
	 */
	private async giveUpStuck(): Promise<Failure | undefined> {
		const { clock } = this.routes;
		const isStalled = () => clock.now() - this.lastProgressAt >= STALLED_MS;
		if (this.startedEarlier.size === 0 || !isStalled()) return undefined;
		const failure = await this.poll(true);
		if (failure || !isStalled()) return failure;
		for (const id of this.startedEarlier.keys()) this.reportEnd(id, { state: 'running', isStuck: true });
		return undefined;
	}

	private reportEnd(id: string, end: ProcessingEnd): void {
		for (const ids of [this.started, this.notQueued, this.startedEarlier, this.restarted]) ids.delete(id);
		this.wait.onEnd(id, end);
	}
}

const NOT_KNOWN = 'the server does not know it in this knowledgebase';
const NOT_STARTED = 'the server did not begin, though it was asked to twice';
