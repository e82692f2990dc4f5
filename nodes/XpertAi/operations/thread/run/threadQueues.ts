import compact from 'lodash/compact';
import groupBy from 'lodash/groupBy';
import map from 'lodash/map';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { failureAsReply, isTool, NO_ANSWER, runFacts } from '../../../execution/outputFor';
import { atOnceOf } from '../../../execution/runOperation';
import { forEachConcurrently } from '../../../execution/eachItem';
import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import { mayContinue, type ItemError } from '../../../execution/outputs';
import type { Client, Run } from '../../../runs/run';
import { busy, executionStopped, stillBusy } from '../../../runs/runResult';
import type { Chat } from './chat';

/** An operation on threads. */
interface ThreadOperation<ThreadRequest extends { threadId?: string }> {
	/** Reads the parameters of an item, and the thread if it has one already. */
	read: (item: Item) => ThreadRequest;
	/** The JSON of the output item. */
	run: (request: ThreadRequest, turn?: Turn, chat?: Chat) => Promise<IDataObject>;
	/** The chat that gets the answer. With it, a failure may be output like an answer. */
	chatOf?: (item: Item, request?: ThreadRequest) => Chat | undefined;
}

/**
 * Runs an operation for all items, those of the same thread one after another. All items are read before anything is
 * sent, so that with Stop an invalid item starts no run.
 *
 * @returns the output, in the order of the items
 * @throws the NodeApiError or NodeOperationError of the first failed item when On Error is "Stop Workflow"
 */
export async function executeByThread<ThreadRequest extends { threadId?: string }>(
	{ context, items }: Execution,
	{ read, run, chatOf }: ThreadOperation<ThreadRequest>,
): Promise<INodeExecutionData[]> {
	let stopError: ItemError | undefined;
	let atOnce: number | undefined;
	const errorOf = (item: Item, caught: unknown, asReply: boolean) => {
		const error = item.asError(caught);
		const isStopped = context.getExecutionCancelSignal()?.aborted === true;
		if (asReply ? isStopped : !mayContinue(context)) stopError ??= error;
		return error;
	};
	const work = items.map((item) => {
		let asReply = false;
		let request: ThreadRequest | undefined;
		let error: ItemError | undefined;
		try {
			if (chatOf) asReply = item.boolean('options.failuresAsReplies', isTool(context));
			atOnce ??= atOnceOf([item]);
			request = read(item);
		} catch (caught) {
			error = errorOf(item, caught, asReply);
		}
		const runItem = async (turn?: Turn) => {
			const chat = chatOf?.(item, request);
			try {
				if (error) throw error;
				return item.output(request ? await run(request, turn, chat) : {});
			} catch (caught) {
				const failure = errorOf(item, caught, asReply);
				// If the workflow stops, n8n shows the error itself.
				if (asReply || mayContinue(context)) chat?.say(asReply ? failure.message : NO_ANSWER);
				if (asReply) return item.output(failureAsReply(failure));
				const failed = item.failed(failure, runFacts(failure));
				// A chat without streaming shows `message`; on the error output, it would replace a field of the input.
				if (failure.node?.onError !== 'continueErrorOutput') failed.json.message = NO_ANSWER;
				return failed;
			} finally {
				chat?.end();
			}
		};
		return { threadId: request?.threadId, run: runItem };
	});
	const results = await inThreadQueues(work, atOnce ?? 1, () => stopError === undefined);
	if (stopError) throw stopError;
	return compact(results);
}

/** A place in the queue for a thread, among the executions of this process. */
export interface Turn {
	/** Whether it is first in the queue. */
	isReached: boolean;
	/** Resolves when the turns before it have ended. */
	reached: Promise<void>;
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
	const turn: Turn = { isReached: before === undefined, reached: Promise.resolve(before), end };
	// A turn that ends early keeps its place.
	const passed = turn.reached.then(async () => {
		turn.isReached = true;
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
export async function waitForTurn(turn: Turn, client: Client, whenBusy: Run['whenBusy']) {
	if (turn.isReached || whenBusy === 'run') return undefined;
	if (whenBusy === 'fail') return busy();
	const { clock, signal } = client;
	const done = new AbortController();
	const stop = signal ? AbortSignal.any([signal, done.signal]) : done.signal;
	await Promise.race([turn.reached, clock.sleep(client.remaining(), stop)]);
	done.abort();
	if (signal?.aborted) return executionStopped();
	return turn.isReached ? undefined : stillBusy();
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
 * lose messages or are refused (seen on the live server, E4). The queues are shared with all other calls in this process.
 *
 * @param concurrency threads at once
 * @param goOn checked before each work starts
 * @returns the results in the order of the work; `undefined` for work that did not start
 */
export async function inThreadQueues<Result>(
	work: Array<ThreadWork<Result>>,
	concurrency: number,
	goOn: () => boolean,
): Promise<Array<Result | undefined>> {
	const results: Array<Result | undefined> = work.map(() => undefined);
	const places = work.map(({ threadId }, index) => ({ index, threadId }));
	// All turns are taken at once, so that two calls cannot wait for each other.
	const queues = map(
		groupBy(places, ({ index, threadId }) => threadId ?? `#${index}`),
		(queue) => {
			const threadId = queue[0]?.threadId;
			return { queue, turn: threadId === undefined ? undefined : takeTurn(threadId) };
		},
	);
	const runQueue = async ({ queue, turn }: (typeof queues)[number]) => {
		for (const { index } of queue) {
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
