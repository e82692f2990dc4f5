import type { Failure } from '../transport/failure';
import { isCutOff, isOverdue, isRejection, mayBePartlyDone } from '../transport/meaning';
import { batchBytes } from './batches';
import type { ReadyDocument } from './batches';

export type Batch<Origin> = Array<ReadyDocument<Origin>>;

/** A batch, or a part of one, and what was tried with it. */
export interface Attempted<Origin> {
	batch: Batch<Origin>;
	number: number;
	/** Requests its documents were in before. */
	attempts: number;
	/** Whether one of those requests may have been done without our knowing. */
	mayBeDone?: boolean;
	/** Those of these requests that were rejected half-way. */
	partlyDone: PartlyDone[];
}

/** A request that was rejected: its documents before the refused one are stored, none after it (service behaviour, E3). */
export interface PartlyDone {
	failure: Failure;
	/** Whether a document of it is refused for certain: it was not stored, and none after it was reached. */
	ended: boolean;
}

/** So often the same batch is sent that finds no time; a smaller one may. */
const TRIES_BEFORE_HALVING = 3;

/** From this size on, a connection that is closed again and again may mean that the batch is too large: 1 MiB, nginx's limit. */
const LARGE_BYTES = 1024 * 1024;

/** Whether a batch is more than the server, or a gateway before it, has shown to manage at a time. */
export function isTooMuch(batch: Batch<unknown>, failure: Failure, attempts: number): boolean {
	if (attempts < TRIES_BEFORE_HALVING) return false;
	return isOverdue(failure) || (isCutOff(failure) && batchBytes(batch) >= LARGE_BYTES);
}

/** Whether a document names an uploaded file, which may be missing. */
export function namesFile({ record }: ReadyDocument<unknown>): boolean {
	return typeof record.storageFileId === 'string';
}

/** Whether the server may hold documents of a batch that failed for good. */
export function mayBeStored(
	{ batch, mayBeDone, partlyDone }: Attempted<unknown>,
	failure: Failure,
): boolean {
	if (mayBeDone || failure.kind === 'cancelled') return true;
	if (batch.length > 1 && mayBePartlyDone(failure)) return true;
	return partlyDone.some((earlier) => !earlier.ended && !hasRefused(earlier, batch, failure));
}

/**
 * Whether it was this document alone that an earlier request was rejected for: it is refused in the same words.
 * Other words may be about something that has begun since, when the document is stored already; chunks are
 * refused because they are; and 500 says nothing of a document.
 */
function hasRefused(
	{ failure: earlier }: PartlyDone,
	[document]: Batch<unknown>,
	failure: Failure,
): boolean {
	if (!document || !isRejection(failure) || document.record.chunks) return false;
	const { status, reason, databaseCode } = failure;
	return (
		status === earlier.status && reason === earlier.reason && databaseCode === earlier.databaseCode
	);
}
