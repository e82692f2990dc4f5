import type { Answered } from './answer';
import type { Clock } from './clock';
import {
	type Failure,
	MAX_FOREIGN_ANSWERS,
	certainlyNotDone,
	isForeignAnswer,
	isOutcomeUnknown,
	isTransient,
} from './failure';
import type { ApiRequest, Send } from './request';

/** How often, and for how long, a request is retried. */
export interface RetryLimits {
	/** The maximum number of attempts, including the first. */
	maxTries: number;
	/** Time since the first attempt, after which no new attempt starts. */
	maxElapsedMs: number;
}

/**
 * The limits of a request that has no outage budget. They are low, because n8n's Retry On Fail, or the next run of the
 * workflow, covers longer outages.
 */
export const SINGLE_REQUEST_LIMITS: RetryLimits = { maxTries: 3, maxElapsedMs: 30_000 };

const TIMEOUT_MS = 30_000;

const BASE_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;

/**
 * The minimum delay before the next attempt, in milliseconds, if the server sends no Retry-After: after an unreadable
 * answer or a 404, because a container may be restarting, and after a rate limit (429) or an overload (529).
 */
export const FOREIGN_ANSWER_PAUSE_MS = 1_000;

/** What `call` needs in addition to the request. */
export interface ApiClient {
	send: Send;
	clock: Clock;
	signal?: AbortSignal;
	/** No new attempt starts after this time, in milliseconds since the epoch. Replaces `maxElapsedMs`. */
	deadline?: number;
	/** The retry limits that several calls share. Default: `SINGLE_REQUEST_LIMITS` for each call. */
	outageBudget?: OutageBudget;
}

/** The result of a call: the answer or the failure, and facts about the attempts. */
export type Result<Answer> = {
	attempts: number;
	/**
	 * Whether it is possible that the server processed a failed attempt or will still process it. This can be true even
	 * if a later attempt succeeded.
	 */
	mayBeDone: boolean;
} & (Answered<Answer> | { ok: false; failure: Failure; answer?: undefined });

/** A request, and how it is retried. */
export interface Call<Answer>
	extends Pick<ApiRequest<Answer>, 'method' | 'path' | 'apiRoot' | 'schema'> {
	/** JSON text, or a function that builds a form. Sending consumes a form, so each attempt needs a new form. */
	body?: string | (() => FormData);
	/**
	 * Whether the request can be sent twice without harm. If false, the request is repeated only after failures for
	 * which `certainlyNotDone` is true.
	 */
	repeatable: boolean;
	maxTries?: number;
	timeoutMs?: number;
}

/**
 * Sends a request and parses its answer. After a temporary failure, repeats the request as far as `repeatable` and the
 * limits allow, unless the execution is stopped. Never throws: a failure is part of the result.
 */
export async function call<Answer>(
	{ send, clock, signal, deadline = Infinity, outageBudget }: ApiClient,
	{ body, repeatable, maxTries, timeoutMs = TIMEOUT_MS, ...request }: Call<Answer>,
): Promise<Result<Answer>> {
	const limits = outageBudget?.limits ?? SINGLE_REQUEST_LIMITS;
	const started = clock.now();
	const longestMs = Number.isFinite(deadline) ? deadline - started : limits.maxElapsedMs;
	let [mayBeDone, wasRouteMissing, foreignAnswers] = [false, false, 0];
	for (let attempts = 1; ; attempts++) {
		const sentBody = typeof body === 'function' ? body() : body;
		const outcome = await send({ ...request, body: sentBody, timeoutMs });
		if (outcome.ok) {
			outageBudget?.record();
			return { ...outcome, mayBeDone, attempts };
		}
		const { failure } = outcome;
		mayBeDone ||= isOutcomeUnknown(failure);
		// A server that is starting can wrongly answer that a route is missing. The route counts as missing only after
		// two such answers in a row, so the request is repeated after the first one.
		const isUnconfirmed = failure.missing === 'route' && !wasRouteMissing;
		wasRouteMissing = failure.missing === 'route';
		foreignAnswers = isForeignAnswer(failure) ? foreignAnswers + 1 : 0;
		const delay = delayAfter(failure, attempts, clock.random());
		const mayRetry =
			(isTransient(failure) || isUnconfirmed) &&
			(repeatable || certainlyNotDone(failure)) &&
			attempts < (maxTries ?? limits.maxTries) &&
			foreignAnswers < MAX_FOREIGN_ANSWERS &&
			clock.now() - started + delay <= longestMs;
		if (mayRetry) await clock.sleep(delay, signal);
		if (mayRetry && !signal?.aborted) continue;
		outageBudget?.record(failure);
		const { method, path, missing } = failure;
		const reported = { ...failure, attempts, missing: isUnconfirmed ? undefined : missing };
		const cancelled = { kind: 'cancelled', method, path } as const;
		return { ok: false, failure: mayRetry ? cancelled : reported, mayBeDone, attempts };
	}
}

/**
 * The delay before the next attempt, in milliseconds: exponential backoff with full jitter, but at least the server's
 * Retry-After. Without Retry-After, some failures have the minimum `FOREIGN_ANSWER_PAUSE_MS`.
 */
function delayAfter(failure: Failure, attempts: number, random: number): number {
	const { kind, status = 0, retryAfterMs } = failure;
	const lasts = kind === 'unreadable' || [404, 429, 529].includes(status);
	const least = retryAfterMs ?? (lasts ? FOREIGN_ANSWER_PAUSE_MS : 0);
	const ceiling = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempts - 1));
	return Math.max(least, Math.round(ceiling * random));
}

/**
 * The retry limits that a group of requests shares, so that not every request waits for the end of an outage. After a
 * request that failed temporarily in spite of its retries, each later request is sent only once, until a request
 * succeeds or fails permanently.
 */
export class OutageBudget {
	isLeft = true;

	constructor(private readonly budget: RetryLimits) {}

	/** The limits of the next request. */
	get limits(): RetryLimits {
		return this.isLeft ? this.budget : { ...this.budget, maxTries: 1 };
	}

	/**
	 * Records how a request ended.
	 *
	 * @param failure undefined if the request succeeded
	 */
	record(failure?: Failure): void {
		this.isLeft = failure === undefined || !isTransient(failure);
	}
}
