import { busy, executionStopped, stillBusy } from '../../../runs/result';
import type { RunResult } from '../../../runs/result';
import { remaining } from '../../../runs/run';
import type { Run, WaitLimits } from '../../../runs/run';
import { forEachConcurrently } from '../../../execution/eachItem';

/** A place in the queue for a thread, among the executions of this process. */
export class Turn {
	/** Whether it is first in the queue. */
	hasCome: boolean;

	private hasEnded = false;
	private next?: Turn;
	/** Callbacks for when it comes first; most turns do so at once. */
	private waiters?: Array<() => void>;

	constructor(
		private readonly threadId: string,
		before: Turn | undefined,
	) {
		this.hasCome = !before;
		if (before) before.next = this;
	}

	/** Resolves when the turns before it have ended. */
	async come(): Promise<void> {
		if (!this.hasCome) await new Promise<void>((resolve) => (this.waiters ??= []).push(resolve));
	}

	/** Ends the turn and passes the thread on. */
	end(): void {
		this.hasEnded = true;
		let turn = this.hasCome ? this.leave() : undefined;
		while (turn) {
			turn.hasCome = true;
			for (const resolve of turn.waiters ?? []) resolve();
			// A turn that ended early kept its place until now.
			turn = turn.hasEnded ? turn.leave() : undefined;
		}
	}

	/** Leaves the queue. @returns the next turn */
	private leave(): Turn | undefined {
		const { next } = this;
		this.next = undefined;
		if (lastTurns.get(this.threadId) === this) lastTurns.delete(this.threadId);
		return next;
	}
}

/**
 * The last turn of each thread with a queue. Thread IDs are UUIDs: if two servers share one, their runs only wait for
 * each other.
 */
const lastTurns = new Map<string, Turn>();

/** Joins the queue of a thread, in the order of the calls. The caller must end the turn. */
export function takeTurn(threadId: string): Turn {
	const turn = new Turn(threadId, lastTurns.get(threadId));
	lastTurns.set(threadId, turn);
	return turn;
}

/**
 * Waits for a turn, until the deadline or the stop of the execution.
 *
 * @returns undefined if the run may start, otherwise why not
 */
export async function untilTurn(
	turn: Turn,
	limits: WaitLimits,
	whenBusy: Run['whenBusy'],
): Promise<RunResult | undefined> {
	if (turn.hasCome || whenBusy === 'run') return undefined;
	if (whenBusy === 'fail') return busy();
	const { clock, signal } = limits;
	const done = new AbortController();
	const stop = signal ? AbortSignal.any([signal, done.signal]) : done.signal;
	await Promise.race([turn.come(), clock.sleep(remaining(limits), stop)]);
	done.abort();
	if (signal?.aborted) return executionStopped();
	return turn.hasCome ? undefined : stillBusy();
}

/** Work on a thread. */
export interface ThreadWork<Result> {
	/** Work with the same ID runs one after another, in order; work without one runs by itself. */
	threadId?: string;
	/** Starts the work; its turn on the thread may still have to come. */
	run: (turn?: Turn) => Promise<Result>;
}

/**
 * Runs work on different threads at once, and work on the same thread one after another: two runs at once on one thread
 * lose messages or are refused (service behaviour, E4). The queues are shared with all other calls in this process.
 *
 * @param concurrency threads at once
 * @param goOn checked before each work starts
 * @returns the results in the order of the work; `undefined` for work that did not start
 */
export async function inThreadOrder<Result>(
	work: Array<ThreadWork<Result>>,
	concurrency: number,
	goOn: () => boolean,
): Promise<Array<Result | undefined>> {
	const results: Array<Result | undefined> = work.map(() => undefined);
	const queues = queuesOf(work);
	const runQueue = async ({ indexes, turn }: Queue) => {
		for (const index of indexes) {
			if (!goOn()) break;
			results[index] = await work[index]?.run(turn);
		}
		turn?.end();
	};
	try {
		await forEachConcurrently(queues, concurrency, runQueue, goOn);
	} finally {
		for (const { turn } of queues) turn?.end();
	}
	return results;
}

/** Indexes of work that runs one after another. */
interface Queue {
	indexes: number[];
	turn?: Turn;
}

/** Groups the work by thread. Takes all turns at once, so that two calls cannot wait for each other. */
function queuesOf(work: Array<ThreadWork<unknown>>): Queue[] {
	const queues: Queue[] = [];
	const byThread = new Map<string, Queue>();
	for (const [index, { threadId }] of work.entries()) {
		const same = threadId === undefined ? undefined : byThread.get(threadId);
		if (same) {
			same.indexes.push(index);
			continue;
		}
		const queue = {
			indexes: [index],
			turn: threadId === undefined ? undefined : takeTurn(threadId),
		};
		queues.push(queue);
		if (threadId !== undefined) byThread.set(threadId, queue);
	}
	return queues;
}
