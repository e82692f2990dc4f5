import { EVERY_UUID } from '../payloads/common';

/** Where a document may come to its end without being found. */
export type Stage = 'upload' | 'storing' | 'processing';

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
export class Brake {
	private readonly rows = new Map<Stage, Row>();

	/** @param limit so many of them are enough; never with 0 */
	constructor(private readonly limit: number) {}

	/** What so many were told, once they were so many; nothing takes it back. */
	reason?: string;

	/** A document has come through a stage. */
	passed(stage: Stage): void {
		this.rows.delete(stage);
	}

	/**
	 * A document has failed in a stage, for this reason.
	 *
	 * @param request what it was sent with, where several documents are sent together
	 */
	failed(stage: Stage, reason: string, request?: number): void {
		// What is said of each may name it.
		const same = reason.replace(EVERY_UUID, '');
		const last = this.rows.get(stage);
		const before = last?.reason === same ? last : undefined;
		const isNext = request === undefined || request !== before?.request;
		const count = (before?.count ?? 0) + 1;
		const requests = (before?.requests ?? 0) + (isNext ? 1 : 0);
		this.rows.set(stage, { reason: same, count, requests, request });
		const isRow = count >= this.limit && requests >= Math.min(this.limit, LEAST_REQUESTS);
		if (this.limit > 0 && isRow) this.reason ??= reason;
	}
}
