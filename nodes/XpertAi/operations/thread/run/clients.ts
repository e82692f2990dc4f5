import type { Item } from '../../../execution/item';
import { timeoutSecondsSchema } from '../../../execution/runOperation';
import { type Client, withDeadline } from '../../../runs/client';
import type { RunFacts } from '../../../runs/result';
import { DEFAULT_RETRY_LIMITS } from '../../../transport/call';
import { systemClock } from '../../../transport/clock';

/** Returns a function that describes the progress of a run for the log of n8n. */
export const runProgressTextMaker = (facts: RunFacts) => (minutes: number) =>
	`waiting for run ${facts.runId ?? '…'} of thread ${facts.threadId}, ${minutes} minutes`;

/** A client that gives up after `deadlineMs`, or when the execution is stopped. */
export function clientWithDeadline(
	{ context, connection: { send } }: Item,
	deadlineMs: number,
): Client {
	const signal = context.getExecutionCancelSignal();
	const deadline = systemClock.now() + deadlineMs;
	return withDeadline({ send, clock: systemClock, deadline, signal });
}

/** A client with the timeout that the user has set. The deadline is long enough for all retries of one request. */
export function clientWithTimeout(item: Item): Client {
	const timeoutMs = item.setting('tuning.timeout', timeoutSecondsSchema) * 1000;
	const { maxTries, maxElapsedMs } = DEFAULT_RETRY_LIMITS;
	const client = clientWithDeadline(item, maxTries * timeoutMs + maxElapsedMs);
	return { ...client, send: async (request) => await client.send({ ...request, timeoutMs }) };
}
