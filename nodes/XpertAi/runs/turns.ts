import { type Client, waitAtMost } from './client';
import { busyAtDeadlineResult, busyResult, executionStoppedResult } from './result';
import type { Run } from './run';

/** A place in the queue of a thread. All executions in this process share the queue. */
export interface QueueTurn {
	/** Whether the turn has reached the head of the queue. */
	isReached: boolean;
	/** Resolves when the turn reaches the head of the queue. */
	untilReached: Promise<void>;
	/** Removes the turn from the queue. A second call does nothing. */
	end: () => void;
}

/** For each thread ID: a promise that resolves when all turns in the queue have ended. */
const queueEndPromises = new Map<string, Promise<void>>();

/** Appends a turn to the queue of a thread. The caller must call `end` on the turn. */
export function enqueueTurn(threadId: string): QueueTurn {
	const earlierTurns = queueEndPromises.get(threadId);
	let end!: () => void;
	const ended = new Promise<void>((resolve) => (end = resolve));
	const isReached = earlierTurns === undefined;
	const turn = { isReached, untilReached: Promise.resolve(earlierTurns), end };
	// Waits for the earlier turns first: this turn can end before it reaches the head of the queue.
	const allTurns = turn.untilReached.then(async () => {
		turn.isReached = true;
		await ended;
		const isLast = queueEndPromises.get(threadId) === allTurns;
		if (isLast) queueEndPromises.delete(threadId);
	});
	queueEndPromises.set(threadId, allTurns);
	return turn;
}

/**
 * Waits for a turn, if `whenBusy` is `wait`. Gives up at the deadline, and after a stop of the execution.
 *
 * @returns undefined if the run may start, otherwise why not. With `whenBusy: 'run'`, the run may always start.
 */
export async function waitForTurn(turn: QueueTurn, client: Client, whenBusy: Run['whenBusy']) {
	if (turn.isReached || whenBusy === 'run') return undefined;
	if (whenBusy === 'fail') return busyResult();
	await waitAtMost(client, Infinity, turn.untilReached);
	if (client.signal?.aborted) return executionStoppedResult();
	return turn.isReached ? undefined : busyAtDeadlineResult();
}
