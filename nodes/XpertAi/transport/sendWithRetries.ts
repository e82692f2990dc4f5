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

/** A request that may be tried again. */
export interface RetriedRequest {
	request: ApiRequest;
	limits: RetryLimits;
	/** Whether the same request may arrive twice without harm. Others go again only if they certainly did nothing. */
	repeatable: boolean;
	clock: Clock;
	signal?: AbortSignal;
	/** Whether the caller knows better by now than to send the same again. */
	stopRetrying?: (failure: Failure, attempts: number) => boolean;
}

/** An outcome and how many tries it took. */
export interface RetriedOutcome {
	outcome: Outcome;
	attempts: number;
	/** Whether a try that failed may have been done by the server without our knowing, or may still be. */
	mayBeDone: boolean;
}

/**
 * The one retry policy. Sends a request until it succeeds, cannot succeed, or a limit is reached.
 * Ends at once when the execution is stopped.
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
		// A route is missing when the server says so twice; what it said once may be a server that starts.
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

/** How long requests of one kind are tried: a server that stays away is waited for once; until it answers, each further one is sent once. */
export class OutageBudget {
	private isSpent = false;

	constructor(private readonly budget: RetryLimits) {}

	/** The limits of the next request. */
	get limits(): RetryLimits {
		return this.isSpent ? { ...this.budget, maxTries: 1 } : this.budget;
	}

	/** Whether the server is still worth waiting for. */
	get isLeft(): boolean {
		return !this.isSpent;
	}

	/** Notes what a request came to in the end. */
	note(outcome: Outcome): void {
		this.isSpent = !outcome.ok && isTransient(outcome.failure);
	}
}

/** How requests are sent of which none does harm when it arrives twice. */
interface RepeatOptions {
	limits: RetryLimits;
	timeoutMs: number;
	clock: Clock;
	signal?: AbortSignal;
}

/** Makes what sends such requests with the retry policy, and waits once for a server that stays away. */
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
