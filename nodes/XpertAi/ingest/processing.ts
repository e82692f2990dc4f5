import { IDS_PER_ADDRESS } from '../transport/api';
import { MINUTE_MS, FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import type { Failure } from '../transport/failure';
import { isRouteMissing } from '../transport/classifyFailure';
import { mustListDocuments } from './answeredRecords';
import { IDS_TO_START, askStatuses, processingEndOf, statusesById } from './processingStatus';
import type { ProcessingEnd, ProcessingRoutes, ProcessingStatus } from './processingStatus';

const REQUESTS_AT_ONCE = 5;

/** A server takes at least so long for a document, in milliseconds: a few are looked at soon, many not more often. */
const LEAST_EACH_MS = 250;

/** Where documents are stored faster than small requests start them, larger ones keep the server as busy, and start more. */
const MOST_IDS_TO_START = 100;
const MANY_TO_START = REQUESTS_AT_ONCE * MOST_IDS_TO_START;

/** After so long without any sign of work, what an earlier run has started is taken for lost. */
const STILL_MS = 5 * MINUTE_MS;

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
	private waiting: string[] = [];
	/** Started and not ended, in the order the server was asked, which is the order in which it works. */
	private readonly open = new Set<string>();
	/** Those of them that the server did not queue: they ended, run already, or are not known to it. */
	private readonly leftOut = new Set<string>();
	/** Those of them that an earlier run has started, with what was last seen of each. */
	private readonly earlier = new Map<string, string>();
	/** Those that had no status when looked at, and were asked for once more since. */
	private readonly askedAgain = new Set<string>();
	private readonly notStarted: string[] = [];
	private allStarted = true;
	private readonly underWay = new Set<Promise<void>>();
	private failure?: Failure;
	/** Whether the route has worked in this run: it is there, whatever is said of it afterwards. */
	private hasWorked = false;
	/** Until the next look while others are being stored: the longer, the less the server keeps up. */
	private pause = FIRST_PAUSE_MS;
	private lookAt?: number;
	/** When a document was last seen to have ended or, of those of an earlier run, to have come further. */
	private movedAt = 0;

	constructor(
		private readonly routes: ProcessingRoutes,
		private readonly following: ProcessingWait,
	) {}

	/** Adds a document that is stored; it is started as soon as there are enough for a request. */
	add(id: string): void {
		this.waiting.push(id);
		if (this.waiting.length >= IDS_TO_START) this.startWaiting();
	}

	/** Starts the rest, and waits until the server has answered. */
	async startRest(): Promise<void> {
		for (this.startWaiting(); this.waiting.length > 0; this.startWaiting())
			await Promise.race(this.underWay);
		// A look may have begun when a start was answered.
		while (this.underWay.size > 0) await Promise.all(this.underWay);
	}

	/** Looks how far documents have come, where it is time to; does not wait for the answer. */
	lookWhenDue(): void {
		const { now } = this.routes.clock;
		if (this.open.size < IDS_TO_START) return;
		this.lookAt ??= now() + this.pause;
		if (now() >= this.lookAt) this.have(this.lookMeanwhile());
	}

	/** Starts the rest and follows all to their end, or for as long as is to be waited. */
	async end(): Promise<ProcessingResult> {
		await this.startRest();
		const { waitMs, onEnd } = this.following;
		const failure =
			this.failure ?? (waitMs === undefined ? await this.lookOnce() : await this.follow(waitMs));
		const hasNoRoute = failure !== undefined && isRouteMissing(failure) && !this.hasWorked;
		for (const id of this.open) {
			if (failure && this.leftOut.has(id)) this.notStarted.push(id);
			else onEnd(id, { word: 'running' });
		}
		const allStarted = this.allStarted && this.notStarted.length === 0;
		if (failure) this.tellNotStarted(failure, hasNoRoute);
		const unfinished = failure ? 0 : this.open.size;
		return { failure, hasNoRoute, allStarted, unfinished };
	}

	private get goesOn(): boolean {
		return this.failure === undefined && !this.routes.signal?.aborted;
	}

	/** Starts documents as long as further requests may go at once. */
	private startWaiting(): void {
		if (!this.goesOn) this.leave(this.waiting.splice(0));
		while (this.waiting.length > 0 && this.underWay.size < REQUESTS_AT_ONCE) {
			const size = this.waiting.length > MANY_TO_START ? MOST_IDS_TO_START : IDS_TO_START;
			this.have(this.start(this.waiting.splice(0, size)));
		}
	}

	/** Has a request answered beside others, and goes on starting when it is. */
	private have(request: Promise<void>): void {
		const work = request.finally(() => {
			this.underWay.delete(work);
			if (this.waiting.length >= IDS_TO_START) this.startWaiting();
		});
		this.underWay.add(work);
	}

	/** Notes what is not started any more. Whether the server has the route at all is known only at the end. */
	private leave(ids: string[]): void {
		for (const id of ids) this.notStarted.push(id);
		const { failure } = this;
		if (failure && !isRouteMissing(failure)) this.tellNotStarted(failure, false);
	}

	private tellNotStarted(failure: Failure, hasNoRoute: boolean): void {
		const ids = this.notStarted.splice(0);
		this.allStarted &&= ids.length === 0;
		for (const id of ids) this.following.onEnd(id, { word: 'none', failure, hasNoRoute });
	}

	/** The server answers with what it has queued. */
	private async start(ids: string[]): Promise<void> {
		const { send, startPath: path } = this.routes;
		const body = JSON.stringify(ids);
		const outcome = await send({ method: 'POST', path, body, checkAnswer: mustListDocuments });
		if (!outcome.ok) {
			this.failure ??= outcome.failure;
			return this.leave(ids);
		}
		this.hasWorked = true;
		const queued = statusesById(outcome.answer);
		const { waitMs, onEnd } = this.following;
		for (const id of ids) {
			const isQueued = queued.has(id.toLowerCase());
			if (isQueued) this.leftOut.delete(id);
			else this.leftOut.add(id);
			if (isQueued && waitMs === undefined) onEnd(id, { word: 'running' });
			else this.open.add(id);
		}
		this.lookWhenDue();
	}

	/** Looks while documents are still being stored, so that those that have ended need not be kept. */
	private async lookMeanwhile(): Promise<void> {
		this.lookAt = Infinity;
		// What keeps it from looking is told at the end, if it is there then.
		if (await this.look()) return;
		this.lookAt = this.routes.clock.now() + this.pause;
	}

	/** Where nobody waits: looks at what was not queued, and once more at what was asked for again. */
	private async lookOnce(): Promise<Failure | undefined> {
		let failure: Failure | undefined;
		while (!failure && this.open.size > 0 && this.goesOn) {
			failure = await this.look(true);
			await this.startRest();
		}
		return failure ?? this.failure;
	}

	private async follow(waitMs: number): Promise<Failure | undefined> {
		const { clock, signal } = this.routes;
		const deadline = clock.now() + waitMs;
		const soon = Math.min(FIRST_PAUSE_MS, this.open.size * LEAST_EACH_MS);
		for (let pause = soon; this.open.size > 0; pause = longerPause(pause)) {
			const left = deadline - clock.now();
			if (left <= 0 || signal?.aborted) return undefined;
			await clock.sleep(Math.min(pause, left), signal);
			// The last look shows all, also what the server has not come to.
			const failure = (await this.look(clock.now() >= deadline)) ?? (await this.giveUpStuck());
			await this.startRest();
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
	private async look(all = false): Promise<Failure | undefined> {
		let ids: string[] = [];
		let left = this.open.size;
		for (const oldest of this.open) {
			ids.push(oldest);
			if (--left > 0 && ids.length < IDS_PER_ADDRESS) continue;
			const { statuses, failure } = await askStatuses(ids, this.routes);
			if (failure || this.routes.signal?.aborted) return failure;
			for (const id of ids) this.note(id, statuses.get(id));
			const isFarEnough = ids.slice(-IDS_TO_START).every((id) => this.open.has(id));
			this.pause = isFarEnough ? longerPause(this.pause) : FIRST_PAUSE_MS;
			if (left <= 0 || (isFarEnough && !all)) return undefined;
			ids = [];
		}
		return undefined;
	}

	/** Notes where a document stands; one that has no status is asked for once more. */
	private note(id: string, status: ProcessingStatus | undefined): void {
		const said = processingEndOf(status);
		if (said.word === 'running') return this.noteRunning(id, status);
		if (said.word !== 'none') {
			this.movedAt = this.routes.clock.now();
			return this.tell(id, said);
		}
		if (this.askedAgain.has(id))
			return this.tell(id, { ...said, processMsg: status ? NOT_BEGUN : NOT_KNOWN });
		this.askedAgain.add(id);
		this.open.delete(id);
		this.waiting.push(id);
	}

	private noteRunning(id: string, status: ProcessingStatus | undefined): void {
		this.askedAgain.delete(id);
		if (this.following.waitMs === undefined) return this.tell(id, { word: 'running' });
		if (!this.leftOut.has(id)) return;
		const seen = `${status?.status} ${status?.progress}`;
		if (this.earlier.get(id) === seen) return;
		this.earlier.set(id, seen);
		this.movedAt = this.routes.clock.now();
	}

	/**
	 * Gives up what an earlier run has started once nothing moves, of these or of all others: the server has lost
	 * it. As long as others end, it may be waiting behind them.
	 */
	private async giveUpStuck(): Promise<Failure | undefined> {
		const { clock } = this.routes;
		const isStill = () => clock.now() - this.movedAt >= STILL_MS;
		if (this.earlier.size === 0 || !isStill()) return undefined;
		const failure = await this.look(true);
		if (failure || !isStill()) return failure;
		for (const id of this.earlier.keys()) this.tell(id, { word: 'running', isStuck: true });
		return undefined;
	}

	private tell(id: string, end: ProcessingEnd): void {
		for (const ids of [this.open, this.leftOut, this.earlier, this.askedAgain]) ids.delete(id);
		this.following.onEnd(id, end);
	}
}

const NOT_KNOWN = 'the server does not know it in this knowledgebase';
const NOT_BEGUN = 'the server did not begin, though it was asked to twice';
