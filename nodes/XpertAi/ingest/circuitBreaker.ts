import { EVERY_UUID } from '../payloads/common';
import { failureMessage } from '../transport/failure';
import type { Fact } from './readyDocument';
import { processingFlaw } from './processingStatus';

/** The stages in which a document can fail. */
type Stage = 'upload' | 'storing' | 'processing';

/** Reasons that, given for one document, hold for all documents (recorded). */
const AFFECTS_ALL = /^Embedding model not set/;

/** A streak spans at least this many requests: one failed request is not a streak, however many documents it held. */
const MIN_REQUESTS = 3;

/** Consecutive failures with the same reason. */
interface Streak {
	reason: string;
	count: number;
	requests: number;
	request?: number;
}

/**
 * Counts consecutive documents that failed for the same reason, and opens after `limit` of them. Stages are counted
 * apart: while documents fail in one stage, others still pass an earlier one.
 */
export class CircuitBreaker {
	private readonly streaks = new Map<Stage, Streak>();
	/** Stages that at least one document has passed. */
	private readonly passedStages = new Set<Stage>();

	/** @param limit consecutive failures that open the circuit breaker; 0 never does */
	constructor(private readonly limit: number) {}

	/** Why the circuit breaker is open. It never closes again. */
	reason?: string;
	/** Failures in the streak that opened it; none where a single failure holds for all documents. */
	streakLength?: number;

	/** Counts what happened. */
	take(fact: Fact<unknown>): void {
		switch (fact.outcome) {
			case 'uploaded':
				return this.passed('upload');
			case 'stored':
				return this.passed('storing');
			case 'processed': {
				const { end } = fact;
				const flaw = processingFlaw(end);
				if (flaw !== undefined) this.failed('processing', end.processMsg ?? flaw);
				else if (end.state === 'finish') this.passed('processing');
				return;
			}
			case 'rejected':
			case 'unknown':
			case 'notSent': {
				const { failure } = fact;
				if (!failure) return;
				if (fact.batch > 0) this.failed('storing', failureMessage(failure), fact.batch);
				// With 403, the key may have no right to upload any file.
				else this.failed('upload', failureMessage(failure), undefined, failure.status === 403);
			}
		}
	}

	/** A document has passed a stage. */
	private passed(stage: Stage): void {
		this.passedStages.add(stage);
		this.streaks.delete(stage);
	}

	/**
	 * A document has failed in a stage.
	 *
	 * @param request number of the request that carried the document, where a request carries several
	 * @param mayAffectAll whether the failure may affect all documents: then a few failures are enough if no document
	 * has passed
	 */
	private failed(stage: Stage, reason: string, request?: number, mayAffectAll = false): void {
		// Reasons may name the document, so IDs are left out of the comparison.
		const sharedReason = reason.replace(EVERY_UUID, '');
		const last = this.streaks.get(stage);
		const isSame = last?.reason === sharedReason;
		const streak: Streak = isSame ? last : { reason: sharedReason, count: 0, requests: 0 };
		const count = ++streak.count;
		if (request === undefined || request !== streak.request) streak.requests += 1;
		this.streaks.set(stage, Object.assign(streak, { request }));
		const affectsAll = mayAffectAll && !this.passedStages.has(stage);
		const limit = affectsAll ? Math.min(this.limit, MIN_REQUESTS) : this.limit;
		const isStreak = count >= limit && streak.requests >= Math.min(limit, MIN_REQUESTS);
		const isCertain = AFFECTS_ALL.test(reason);
		if (this.limit === 0 || this.reason !== undefined || !(isStreak || isCertain)) return;
		this.reason = reason;
		this.streakLength = isCertain ? undefined : count;
	}
}
