import { type Client, waitAtMost } from './client';
import { busy, executionStopped, stillBusy } from './result';
import type { Run } from './run';

/**
 * A place in the queue of a thread. All executions in this process share the queue.
 *
 * - `isReached`: whether the turn has reached the head of the queue
 * - `reached`: resolves when the turn reaches the head of the queue
 * - `end`: removes the turn from the queue
 */
export type Turn = ReturnType<typeof takeTurn>;

/** For each thread ID: a promise that resolves when the last turn in the queue has ended. */
const lastTurns = new Map<string, Promise<void>>();

/** Appends a turn to the queue of a thread. The caller must call `end` on the turn. */
export function takeTurn(threadId: string) {
	const before = lastTurns.get(threadId);
	let end!: () => void;
	const ended = new Promise<void>((resolve) => (end = resolve));
	const turn = { isReached: before === undefined, reached: Promise.resolve(before), end };
	// The next turn must wait for all earlier turns, even if this turn ends before it reaches the head of the queue.
	const passed = turn.reached.then(async () => {
		turn.isReached = true;
		await ended;
		if (lastTurns.get(threadId) === passed) lastTurns.delete(threadId);
	});
	lastTurns.set(threadId, passed);
	return turn;
}

/**
 * Waits for a turn, if `whenBusy` is `wait`. Gives up at the deadline.
 *
 * @returns undefined if the run may start, otherwise the failed result
 */
export async function waitForTurn(turn: Turn, client: Client, whenBusy: Run['whenBusy']) {
	if (turn.isReached || whenBusy === 'run') return undefined;
	if (whenBusy === 'fail') return busy();
	await waitAtMost(client, Infinity, turn.reached);
	if (client.signal?.aborted) return executionStopped();
	return turn.isReached ? undefined : stillBusy();
}
