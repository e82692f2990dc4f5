import type { Clock } from './clock';
import type { Failure } from './failure';
import {
	MAX_FOREIGN_ANSWERS,
	certainlyNotDone,
	isForeignAnswer,
	isTransient,
	isOutcomeUnknown,
} from './classifyFailure';
import type { ApiRequest, Outcome, Send } from './request';

/** How often, and for how long, a request is retried. */
export interface RetryLimits {
	/** Attempts in total, including the first. */
	maxTries: number;
	/** Time since the first attempt, after which no further attempt starts. */
	maxElapsedMs: number;
}

/** Limits of a single request. n8n's Retry On Fail, or the next run of the workflow, covers longer outages. */
export const SINGLE_REQUEST_LIMITS: RetryLimits = { maxTries: 3, maxElapsedMs: 30_000 };

const BASE_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;

/** The minimum delay after a foreign answer, as while a container restarts, in milliseconds. */
export const FOREIGN_ANSWER_PAUSE_MS = 1_000;

/** The minimum delay after a rate limit without Retry-After, in milliseconds. */
const RATE_LIMIT_PAUSE_MS = 2_000;

/** Statuses of a rate limit or an overload. */
const RATE_LIMIT_STATUS = new Set([429, 529]);

/** The minimum delay before the next attempt, in milliseconds: Retry-After, or a delay for temporary failures. */
function minPauseMs({ kind, status = 0, retryAfterMs }: Failure): number {
	if (retryAfterMs !== undefined) return retryAfterMs;
	if (RATE_LIMIT_STATUS.has(status)) return RATE_LIMIT_PAUSE_MS;
	// Such an answer may come only until the server is back, as while a container restarts.
	return kind === 'unreadable' || status === 404 ? FOREIGN_ANSWER_PAUSE_MS : 0;
}

/** A request that may be retried. */
export interface RetriedRequest<Answer = unknown> {
	request: ApiRequest<Answer>;
	limits: RetryLimits;
	/**
	 * Whether repeating the request does no harm. Other requests are retried only if they were certainly not processed.
	 */
	repeatable: boolean;
	clock: Clock;
	signal?: AbortSignal;
	/** Whether the caller wants no further attempt. */
	stopRetrying?: (failure: Failure, attempts: number) => boolean;
}

/** An outcome, and the attempts it took. */
export interface RetriedOutcome<Answer = unknown> {
	outcome: Outcome<Answer>;
	attempts: number;
	/** Whether a failed attempt may have been processed unnoticed, or still may be. */
	mayBeDone: boolean;
}

/**
 * The retry policy. Sends a request until it succeeds, cannot succeed, or reaches a limit. Ends as soon as the
 * execution is stopped.
 */
export async function sendWithRetries<Answer>(
	send: Send,
	retried: RetriedRequest<Answer>,
): Promise<RetriedOutcome<Answer>> {
	const { request, limits, repeatable, clock, signal, stopRetrying = () => false } = retried;
	const started = clock.now();
	let mayBeDone = false;
	let wasRouteMissing = false;
	let foreignAnswers = 0;
	for (let attempts = 1; ; attempts++) {
		const outcome = await send(request);
		if (outcome.ok) return { outcome, attempts, mayBeDone };

		const { failure } = outcome;
		const isNotDone = certainlyNotDone(failure);
		mayBeDone ||= isOutcomeUnknown(failure);
		// A missing route counts only when the server says so twice: a server that is starting may say it once.
		const isUnconfirmed = failure.missing === 'route' && !wasRouteMissing;
		wasRouteMissing = failure.missing === 'route';
		foreignAnswers = isForeignAnswer(failure) ? foreignAnswers + 1 : 0;
		const reported: Failure = {
			...failure,
			...(isUnconfirmed && { missing: undefined }),
			...(attempts > 1 && { attempts }),
		};
		const result = { outcome: { ok: false as const, failure: reported }, attempts, mayBeDone };
		if (!isTransient(failure) && !isUnconfirmed) return result;
		if (!(repeatable || isNotDone) || attempts >= limits.maxTries) return result;
		if (foreignAnswers >= MAX_FOREIGN_ANSWERS || stopRetrying(failure, attempts)) return result;

		// Exponential backoff with full jitter.
		const ceiling = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempts - 1));
		const delay = Math.max(minPauseMs(failure), Math.round(ceiling * clock.random()));
		if (clock.now() - started + delay > limits.maxElapsedMs) return result;
		await clock.sleep(delay, signal);
		if (signal?.aborted) {
			const { method, path } = failure;
			return { ...result, outcome: { ok: false, failure: { kind: 'cancelled', method, path } } };
		}
	}
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

	/** Records the final outcome of a request. */
	recordOutcome(outcome: Outcome): void {
		this.isLeft = outcome.ok || !isTransient(outcome.failure);
	}
}
