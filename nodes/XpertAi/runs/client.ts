import { API_ROOT } from '../transport/api';
import type { ApiClient } from '../transport/call';
import { FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import type { Failure } from '../transport/failure';
import type { Send } from '../transport/request';

/** An API client with a deadline for its requests and pauses. */
export interface Client extends ApiClient {
	/** When to give up, in milliseconds since the epoch. */
	deadline: number;
	/** Milliseconds until the deadline, at least 0. */
	remainingMs: () => number;
	/** Waits for the given milliseconds. Ends early at the deadline, or when the execution is stopped. */
	wait: (ms: number) => Promise<void>;
	/** Sends a request without the deadline, e.g. to cancel a run after the deadline. */
	sendWithoutDeadline: Send;
}

/** Time limit for retrying the first read of a run or of the list of runs. Short, because the address may be wrong. */
export const UNREACHABLE_MS = 60_000;

/** Minimum timeout of a request, even if the deadline is closer. So the node can send a last request at the deadline. */
const MIN_REQUEST_TIMEOUT_MS = 1_000;

/**
 * Adds a deadline to a client.
 *
 * - A request times out at the deadline at the latest, or after `MIN_REQUEST_TIMEOUT_MS` if less time is left.
 * - After an answer with `Retry-After`, the next request waits. The request fails at once if the deadline is too close.
 * - After the execution was stopped, every request fails at once.
 */
export function withDeadline({ send, ...limits }: ApiClient & { deadline: number }): Client {
	const { clock, deadline, signal } = limits;
	const remainingMs = () => Math.max(0, deadline - clock.now());
	const wait = async (ms: number) => await clock.sleep(Math.min(ms, remainingMs()), signal);
	/** Why the last request failed. Undefined after a success. */
	let lastFailure: Failure | undefined;
	/** When the next request may be sent, according to `Retry-After`. */
	let earliest = 0;
	const sendInTime: Send = async (request) => {
		const { method, path, apiRoot = API_ROOT } = request;
		const place = { method, path: apiRoot + path };
		const pauseMs = earliest - clock.now();
		// If the pause is already over, the request is sent even after the deadline (see `MIN_REQUEST_TIMEOUT_MS`).
		const isTooLate = pauseMs > 0 && earliest > deadline;
		if (pauseMs > 0 && !isTooLate) await wait(pauseMs);
		if (signal?.aborted) return { ok: false, failure: { kind: 'cancelled', ...place } };
		// Only a failure with `Retry-After` makes a pause, so `lastFailure` is set if the request is too late.
		if (isTooLate && lastFailure) return { ok: false, failure: { ...lastFailure, ...place } };
		const totalMs = Math.max(MIN_REQUEST_TIMEOUT_MS, remainingMs());
		const timeoutMs = Math.min(request.timeoutMs, totalMs);
		const outcome = await send({ ...request, timeoutMs, totalMs });
		lastFailure = outcome.ok ? undefined : outcome.failure;
		earliest = clock.now() + (lastFailure?.retryAfterMs ?? 0);
		return outcome;
	};
	return { ...limits, remainingMs, wait, send: sendInTime, sendWithoutDeadline: send };
}

/**
 * Repeats an attempt with growing pauses until `isDone` returns true. Ends early at the deadline, or when the execution
 * is stopped.
 *
 * @param isDone gets the result of an attempt, and the sum of all pauses so far in milliseconds
 * @returns the result of the last attempt
 */
export async function repeatUntil<Result>(
	client: Pick<Client, 'remainingMs' | 'signal' | 'wait'>,
	attempt: () => Promise<Result>,
	isDone: (result: Result, waitedMs: number) => boolean,
	firstPauseMs = FIRST_PAUSE_MS,
): Promise<Result> {
	let pauseMs = firstPauseMs;
	let waitedMs = 0;
	for (;;) {
		const result = await attempt();
		const mustEnd = client.remainingMs() <= 0 || client.signal?.aborted;
		if (mustEnd || isDone(result, waitedMs)) return result;
		await client.wait(pauseMs);
		waitedMs += pauseMs;
		pauseMs = longerPause(pauseMs);
	}
}

/**
 * Waits until `event` resolves, but at most for the given milliseconds. Ends early at the deadline, or when the execution
 * is stopped. Rejects if `event` rejects.
 */
export async function waitAtMost(
	client: Client,
	ms: number,
	event?: Promise<unknown>,
): Promise<void> {
	const { clock, signal } = client;
	const done = new AbortController();
	const stop = signal ? AbortSignal.any([signal, done.signal]) : done.signal;
	const sleep = clock.sleep(Math.min(ms, client.remainingMs()), stop);
	try {
		await (event ? Promise.race([event, sleep]) : sleep);
	} finally {
		done.abort();
	}
}
