import omit from 'lodash/omit';

import type { Clock } from './clock';
import type { Failure } from './failure';
import {
	MAX_FOREIGN_ANSWERS,
	certainlyNotDone,
	isRouteMissing,
	isForeignAnswer,
	isTransient,
	isOutcomeUnknown,
} from './classifyFailure';
import type { ApiRequest, Outcome, Send } from './request';
import { minPauseMs, retryDelayMs } from './retryPolicy';
import type { RetryLimits } from './retryPolicy';

/** A request that may be retried. */
export interface RetriedRequest {
	request: ApiRequest;
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
export interface RetriedOutcome {
	outcome: Outcome;
	attempts: number;
	/** Whether a failed attempt may have been processed unnoticed, or still may be. */
	mayBeDone: boolean;
}

/**
 * The retry policy. Sends a request until it succeeds, cannot succeed, or reaches a limit. Ends as soon as the
 * execution is stopped.
 */
export async function sendWithRetries(
	send: Send,
	retried: RetriedRequest,
): Promise<RetriedOutcome> {
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
		const isUnconfirmed = isRouteMissing(failure) && !wasRouteMissing;
		wasRouteMissing = isRouteMissing(failure);
		foreignAnswers = isForeignAnswer(failure) ? foreignAnswers + 1 : 0;
		const reported = isUnconfirmed ? omit(failure, 'missing') : failure;
		const last: Outcome = {
			ok: false,
			failure: { ...reported, ...(attempts > 1 && { attempts }) },
		};
		const result = { outcome: last, attempts, mayBeDone };
		if (!isTransient(failure) && !isUnconfirmed) return result;
		if (!(repeatable || isNotDone) || attempts >= limits.maxTries) return result;
		if (foreignAnswers >= MAX_FOREIGN_ANSWERS || stopRetrying(failure, attempts)) return result;

		const delay = retryDelayMs(attempts, minPauseMs(failure), clock.random());
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
	private isSpent = false;

	constructor(private readonly budget: RetryLimits) {}

	/** The limits of the next request. */
	get limits(): RetryLimits {
		return this.isSpent ? { ...this.budget, maxTries: 1 } : this.budget;
	}

	/** Whether the budget is left. */
	get isLeft(): boolean {
		return !this.isSpent;
	}

	/** Records the final outcome of a request. */
	note(outcome: Outcome): void {
		this.isSpent = !outcome.ok && isTransient(outcome.failure);
	}
}

/** How repeatable requests are sent. */
interface RepeatOptions {
	limits: RetryLimits;
	timeoutMs: number;
	clock: Clock;
	signal?: AbortSignal;
}

/** Makes a function that sends repeatable requests with the retry policy and one outage budget. */
export function repeatedSend(
	send: Send,
	{ limits, timeoutMs, ...retried }: RepeatOptions,
): (request: Omit<ApiRequest, 'timeoutMs'>) => Promise<Outcome> {
	const outageBudget = new OutageBudget(limits);
	return async (unsent) => {
		const request = { ...unsent, timeoutMs };
		const retriedRequest = { ...retried, request, limits: outageBudget.limits, repeatable: true };
		const { outcome } = await sendWithRetries(send, retriedRequest);
		outageBudget.note(outcome);
		return outcome;
	};
}
