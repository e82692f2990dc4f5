import type { Fact } from './facts';
import type { DocumentGroups, ReadyDocument } from './readyDocuments';
import type { DocumentOrFact } from './uploads';

export type Batch<Report> = Array<ReadyDocument<Report>>;

/** Limits of a batch. A document that is larger than `maxBytes` is sent alone. */
export interface BatchLimits {
	maxCount: number;
	/** Maximum number of documents in the first batch. A small first batch shows early whether all documents fail. */
	firstCount?: number;
	maxBytes: number;
	/** Bytes to keep free for the journal. */
	reservedBytes?: { perBatch: number; perDocument: number };
}

/** Groups documents into batches, in order. Facts among the documents are yielded immediately. */
export async function* groupIntoBatches<Report>(
	documents: DocumentGroups<Report, DocumentOrFact<Report>>,
	limits: BatchLimits,
): AsyncGenerator<Batch<Report> | Fact<Report>> {
	const { maxCount, firstCount = maxCount, maxBytes, reservedBytes } = limits;
	const { perBatch, perDocument } = reservedBytes ?? { perBatch: 0, perDocument: 0 };
	// JSON needs one byte for `[`, and one byte after each document for `,` or `]`.
	const roomInBatch = maxBytes - perBatch - 1;
	let batch: Batch<Report> = [];
	let maxCountNow = Math.min(firstCount, maxCount);
	let bytesLeft = roomInBatch;
	for await (const group of documents)
		for (const one of group) {
			if ('outcome' in one) {
				yield one;
				continue;
			}
			const bytes = one.sizeInBytes + 1 + perDocument;
			const isFull = batch.length >= maxCountNow || bytes > bytesLeft;
			if (isFull && batch.length > 0) {
				yield batch;
				batch = [];
				bytesLeft = roomInBatch;
				maxCountNow = maxCount;
			}
			batch.push(one);
			bytesLeft -= bytes;
		}
	if (batch.length > 0) yield batch;
}
