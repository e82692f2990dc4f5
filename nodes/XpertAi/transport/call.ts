import type { Answered } from './answer';
import {
	MAX_FOREIGN_ANSWERS,
	certainlyNotDone,
	isForeignAnswer,
	isOutcomeUnknown,
	isTransient,
} from './classifyFailure';
import type { Clock } from './clock';
import type { Failure } from './failure';
import type { ApiRequest, Send } from './request';

/** How often, and for how long, a request is retried. */
export interface RetryLimits {
	/** Attempts in total, including the first. */
	maxTries: number;
	/** Time since the first attempt, after which no further attempt starts. */
	maxElapsedMs: number;
}

/** Limits of a single request. n8n's Retry On Fail, or the next run of the workflow, covers longer outages. */
export const SINGLE_REQUEST_LIMITS: RetryLimits = { maxTries: 3, maxElapsedMs: 30_000 };

const TIMEOUT_MS = 30_000;

const BASE_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;

/** The minimum delay after a foreign answer, as while a container restarts, in milliseconds. */
export const FOREIGN_ANSWER_PAUSE_MS = 1_000;

/** The minimum delay after a rate limit without Retry-After, in milliseconds. */
const RATE_LIMIT_PAUSE_MS = 2_000;

/** Statuses of a rate limit or an overload. */
const RATE_LIMIT_STATUS = new Set([429, 529]);

/** What calls are sent with. */
export interface ApiClient {
	send: Send;
	clock: Clock;
	signal?: AbortSignal;
	/** Until when to retry, in milliseconds since the epoch. */
	deadline?: number;
	/** The retries that these calls share; without it, each has those of a single request. */
	outageBudget?: OutageBudget;
}

/** What a call gave: the answer, or why there is none. */
export type Result<Answer> = {
	attempts: number;
	/** Whether a failed attempt may have been processed unnoticed, or still may be. */
	mayBeDone: boolean;
} & (Answered<Answer> | { ok: false; failure: Failure; answer?: undefined });

/** A request, and how it is retried. */
export interface Call<Answer>
	extends Pick<ApiRequest<Answer>, 'method' | 'path' | 'apiRoot' | 'schema'> {
	/** JSON text, or what makes a form: sending consumes it, so each attempt makes it anew. */
	body?: string | (() => FormData);
	/** Whether it does no harm twice. Others are sent again only if they certainly had no effect. */
	repeatable: boolean;
	maxTries?: number;
	timeoutMs?: number;
	/** Whether the caller wants no further attempt. Such a failure uses up no outage budget. */
	stopRetrying?: (failure: Failure, attempts: number) => boolean;
}

/**
 * Sends a request, and parses its answer. The retry policy: it is sent again until it succeeds, cannot succeed, or
 * reaches a limit, and not after the execution was stopped. Never throws.
 */
export async function call<Answer>(
	{ send, clock, signal, deadline = Infinity, outageBudget }: ApiClient,
	{ body, repeatable, maxTries, timeoutMs = TIMEOUT_MS, stopRetrying, ...request }: Call<Answer>,
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
		// A missing route counts only when the server says so twice: a server that is starting may say it once.
		const isUnconfirmed = failure.missing === 'route' && !wasRouteMissing;
		wasRouteMissing = failure.missing === 'route';
		foreignAnswers = isForeignAnswer(failure) ? foreignAnswers + 1 : 0;
		const isStopped = stopRetrying?.(failure, attempts);
		const delay = delayAfter(failure, attempts, clock.random());
		const mayRetry =
			(isTransient(failure) || isUnconfirmed) &&
			(repeatable || certainlyNotDone(failure)) &&
			attempts < (maxTries ?? limits.maxTries) &&
			foreignAnswers < MAX_FOREIGN_ANSWERS &&
			!isStopped &&
			clock.now() - started + delay <= longestMs;
		if (mayRetry) await clock.sleep(delay, signal);
		if (mayRetry && !signal?.aborted) continue;
		if (!isStopped) outageBudget?.record(failure);
		const { method, path, missing } = failure;
		const reported = { ...failure, attempts, missing: isUnconfirmed ? undefined : missing };
		const cancelled = { kind: 'cancelled', method, path } as const;
		return { ok: false, failure: mayRetry ? cancelled : reported, mayBeDone, attempts };
	}
}

/** Exponential backoff with full jitter; at least what the server asks for, or what temporary failures need. */
function delayAfter(failure: Failure, attempts: number, random: number): number {
	const { kind, status = 0, retryAfterMs } = failure;
	// A foreign answer may come only until the server is back, as while a container restarts.
	const isForeign = kind === 'unreadable' || status === 404;
	const usual = RATE_LIMIT_STATUS.has(status) ? RATE_LIMIT_PAUSE_MS : 0;
	const least = retryAfterMs ?? (isForeign ? FOREIGN_ANSWER_PAUSE_MS : usual);
	const ceiling = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempts - 1));
	return Math.max(least, Math.round(ceiling * random));
}

/**
 * The outage budget of a group of requests: the server is waited for once. Until it answers again, each further
 * request is sent once.
 */
export class OutageBudget {
	isLeft = true;

	constructor(private readonly budget: RetryLimits) {}

	/** The limits of the next request. */
	get limits(): RetryLimits {
		return this.isLeft ? this.budget : { ...this.budget, maxTries: 1 };
	}

	/** Records how a request has ended. */
	record(failure?: Failure): void {
		this.isLeft = failure === undefined || !isTransient(failure);
	}
}
