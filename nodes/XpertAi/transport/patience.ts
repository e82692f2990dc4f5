import { isTransient } from './meaning';
import type { Outcome } from './request';
import type { RetryLimits } from './retryPolicy';

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
