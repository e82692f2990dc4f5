import type { Failure } from '../transport/failure';
import {
	isCutOff,
	isMissing,
	isOverdue,
	isRejection,
	mayBeDoneBehind,
	mayBePartlyDone,
} from '../transport/meaning';
import { batchBytes, hasChunks } from './batches';
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
	/** Whether one of those requests was rejected half-way. */
	partlyDone?: boolean;
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

/** Whether a document names an uploaded file, which may be missing; a text that holds this has its quotes escaped. */
export function namesFile({ json }: ReadyDocument<unknown>): boolean {
	return /"storageFileId":\s*"/.test(json);
}

/** Whether the server may hold documents of a batch that failed for good. */
export function mayBeStored(
	{ batch, mayBeDone, partlyDone }: Attempted<unknown>,
	failure: Failure,
): boolean {
	const alone = batch.length === 1;
	// Chunks without ids are refused when they come again, also after an answer that was lost; and a proxy
	// whose server is away answers 404 as well.
	if (alone && isRejection(failure))
		return mayBeDone === true && (isMissing(failure) || batch.some(hasChunks));
	if (mayBeDone || failure.kind === 'cancelled') return true;
	// Stored one after another, without a transaction (service behaviour, E3).
	if (mayBePartlyDone(failure)) return !alone;
	return partlyDone === true || mayBeDoneBehind(failure);
}
