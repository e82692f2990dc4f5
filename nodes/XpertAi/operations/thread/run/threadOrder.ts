import { forEachConcurrently } from '../../../execution/eachItem';
import { busy, executionStopped, stillBusy } from '../../../runs/result';
import type { RunResult } from '../../../runs/result';
import { remaining } from '../../../runs/run';
import type { Run, WaitLimits } from '../../../runs/run';

/** A place in the queue for a thread, among the executions of this process. */
export interface Turn {
	/** Whether it is first in the queue. */
	hasCome: boolean;
	/** Resolves when the turns before it have ended. */
	come: Promise<void>;
	/** Ends the turn and passes the thread on. */
	end: () => void;
}

/**
 * When the last turn of each thread with a queue has passed. Thread IDs are UUIDs: if two servers share one, their runs
 * only wait for each other.
 */
const lastTurns = new Map<string, Promise<void>>();

/** Joins the queue of a thread, in the order of the calls. The caller must end the turn. */
export function takeTurn(threadId: string): Turn {
	const before = lastTurns.get(threadId);
	let end!: () => void;
	const ended = new Promise<void>((resolve) => (end = resolve));
	const turn: Turn = { hasCome: before === undefined, come: Promise.resolve(before), end };
	// A turn that ends early keeps its place.
	const passed = turn.come.then(async () => {
		turn.hasCome = true;
		await ended;
		if (lastTurns.get(threadId) === passed) lastTurns.delete(threadId);
	});
	lastTurns.set(threadId, passed);
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
	await Promise.race([turn.come, clock.sleep(remaining(limits), stop)]);
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
	const byThread = new Map<string | number, number[]>();
	for (const [index, { threadId = index }] of work.entries()) {
		const indexes = byThread.get(threadId);
		if (indexes) indexes.push(index);
		else byThread.set(threadId, [index]);
	}
	// All turns are taken at once, so that two calls cannot wait for each other.
	const queues = [...byThread].map(([threadId, indexes]) => ({
		indexes,
		turn: typeof threadId === 'string' ? takeTurn(threadId) : undefined,
	}));
	const runQueue = async ({ indexes, turn }: (typeof queues)[number]) => {
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
