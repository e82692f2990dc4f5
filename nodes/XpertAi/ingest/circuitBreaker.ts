import { EVERY_UUID_PATTERN } from '../payloads/ids';
import { isForbidden } from '../transport/failure';
import { failureMessage } from '../transport/failureText';
import type { Fact, ProcessingFact } from './facts';
import { unfindableReason } from './statuses';

type Stage = 'upload' | 'storing' | 'processing';

/** A failure with this reason affects all documents, so it opens the circuit breaker at once. */
const AFFECTS_ALL_PATTERN = /^Embedding model not set/;

/**
 * Minimum number of failed requests in a streak, because one request can contain many documents. If `limit` is lower,
 * `limit` is the minimum.
 */
const MIN_REQUESTS = 3;

/**
 * Stops a run after `limit` consecutive failures with the same reason. Each stage has its own count, so that a stored
 * document does not reset the count of processing failures.
 */
export class CircuitBreaker {
	/** The current streak of failures in each stage. */
	private readonly streaks = new Map<Stage, Streak>();
	private hasUploaded = false;

	/** @param limit number of consecutive failures that opens the circuit breaker; with 0, it never opens */
	constructor(private readonly limit: number) {}

	/** Why the circuit breaker opened; `undefined` while it is closed. An open circuit breaker never closes again. */
	reason?: string;
	/** Number of failures that opened the circuit breaker. Unset if the reason matches `AFFECTS_ALL_PATTERN`. */
	streakLength?: number;

	/** Updates the counts. A failure raises the count of its stage, and a success resets this count. */
	count(fact: Fact<unknown>): void {
		if (fact.outcome === 'uploaded') {
			this.hasUploaded = true;
			this.streaks.delete('upload');
		} else if (fact.outcome === 'stored') this.streaks.delete('storing');
		else if (fact.outcome === 'processed') this.countProcessingFact(fact);
		else if ('failure' in fact && fact.failure) {
			const { batch, failure } = fact;
			const stage = batch > 0 ? 'storing' : 'upload';
			// A key without the right to upload files fails like this for every file.
			const mayAffectAll = stage === 'upload' && isForbidden(failure) && !this.hasUploaded;
			this.countFailure(stage, failureMessage(failure), { batch, mayAffectAll });
		}
	}

	private countProcessingFact({ lastProcessingState }: ProcessingFact): void {
		const reason = unfindableReason(lastProcessingState);
		if (reason !== undefined)
			this.countFailure('processing', lastProcessingState.processMsg ?? reason);
		else if (lastProcessingState.state === 'finish') this.streaks.delete('processing');
	}

	/**
	 * Counts a failed document. Opens the circuit breaker if enough documents in enough requests have failed, or if
	 * `reason` affects all documents.
	 *
	 * @param batch number of the batch that could not be stored. A batch is one request. 0 if an upload or the processing
	 * failed: each such failure counts as a request of its own.
	 * @param mayAffectAll whether MIN_REQUESTS failures are enough
	 */
	private countFailure(
		stage: Stage,
		reason: string,
		{ batch = 0, mayAffectAll = false } = {},
	): void {
		if (this.limit === 0 || this.reason !== undefined) return;
		if (AFFECTS_ALL_PATTERN.test(reason)) {
			this.reason = reason;
			return;
		}
		const streak = this.currentOrNewStreak(stage, reason);
		streak.failureCount += 1;
		if (batch > 0) streak.batchNumbers.add(batch);
		const requests = batch > 0 ? streak.batchNumbers.size : streak.failureCount;
		const minRequests = Math.min(this.limit, MIN_REQUESTS);
		const minFailures = mayAffectAll ? minRequests : this.limit;
		if (streak.failureCount >= minFailures && requests >= minRequests) {
			this.reason = reason;
			this.streakLength = streak.failureCount;
		}
	}

	/** Returns the streak of a stage. Starts a new streak if the reason is another one. */
	private currentOrNewStreak(stage: Stage, reason: string): Streak {
		// A reason may contain the ID of the document, so compare reasons without IDs.
		const sharedReason = reason.replace(EVERY_UUID_PATTERN, '');
		const current = this.streaks.get(stage);
		if (current?.sharedReason === sharedReason) return current;
		const streak = { sharedReason, failureCount: 0, batchNumbers: new Set<number>() };
		this.streaks.set(stage, streak);
		return streak;
	}
}

/** Consecutive failures with the same reason. `batchNumbers`: numbers of the batches that contained the documents. */
interface Streak {
	sharedReason: string;
	failureCount: number;
	batchNumbers: Set<number>;
}
