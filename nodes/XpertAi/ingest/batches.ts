import type { Documents, Fact, ReadyDocument } from './facts';
import type { DocumentOrFact } from './uploads';

export type Batch<Report> = Array<ReadyDocument<Report>>;

/** Limits of a batch. A document that is larger than `maxBytes` is sent alone. */
export interface BatchLimits {
	maxCount: number;
	/** Maximum number of documents in the first batch. A small first batch shows early whether all documents fail. */
	firstCount?: number;
	maxBytes: number;
	/** Bytes to keep free for the journal: `once` per batch, and `each` per document. */
	reservedBytes?: { perBatch: number; perDocument: number };
}

/** Groups documents into batches, in order. Facts among the documents are yielded immediately. */
export async function* groupIntoBatches<Report>(
	documents: Documents<Report, DocumentOrFact<Report>>,
	{
		maxCount,
		firstCount = maxCount,
		maxBytes,
		reservedBytes: reserved = { perBatch: 0, perDocument: 0 },
	}: BatchLimits,
): AsyncGenerator<Batch<Report> | Fact<Report>> {
	let batch: Batch<Report> = [];
	let limit = Math.min(firstCount, maxCount);
	// JSON needs one byte for `[`, and one byte after each document for `,` or `]`.
	const room = maxBytes - reserved.perBatch - 1;
	let left = room;
	for await (const group of documents)
		for (const document of group) {
			if ('outcome' in document) {
				yield document;
				continue;
			}
			const bytes = document.bytes + 1 + reserved.perDocument;
			if (batch.length > 0 && (batch.length >= limit || bytes > left)) {
				yield batch;
				batch = [];
				left = room;
				limit = maxCount;
			}
			left -= bytes;
			batch.push(document);
		}
	if (batch.length > 0) yield batch;
}
