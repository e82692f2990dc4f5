import { EVERY_UUID } from '../payloads/ids';
import { failureMessage } from '../transport/failureText';
import type { Fact } from './facts';
import { notFoundReason } from './statuses';

type Stage = 'upload' | 'storing' | 'processing';

/** A failure with this reason affects all documents, so it opens the circuit breaker at once. */
const AFFECTS_ALL = /^Embedding model not set/;

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
	/** The current streak of failures in each stage. All failures of a streak have the same reason. */
	private readonly streaks = new Map<Stage, ReturnType<typeof newStreak>>();
	private hasUploaded = false;

	/** @param limit number of consecutive failures that opens the circuit breaker; with 0, it never opens */
	constructor(private readonly limit: number) {}

	/** Why the circuit breaker opened; `undefined` while it is closed. An open circuit breaker never closes again. */
	reason?: string;
	/** Number of failures that opened the circuit breaker. Unset if the reason matches `AFFECTS_ALL`. */
	streakLength?: number;

	/** Updates the counts. A failure raises the count of its stage, and a success resets this count. */
	count(fact: Fact<unknown>): void {
		if (fact.outcome === 'uploaded') {
			this.hasUploaded = true;
			this.streaks.delete('upload');
		} else if (fact.outcome === 'stored') this.streaks.delete('storing');
		else if (fact.outcome === 'processed') {
			const { end } = fact;
			const reason = notFoundReason(end);
			if (reason !== undefined) this.countFailure('processing', end.processMsg ?? reason);
			else if (end.state === 'finish') this.streaks.delete('processing');
		} else if ('failure' in fact && fact.failure) {
			const { batch, failure } = fact;
			const stage = batch > 0 ? 'storing' : 'upload';
			// A key without the right to upload files gets the status 403 for every file.
			const mayAffectAll = stage === 'upload' && failure.status === 403 && !this.hasUploaded;
			this.countFailure(stage, failureMessage(failure), batch, mayAffectAll);
		}
	}

	/**
	 * Counts a failed document, and opens the circuit breaker if there are enough failures.
	 *
	 * @param batch number of the batch that contained the document. 0 if the document was in no batch. Such a document
	 * counts as one request.
	 * @param mayAffectAll whether MIN_REQUESTS failures are enough
	 */
	private countFailure(stage: Stage, reason: string, batch = 0, mayAffectAll = false): void {
		if (this.limit === 0 || this.reason !== undefined) return;
		// A reason may contain the ID of the document, so compare reasons without IDs.
		const sharedReason = reason.replace(EVERY_UUID, '');
		const last = this.streaks.get(stage);
		const streak = last?.reason === sharedReason ? last : newStreak(sharedReason);
		this.streaks.set(stage, streak);
		streak.count += 1;
		const requests = batch > 0 ? streak.batches.add(batch).size : streak.count;
		const isCertain = AFFECTS_ALL.test(reason);
		const least = Math.min(this.limit, MIN_REQUESTS);
		const limit = mayAffectAll ? least : this.limit;
		const isStreak = streak.count >= limit && requests >= least;
		if (!isStreak && !isCertain) return;
		this.reason = reason;
		this.streakLength = isCertain ? undefined : streak.count;
	}
}

const newStreak = (reason: string) => ({ reason, count: 0, batches: new Set<number>() });
