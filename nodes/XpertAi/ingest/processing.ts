import { chunk, clamp } from 'lodash';

import { IDS_PER_ADDRESS } from '../transport/api';
import { FIRST_PAUSE_MS, longerPause, MINUTE_MS } from '../transport/clock';
import type { Failure } from '../transport/failure';
import type { ProcessedFact } from './facts';
import { type KnowledgebaseRoutes, documentListAnswer } from './routes';
import { fetchStatuses, processingEndOf, type ProcessingStatus, statusesById } from './statuses';

const REQUESTS_AT_ONCE = 5;
const MAX_IDS_TO_START = 100;

/**
 * The method `end` waits this time per document before its first poll, at most FIRST_PAUSE_MS in total. A server needs
 * at least this time for a document.
 */
const MIN_PAUSE_PER_DOCUMENT_MS = 250;

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
	/** IDs of documents to poll, in the order in which they were started. Servers process them in this order. */
	private readonly started = new Set<string>();
	/**
	 * Documents that the server did not queue, for example because an earlier run started them. Maps IDs to the last
	 * status and progress.
	 */
	private readonly notQueued = new Map<string, string>();
	/**
	 * IDs of documents whose processing is requested a second time, because a poll showed the state `none`. Without the
	 * documents that were seen in process after that, because a server that restarts forgets its queue each time.
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
	/** Facts that `ended` has not returned yet. */
	private facts: ProcessedFact[] = [];

	/** @param waitMs maximum time to wait for the end of processing; if `undefined`, processing is only started */
	constructor(
		private readonly routes: Omit<KnowledgebaseRoutes, 'storePath'>,
		private readonly waitMs?: number,
	) {}

	/** Returns the facts that were added since the last call. */
	takeFacts(): ProcessedFact[] {
		return this.facts.splice(0);
	}

	/** Adds a stored document. Starts documents when there are enough for a full request. */
	add(id: string): void {
		this.pending.push(id);
		if (this.pending.length >= IDS_TO_START) this.startPending();
	}

	/** Starts the remaining documents, and waits until all requests have been answered. */
	async startRemaining(): Promise<void> {
		for (this.startPending(); this.pending.length > 0; this.startPending())
			await Promise.race(this.inFlight);
		// Repeats, because a request that ends may add a poll to `inFlight`.
		while (this.inFlight.size > 0) await Promise.all(this.inFlight);
	}

	/** Polls statuses if enough documents have been started and a poll is due. Does not wait for the answer. */
	pollWhenDue(): void {
		const { now } = this.routes.clock;
		if (this.started.size < IDS_TO_START) return;
		this.nextPollAt ??= now() + this.pause;
		if (now() < this.nextPollAt) return;
		this.nextPollAt = Infinity;
		// After a failure, `nextPollAt` stays Infinity, and only the method `end` sends polls.
		const work = this.poll().then((failure) => {
			if (!failure) this.nextPollAt = now() + this.pause;
		});
		this.track(work);
	}

	/**
	 * Starts the remaining documents. Polls until all processing has ended or `waitMs` is over. Without `waitMs`, polls
	 * only documents that the server did not queue, and does not wait for the end of their processing.
	 */
	async *pollUntilEnd(): AsyncGenerator<ProcessedFact[]> {
		const { clock, signal } = this.routes;
		const { waitMs } = this;
		await this.startRemaining();
		yield this.takeFacts();
		const deadline = waitMs === undefined ? Infinity : clock.now() + waitMs;
		let pause = Math.min(FIRST_PAUSE_MS, this.started.size * MIN_PAUSE_PER_DOCUMENT_MS);
		while (this.started.size > 0 && this.canContinue && clock.now() < deadline) {
			if (waitMs !== undefined) await clock.sleep(Math.min(pause, deadline - clock.now()), signal);
			// Polls all documents if nothing progressed, or if this is the last poll.
			const wasStalled = this.isStalled;
			this.failure = await this.poll(wasStalled || clock.now() >= deadline);
			// Documents in `notQueued` are stuck if this poll still shows no progress. While other documents end, the
			// documents in `notQueued` may still wait in the queue of the server.
			const isStuck = wasStalled && this.isStalled && !this.failure;
			for (const id of isStuck ? this.notQueued.keys() : [])
				this.reportEnd(id, { state: 'running', isStuck });
			await this.startRemaining();
			yield this.takeFacts();
			pause = longerPause(pause);
		}
		// A document that the server did not queue, and that no poll has shown, may not be in process at all.
		for (const id of this.started)
			if (this.failure && this.notQueued.get(id) === '') this.reportNotStarted([id]);
			else this.report(id, { state: 'running' });
		yield this.takeFacts();
	}

	/**
	 * How processing ended.
	 * `failure`: why documents could not be started or polled.
	 * `allStarted`: false if the processing of a document could not be started.
	 * `unfinished`: number of documents whose processing has not ended. 0 after a failure.
	 */
	get result() {
		const { allStarted, failure, hasNoRoute, started } = this;
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
	 * Starts pending documents, with up to REQUESTS_AT_ONCE requests at once. After a failure, reports them as not
	 * started.
	 */
	private startPending(): void {
		if (!this.canContinue) this.reportNotStarted(this.pending.splice(0));
		// If many documents are pending, divides them evenly among the requests.
		const size = clamp(this.pending.length / REQUESTS_AT_ONCE, IDS_TO_START, MAX_IDS_TO_START);
		while (this.pending.length > 0 && this.inFlight.size < REQUESTS_AT_ONCE)
			this.track(this.requestStart(this.pending.splice(0, size)));
	}

	/** Keeps a request in `inFlight` until it ends. After that, starts pending documents if they fill a request. */
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

	/** Starts documents. The server answers with the documents that it has queued. */
	private async requestStart(ids: string[]): Promise<void> {
		const { send, startPath: path } = this.routes;
		const body = JSON.stringify(ids);
		const outcome = await send({ method: 'POST', path, body, schema: documentListAnswer() });
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

	/**
	 * Polls documents in groups, oldest first. Stops after a group whose last documents are all unfinished, because
	 * servers process documents in order.
	 *
	 * @param all whether to poll all groups
	 * @returns the failure of a poll, if any
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

	/** Records the status of a document. If the state is `none`, starts the document again, but not twice in a row. */
	private recordStatus(id: string, status: ProcessingStatus | undefined): void {
		const { notQueued, restarted, started } = this;
		const end = processingEndOf(status);
		if (end.state === 'none' && !restarted.has(id)) {
			for (const ids of [started, notQueued]) ids.delete(id);
			restarted.add(id);
			this.pending.push(id);
			return;
		}
		if (end.state === 'running') restarted.delete(id);
		if (end.state === 'running' && this.waitMs !== undefined) {
			const progress = `${status?.status} ${status?.progress}`;
			if ((notQueued.get(id) ?? progress) === progress) return;
			notQueued.set(id, progress);
		} else {
			const processMsg = status ? NOT_STARTED : UNKNOWN_DOCUMENT;
			this.reportEnd(id, end.state === 'none' ? { ...end, processMsg } : end);
		}
		this.lastProgressAt = this.routes.clock.now();
	}

	private get isStalled(): boolean {
		return this.notQueued.size > 0 && this.routes.clock.now() - this.lastProgressAt >= STALLED_MS;
	}

	private reportEnd(id: string, end: ProcessedFact['end']): void {
		for (const ids of [this.started, this.notQueued, this.restarted]) ids.delete(id);
		this.report(id, end);
	}

	private report(id: string, end: ProcessedFact['end']): void {
		this.facts.push({ outcome: 'processed', id, end });
	}
}

const UNKNOWN_DOCUMENT = 'the server does not know it in this knowledgebase';
const NOT_STARTED = 'the server did not begin, though it was asked to twice';

/**
 * Number of documents in one request to start processing. If many documents wait, `Processing` sends larger requests.
 * Servers process several requests in parallel, but the documents of one request in sequence. So several small requests
 * end sooner than a large one.
 */
export const IDS_TO_START = 10;
