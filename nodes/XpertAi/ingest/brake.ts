import { EVERY_UUID } from '../payloads/common';

/** Where a document may come to its end without being found. */
export type Stage = 'upload' | 'storing' | 'processing';

/**
 * Counts the documents that failed one after another for the same reason. The stages are counted apart: while a
 * document fails in one, others still come through those before it.
 */
export class Brake {
	private readonly rows = new Map<Stage, { reason: string; count: number }>();

	/** @param limit so many of them are enough; never with 0 */
	constructor(private readonly limit: number) {}

	/** What so many were told, once they were so many; nothing takes it back. */
	reason?: string;

	/** A document has come through a stage. */
	passed(stage: Stage): void {
		this.rows.delete(stage);
	}

	/** A document has failed in a stage, for this reason. */
	failed(stage: Stage, reason: string): void {
		// What is said of each may name it.
		const same = reason.replace(EVERY_UUID, '');
		const before = this.rows.get(stage);
		const count = before?.reason === same ? before.count + 1 : 1;
		this.rows.set(stage, { reason: same, count });
		if (count === this.limit) this.reason ??= reason;
	}
}
