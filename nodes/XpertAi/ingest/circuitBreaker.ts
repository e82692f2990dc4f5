import { EVERY_UUID } from '../payloads/common';
import { failureMessage } from '../transport/failure';
import { type Fact, processingFlaw } from './answers';

type Stage = 'upload' | 'storing' | 'processing';

/** If one document fails for such a reason, all will fail (recorded), so the circuit breaker opens at once. */
const AFFECTS_ALL = /^Embedding model not set/;

/**
 * A streak opens the circuit breaker only if its failures are from at least this many requests, or from `limit`
 * requests if that is lower: a single failed request may hold many documents.
 */
const MIN_REQUESTS = 3;

/**
 * Stops a run in which document after document fails. Opens once `limit` consecutive documents have failed in the same
 * stage for the same reason, in at least `MIN_REQUESTS` requests; a reason that matches `AFFECTS_ALL` opens it at once.
 * Each stage has its own count: storing a document must not reset the count of processing failures.
 */
export class CircuitBreaker {
	/**
	 * The current streak of each stage: the reason, the number of failures, and the batches of the failed documents.
	 */
	private readonly streaks = new Map<Stage, ReturnType<typeof newStreak>>();

	/**
	 * @param limit number of consecutive failures of one stage with the same reason that opens the circuit breaker (see
	 * `failed`); with 0, it never opens
	 */
	constructor(private readonly limit: number) {}

	/** Why the circuit breaker opened; `undefined` while it is closed. An open circuit breaker never closes again. */
	reason?: string;
	/**
	 * Number of failures that opened the circuit breaker; `undefined` while it is closed, or if the reason matches
	 * `AFFECTS_ALL`.
	 */
	streakLength?: number;

	/** Updates the count of a stage: a failure adds to it, and a success resets it. Other facts are ignored. */
	take(fact: Fact<unknown>): void {
		if (fact.outcome === 'uploaded') this.streaks.delete('upload');
		else if (fact.outcome === 'stored') this.streaks.delete('storing');
		else if (fact.outcome === 'processed') {
			const { end } = fact;
			const flaw = processingFlaw(end);
			if (flaw !== undefined) this.failed('processing', end.processMsg ?? flaw);
			else if (end.state === 'finish') this.streaks.delete('processing');
		} else if ('failure' in fact && fact.failure) {
			const stage = fact.batch > 0 ? 'storing' : 'upload';
			this.failed(stage, failureMessage(fact.failure), fact.batch);
		}
	}

	/**
	 * Counts a failed document, and opens the circuit breaker if the streak is long enough or the reason affects all
	 * documents.
	 *
	 * @param batch number of the batch with the document; 0 if there is none, and the document counts as one request
	 */
	private failed(stage: Stage, reason: string, batch = 0): void {
		if (this.limit === 0 || this.reason !== undefined) return;
		// Each reason may contain the ID of its own document, so reasons are compared without IDs.
		const sharedReason = reason.replace(EVERY_UUID, '');
		const last = this.streaks.get(stage);
		const streak = last?.reason === sharedReason ? last : newStreak(sharedReason);
		this.streaks.set(stage, streak);
		streak.count += 1;
		const requests = batch > 0 ? streak.batches.add(batch).size : streak.count;
		const isCertain = AFFECTS_ALL.test(reason);
		const isStreak = streak.count >= this.limit && requests >= Math.min(this.limit, MIN_REQUESTS);
		if (!isStreak && !isCertain) return;
		this.reason = reason;
		this.streakLength = isCertain ? undefined : streak.count;
	}
}

const newStreak = (reason: string) => ({ reason, count: 0, batches: new Set<number>() });
