import { EVERY_UUID } from '../payloads/common';

/** Where a document may come to its end without being found. */
export type Stage = 'upload' | 'storing' | 'processing';

/** What servers say of one document that holds for all (recorded). */
const AFFECTS_ALL = /^Embedding model not set/;

/** One request that fails for once takes all documents with it that it sends, and is no row. */
const MIN_REQUESTS = 3;

/** What failed one after another. */
interface Streak {
	reason: string;
	count: number;
	requests: number;
	request?: number;
}

/**
 * Counts the documents that failed one after another for the same reason. The stages are counted apart: while a
 * document fails in one, others still come through those before it.
 */
export class CircuitBreaker {
	private readonly streaks = new Map<Stage, Streak>();
	/** Stages that a document has come through. */
	private readonly passedStages = new Set<Stage>();

	/** @param limit so many of them are enough; never with 0 */
	constructor(private readonly limit: number) {}

	/** What so many were told, once they were so many; nothing takes it back. */
	reason?: string;
	/** How many they were; none where one was enough, as it holds for all. */
	streakLength?: number;

	/** A document has come through a stage. */
	passed(stage: Stage): void {
		this.passedStages.add(stage);
		this.streaks.delete(stage);
	}

	/**
	 * A document has failed in a stage, for this reason.
	 *
	 * @param request what it was sent with, where several documents are sent together
	 * @param mayAffectAll whether perhaps no document can come through: then a few are enough if none has
	 */
	failed(stage: Stage, reason: string, request?: number, mayAffectAll = false): void {
		// What is said of each may name it.
		const sharedReason = reason.replace(EVERY_UUID, '');
		const last = this.streaks.get(stage);
		const previous = last?.reason === sharedReason ? last : undefined;
		const isNewRequest = request === undefined || request !== previous?.request;
		const count = (previous?.count ?? 0) + 1;
		const requests = (previous?.requests ?? 0) + (isNewRequest ? 1 : 0);
		this.streaks.set(stage, { reason: sharedReason, count, requests, request });
		const affectsAll = mayAffectAll && !this.passedStages.has(stage);
		const limit = affectsAll ? Math.min(this.limit, MIN_REQUESTS) : this.limit;
		const isStreak = count >= limit && requests >= Math.min(limit, MIN_REQUESTS);
		const isCertain = AFFECTS_ALL.test(reason);
		if (this.limit === 0 || this.reason !== undefined || !(isStreak || isCertain)) return;
		this.reason = reason;
		this.streakLength = isCertain ? undefined : count;
	}
}
