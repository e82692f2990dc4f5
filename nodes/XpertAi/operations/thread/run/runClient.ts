import type { Item } from '../../../execution/item';
import { timeoutSeconds } from '../../../execution/runOperation';
import { type Client, withDeadline } from '../../../runs/client';
import type { RunFacts } from '../../../runs/result';
import { SINGLE_LIMITS } from '../../../transport/call';
import { systemClock } from '../../../transport/clock';

export const runProgress = (facts: RunFacts) => (minutes: number) =>
	`waiting for run ${facts.runId ?? '…'} of thread ${facts.threadId}, ${minutes} minutes`;

/** A client that gives up after `deadlineMs`, or when the execution is stopped. */
export function clientOf({ context, connection: { send } }: Item, deadlineMs: number): Client {
	const signal = context.getExecutionCancelSignal();
	const deadline = systemClock.now() + deadlineMs;
	return withDeadline({ send, clock: systemClock, deadline, signal });
}

/** A client with a timeout for each request. The deadline is long enough for all retries of a request. */
export function clientWithTimeout(item: Item): Client {
	const timeoutMs = item.setting('tuning.timeout', timeoutSeconds) * 1000;
	const { maxTries, maxElapsedMs } = SINGLE_LIMITS;
	const client = clientOf(item, maxTries * timeoutMs + maxElapsedMs);
	return { ...client, send: async (request) => await client.send({ ...request, timeoutMs }) };
}
