import type { Answered } from './answer';
import type { Clock } from './clock';
import {
	certainlyNotDone,
	type Failure,
	isOutcomeUnknown,
	isTransient,
	MAX_WRONG_SERVER_SIGNS,
	suggestsWrongServer,
} from './failure';
import type { ApiRequest, Send } from './request';

export interface RetryLimits {
	/** The maximum number of attempts, including the first. */
	maxTries: number;
	/** Maximum time from the first attempt to the start of the last attempt. */
	maxElapsedMs: number;
}

/** Retry limits of a client without an `outageBudget`. n8n's setting "Retry On Fail" covers longer outages. */
export const DEFAULT_RETRY_LIMITS: RetryLimits = { maxTries: 3, maxElapsedMs: 30_000 };

const DEFAULT_TIMEOUT_MS = 30_000;

const BASE_DELAY_MS = 500;

const MAX_DELAY_MS = 30_000;

/** Minimum delay in milliseconds after an unreadable answer or a status 404. The server may be restarting. */
export const DOUBTFUL_ANSWER_PAUSE_MS = 1_000;

/** Minimum delay in milliseconds after a rate limit (429) or an overload (529). */
const OVERLOAD_PAUSE_MS = 2_000;

/** What `call` needs in addition to the request. */
export interface ApiClient {
	send: Send;
	clock: Clock;
	signal?: AbortSignal;
	/** No retry starts after this time, in milliseconds since the epoch. Overrides `maxElapsedMs`. */
	deadline?: number;
	/** Retry limits that several calls share. By default, each call has its own `DEFAULT_RETRY_LIMITS`. */
	outageBudget?: OutageBudget;
}

/** The result of a call: the answer or the failure, and facts about the attempts. */
export type CallResult<Answer> = {
	attempts: number;
	/**
	 * Whether the server may have processed a failed attempt, or may still process it. A successful retry does not
	 * reset this field. A cancelled attempt and a status 500 do not set it (see `isOutcomeUnknown`).
	 */
	mayBeDone: boolean;
} & (Answered<Answer> | { ok: false; failure: Failure; answer?: undefined });

/** A request and its retry settings. */
export interface RetryableRequest<Answer>
	extends Pick<ApiRequest<Answer>, 'method' | 'path' | 'apiRoot' | 'schema'> {
	/** JSON text, or a function that builds a form. Each attempt needs a new form, because sending consumes the form. */
	body?: string | (() => FormData);
	/** Whether the request can be sent twice without harm. If false, retries require `certainlyNotDone`. */
	repeatable: boolean;
	maxTries?: number;
	timeoutMs?: number;
	/** Returns true if the caller wants no further attempt. Then `outageBudget` does not record the failure. */
	shouldStopRetrying?: (failure: Failure, attempts: number) => boolean;
}

/** Sends a request and parses the answer. Retries after temporary failures, within the limits. Never throws. */
export async function call<Answer>(
	{ send, clock, signal, deadline = Infinity, outageBudget }: ApiClient,
	{
		body,
		repeatable,
		maxTries,
		timeoutMs = DEFAULT_TIMEOUT_MS,
		shouldStopRetrying,
		...request
	}: RetryableRequest<Answer>,
): Promise<CallResult<Answer>> {
	const limits = outageBudget?.limits ?? DEFAULT_RETRY_LIMITS;
	const started = clock.now();
	const longestMs = Number.isFinite(deadline) ? deadline - started : limits.maxElapsedMs;
	let mayBeDone = false;
	let wasRouteMissing = false;
	let wrongServerSignCount = 0;
	for (let attempts = 1; ; attempts++) {
		const sentBody = typeof body === 'function' ? body() : body;
		const outcome = await send({ ...request, body: sentBody, timeoutMs });
		if (outcome.ok) {
			outageBudget?.recordOutcome();
			return { ...outcome, mayBeDone, attempts };
		}
		const { failure } = outcome;
		mayBeDone ||= isOutcomeUnknown(failure);
		const isRouteMissing = failure.missing === 'route';
		const isMissingRouteUnconfirmed = isRouteMissing && !wasRouteMissing;
		wasRouteMissing = isRouteMissing;
		wrongServerSignCount = suggestsWrongServer(failure) ? wrongServerSignCount + 1 : 0;
		const canSucceed = shouldRetry(failure, {
			repeatable,
			isMissingRouteUnconfirmed,
			wrongServerSignCount,
		});
		const hasTries = attempts < (maxTries ?? limits.maxTries);
		const delay = delayAfter(failure, attempts, clock.random());
		const isInTime = clock.now() - started + delay <= longestMs;
		const isStopped = shouldStopRetrying?.(failure, attempts) === true;
		if (!canSucceed || !hasTries || !isInTime || isStopped) {
			if (!isStopped) outageBudget?.recordOutcome(failure);
			// A missing route counts only if two attempts in a row report it.
			const missing = isMissingRouteUnconfirmed ? undefined : failure.missing;
			return { ok: false, failure: { ...failure, attempts, missing }, mayBeDone, attempts };
		}
		await clock.sleep(delay, signal);
		if (signal?.aborted) {
			outageBudget?.recordOutcome(failure);
			const { method, path } = failure;
			return { ok: false, failure: { kind: 'cancelled', method, path }, mayBeDone, attempts };
		}
	}
}

/** Whether a failed request should be sent again, if tries and time are left. */
function shouldRetry(
	failure: Failure,
	facts: {
		repeatable: boolean;
		/** Whether this failure reports a missing route, and the attempt before did not. */
		isMissingRouteUnconfirmed: boolean;
		/** Number of consecutive failures that suggest a wrong server, including this one (see `suggestsWrongServer`). */
		wrongServerSignCount: number;
	},
): boolean {
	// With another attempt, the server could do the work twice.
	if (!facts.repeatable && !certainlyNotDone(failure)) return false;
	// There is probably no Xpert AI server at the Base URL.
	if (facts.wrongServerSignCount >= MAX_WRONG_SERVER_SIGNS) return false;
	// A server can wrongly report a missing route while it starts. A second report in a row is trusted.
	if (facts.isMissingRouteUnconfirmed) return true;
	return isTransient(failure);
}

/** Delay before a retry, in milliseconds: exponential backoff with full jitter and a minimum. */
function delayAfter(failure: Failure, attempts: number, random: number): number {
	const maxDelay = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempts - 1));
	return Math.max(minDelayAfter(failure), Math.round(maxDelay * random));
}

/** Minimum delay before a retry, in milliseconds. */
function minDelayAfter({ kind, status = 0, retryAfterMs }: Failure): number {
	if (retryAfterMs !== undefined) return retryAfterMs;
	if (kind === 'unreadable' || status === 404) return DOUBTFUL_ANSWER_PAUSE_MS;
	return status === 429 || status === 529 ? OVERLOAD_PAUSE_MS : 0;
}

/**
 * Retry limits that several requests share, so that an outage does not delay every request. A request that ends with a
 * temporary failure disables retries for the next request. Any other result enables retries.
 */
export class OutageBudget {
	isLeft = true;

	constructor(private readonly budget: RetryLimits) {}

	get limits(): RetryLimits {
		return this.isLeft ? this.budget : { ...this.budget, maxTries: 1 };
	}

	/**
	 * Records how a request ended.
	 *
	 * @param failure undefined if the request succeeded
	 */
	recordOutcome(failure?: Failure): void {
		this.isLeft = failure === undefined || !isTransient(failure);
	}
}
