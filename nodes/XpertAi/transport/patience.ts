import type { Clock } from './clock';
import { isTransient } from './meaning';
import type { ApiRequest, Outcome, Send } from './request';
import type { RetryLimits } from './retryPolicy';
import { sendWithRetries } from './sendWithRetries';

/** How long requests of one kind are tried: a server that stays away is waited for once; until it answers, each further one is sent once. */
export class Patience {
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
	const patience = new Patience(limits);
	return async (given) => {
		const request = { ...given, timeoutMs };
		const all = { ...retried, request, limits: patience.limits, repeatable: true };
		const { outcome } = await sendWithRetries(send, all);
		patience.note(outcome);
		return outcome;
	};
}
