import { randomUUID } from 'crypto';
import { groupBy } from 'lodash';

import { forEachConcurrently } from '../../../execution/concurrency';
import { enqueueTurn, type QueueTurn } from '../../../runs/turns';

/** A task, and the thread that it needs. */
export interface ThreadWork<Result> {
	/** Tasks with the same thread ID run one after another. A task without a thread ID has its own queue. */
	threadId?: string;
	/** Waits for `turn` in the queue of the thread, then executes the task. */
	run: (turn: QueueTurn) => Promise<Result>;
}

/**
 * Executes tasks of different threads concurrently, and tasks of one thread in order, because concurrent runs on one thread
 * lose messages. All executions in this process share the queues.
 *
 * @param concurrency maximum number of threads at once
 * @param goOn returns whether to start more tasks
 * @returns the results in the order of `work`; `undefined` for a task that did not start
 */
export async function runInThreadQueues<Result>(
	work: Array<ThreadWork<Result>>,
	concurrency: number,
	goOn: () => boolean,
): Promise<Array<Result | undefined>> {
	const results = work.map((): Result | undefined => undefined);
	const places = work.map(({ threadId = randomUUID() }, index) => ({ threadId, index }));
	// Take all turns before the first task starts. Otherwise, two calls of this function could wait for each other forever.
	const queues = Object.entries(groupBy(places, 'threadId')).map(([threadId, queue]) => ({
		queue,
		turn: enqueueTurn(threadId),
	}));
	const runQueue = async ({ queue, turn }: (typeof queues)[number]) => {
		for (const { index } of queue) if (goOn()) results[index] = await work[index]?.run(turn);
		turn.end();
	};
	try {
		await forEachConcurrently(queues, concurrency, runQueue, goOn);
	} finally {
		// Ends the turns of the queues that did not start. For a turn that has ended, `end` does nothing.
		for (const { turn } of queues) turn.end();
	}
	return results;
}
