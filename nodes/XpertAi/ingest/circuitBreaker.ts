import { EVERY_UUID } from '../payloads/common';

/** Where a document may come to its end without being found. */
export type Stage = 'upload' | 'storing' | 'processing';

/** What servers say of one document that holds for all (recorded). */
const HOLDS_FOR_ALL = /^Embedding model not set/;

/** One request that fails for once takes all documents with it that it sends, and is no row. */
const LEAST_REQUESTS = 3;

/** What failed one after another. */
interface Row {
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
	private readonly rows = new Map<Stage, Row>();
	/** Stages that a document has come through. */
	private readonly passable = new Set<Stage>();

	/** @param limit so many of them are enough; never with 0 */
	constructor(private readonly limit: number) {}

	/** What so many were told, once they were so many; nothing takes it back. */
	reason?: string;
	/** How many they were; none where one was enough, as it holds for all. */
	row?: number;

	/** A document has come through a stage. */
	passed(stage: Stage): void {
		this.passable.add(stage);
		this.rows.delete(stage);
	}

	/**
	 * A document has failed in a stage, for this reason.
	 *
	 * @param request what it was sent with, where several documents are sent together
	 * @param mayHoldForAll whether perhaps no document can come through: then a few are enough if none has
	 */
	failed(stage: Stage, reason: string, request?: number, mayHoldForAll = false): void {
		// What is said of each may name it.
		const same = reason.replace(EVERY_UUID, '');
		const last = this.rows.get(stage);
		const before = last?.reason === same ? last : undefined;
		const isNext = request === undefined || request !== before?.request;
		const count = (before?.count ?? 0) + 1;
		const requests = (before?.requests ?? 0) + (isNext ? 1 : 0);
		this.rows.set(stage, { reason: same, count, requests, request });
		const isForAll = mayHoldForAll && !this.passable.has(stage);
		const limit = isForAll ? Math.min(this.limit, LEAST_REQUESTS) : this.limit;
		const isRow = count >= limit && requests >= Math.min(limit, LEAST_REQUESTS);
		const isCertain = HOLDS_FOR_ALL.test(reason);
		if (this.limit === 0 || this.reason !== undefined || !(isRow || isCertain)) return;
		this.reason = reason;
		this.row = isCertain ? undefined : count;
	}
}
