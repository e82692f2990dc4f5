import { busy, executionStopped, stillBusy } from '../../../runs/result';
import type { RunResult } from '../../../runs/result';
import { remaining } from '../../../runs/run';
import type { Run, WaitLimits } from '../../../runs/run';
import { forEachConcurrently } from '../../../execution/eachItem';

/** The place of an execution among those of this process that run one thread. */
export class Turn {
	/** Whether it has come. */
	hasCome: boolean;

	private hasEnded = false;
	private next?: Turn;
	/** Told when it has come, where somebody waits for that: most have come from the start. */
	private toTell?: Array<() => void>;

	constructor(
		private readonly threadId: string,
		before: Turn | undefined,
	) {
		this.hasCome = !before;
		if (before) before.next = this;
	}

	/** Resolves when those before it are through with the thread. */
	async come(): Promise<void> {
		if (!this.hasCome) await new Promise<void>((resolve) => (this.toTell ??= []).push(resolve));
	}

	/** Gives the thread to the next, once it has come. */
	end(): void {
		this.hasEnded = true;
		let turn = this.hasCome ? this.through() : undefined;
		while (turn) {
			turn.hasCome = true;
			for (const tell of turn.toTell ?? []) tell();
			// Whoever gave up before its turn has kept its place in the line until now.
			turn = turn.hasEnded ? turn.through() : undefined;
		}
	}

	/** Leaves the line, to the next. */
	private through(): Turn | undefined {
		const { next } = this;
		this.next = undefined;
		if (lastOn.get(this.threadId) === this) lastOn.delete(this.threadId);
		return next;
	}
}

/**
 * The last turn on each thread, as long as there is one; nothing of threads that nobody runs.
 * Ids of threads are UUIDs: where two servers have the same one, their runs only wait for each other.
 */
const lastOn = new Map<string, Turn>();

/** Takes the next place on a thread, in the order of the calls. Whoever takes one ends it. */
export function takeTurn(threadId: string): Turn {
	const turn = new Turn(threadId, lastOn.get(threadId));
	lastOn.set(threadId, turn);
	return turn;
}

/**
 * Waits for a turn, not beyond the deadline and not once the execution is stopped.
 *
 * @returns nothing when the run may begin, or why it does not
 */
export async function untilTurn(
	turn: Turn,
	inTime: WaitLimits,
	whenBusy: Run['whenBusy'],
): Promise<RunResult | undefined> {
	if (turn.hasCome || whenBusy === 'run') return undefined;
	if (whenBusy === 'fail') return busy();
	const { clock, signal } = inTime;
	const over = new AbortController();
	const either = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
	await Promise.race([turn.come(), clock.sleep(remaining(inTime), either)]);
	over.abort();
	if (signal?.aborted) return executionStopped();
	return turn.hasCome ? undefined : stillBusy();
}

/** A piece of work that belongs to a thread. */
export interface ThreadWork<Result> {
	/** Work with the same key runs one after another, in order; work without one is on its own. */
	threadId?: string;
	/** Begins with its turn on the thread, which may have yet to come. */
	run: (turn?: Turn) => Promise<Result>;
}

/**
 * Runs work on different threads side by side and on the same thread one after another, because two
 * runs at once on one thread lose messages or are refused (service behaviour, E4). So it is with the work
 * of other calls in this process: each thread is theirs in the order of the calls.
 *
 * @param concurrency threads at once
 * @param goOn asked before each piece of work starts
 * @returns the results in the order of the work; `undefined` for work that did not start
 */
export async function inThreadOrder<Result>(
	work: Array<ThreadWork<Result>>,
	concurrency: number,
	goOn: () => boolean,
): Promise<Array<Result | undefined>> {
	const results: Array<Result | undefined> = work.map(() => undefined);
	const lanes = lanesOf(work);
	const runLane = async ({ indexes, turn }: Lane) => {
		for (const index of indexes) {
			if (!goOn()) break;
			results[index] = await work[index]?.run(turn);
		}
		turn?.end();
	};
	try {
		await forEachConcurrently(lanes, concurrency, runLane, goOn);
	} finally {
		for (const { turn } of lanes) turn?.end();
	}
	return results;
}

/** Pieces of work that run one after another, by their place. */
interface Lane {
	indexes: number[];
	turn?: Turn;
}

/** The lane of each thread, and one for each piece on its own. All places are taken at once, so that no two calls wait for each other. */
function lanesOf(work: Array<ThreadWork<unknown>>): Lane[] {
	const lanes: Lane[] = [];
	const byThread = new Map<string, Lane>();
	for (const [index, { threadId }] of work.entries()) {
		const same = threadId === undefined ? undefined : byThread.get(threadId);
		if (same) {
			same.indexes.push(index);
			continue;
		}
		const lane = {
			indexes: [index],
			turn: threadId === undefined ? undefined : takeTurn(threadId),
		};
		lanes.push(lane);
		if (threadId !== undefined) byThread.set(threadId, lane);
	}
	return lanes;
}
