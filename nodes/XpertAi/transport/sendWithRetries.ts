import omit from 'lodash/omit';

import type { Clock } from './clock';
import type { Failure } from './failure';
import {
	TRIES_WHERE_STRANGE,
	certainlyNotDone,
	isRouteMissing,
	isStrange,
	isTransient,
	leavesOpen,
} from './classifyFailure';
import type { ApiRequest, Outcome, Send } from './request';
import { leastPauseMs, retryDelayMs } from './retryPolicy';
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
	enough?: (failure: Failure, attempts: number) => boolean;
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
	const { request, limits, repeatable, clock, signal, enough = () => false } = retried;
	const started = clock.now();
	let mayBeDone = false;
	let saidMissing = false;
	let strange = 0;
	for (let attempts = 1; ; attempts++) {
		const outcome = await send(request);
		if (outcome.ok) return { outcome, attempts, mayBeDone };

		const { failure } = outcome;
		const harmless = certainlyNotDone(failure);
		mayBeDone ||= leavesOpen(failure);
		// A route is missing when the server says so twice; what it said once may be a server that starts.
		const unconfirmed = isRouteMissing(failure) && !saidMissing;
		saidMissing = isRouteMissing(failure);
		strange = isStrange(failure) ? strange + 1 : 0;
		const believed = unconfirmed ? omit(failure, 'missing') : failure;
		const last: Outcome = {
			ok: false,
			failure: { ...believed, ...(attempts > 1 && { attempts }) },
		};
		const ended = { outcome: last, attempts, mayBeDone };
		if (!isTransient(failure) && !unconfirmed) return ended;
		if (!(repeatable || harmless) || attempts >= limits.maxTries) return ended;
		if (strange >= TRIES_WHERE_STRANGE || enough(failure, attempts)) return ended;

		const delay = retryDelayMs(attempts, leastPauseMs(failure), clock.random());
		if (clock.now() - started + delay > limits.maxElapsedMs) return ended;
		await clock.sleep(delay, signal);
		if (signal?.aborted) {
			const { method, path } = failure;
			return { ...ended, outcome: { ok: false, failure: { kind: 'cancelled', method, path } } };
		}
	}
}

/** How long requests of one kind are tried: a server that stays away is waited for once; until it answers, each further one is sent once. */
export class OutageBudget {
	private isOver = false;

	constructor(private readonly whole: RetryLimits) {}

	/** The limits of the next request. */
	get limits(): RetryLimits {
		return this.isOver ? { ...this.whole, maxTries: 1 } : this.whole;
	}

	/** Whether the server is still worth waiting for. */
	get isLeft(): boolean {
		return !this.isOver;
	}

	/** Notes what a request came to in the end. */
	note(outcome: Outcome): void {
		this.isOver = !outcome.ok && isTransient(outcome.failure);
	}
}

/** How requests are sent of which none does harm when it arrives twice. */
interface Repeating {
	limits: RetryLimits;
	timeoutMs: number;
	clock: Clock;
	signal?: AbortSignal;
}

/** Makes what sends such requests with the retry policy, and waits once for a server that stays away. */
export function repeatedSend(
	send: Send,
	{ limits, timeoutMs, ...retried }: Repeating,
): (request: Omit<ApiRequest, 'timeoutMs'>) => Promise<Outcome> {
	const patience = new OutageBudget(limits);
	return async (given) => {
		const request = { ...given, timeoutMs };
		const all = { ...retried, request, limits: patience.limits, repeatable: true };
		const { outcome } = await sendWithRetries(send, all);
		patience.note(outcome);
		return outcome;
	};
}
