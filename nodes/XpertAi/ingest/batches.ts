import type { Fact, ReadyDocument } from './readyDocument';

/** Documents to be sent, as they become ready. */
export type Documents<Origin> =
	| Iterable<ReadyDocument<Origin>>
	| AsyncIterable<ReadyDocument<Origin>>;

/** When a batch is full. A single document over `maxBytes` makes a batch of its own. */
export interface BatchLimits {
	maxCount: number;
	/** Documents in the first batch. A small first batch reveals errors that affect all documents. */
	firstCount?: number;
	maxBytes: number;
	/** Bytes reserved for the rows of the journal: per batch, and per document. */
	reserved?: { once: number; each: number };
}

const BRACKETS = 2;
const COMMA = 1;

/**
 * Cuts documents into batches, in order, each document in exactly one. Facts pass at once. If the source throws, the
 * documents it gave before still come out as a last batch.
 *
 * @throws what the source of the documents throws
 */
export async function* batches<Origin, Passed extends Fact<Origin> = never>(
	documents: Documents<Origin> | AsyncIterable<ReadyDocument<Origin> | Passed>,
	{ maxCount, firstCount = maxCount, maxBytes, reserved = { once: 0, each: 0 } }: BatchLimits,
): AsyncGenerator<Array<ReadyDocument<Origin>> | Passed> {
	let batch: Array<ReadyDocument<Origin>> = [];
	let bytes = BRACKETS + reserved.once;
	let limit = Math.min(firstCount, maxCount);
	let sourceFailure: { error: unknown } | undefined;
	try {
		for await (const document of documents) {
			if ('outcome' in document) {
				yield document;
				continue;
			}
			const ownBytes = document.bytes + reserved.each;
			const isFull = batch.length >= limit || bytes + COMMA + ownBytes > maxBytes;
			if (isFull && batch.length > 0) {
				yield batch;
				batch = [];
				bytes = BRACKETS + reserved.once;
				limit = maxCount;
			}
			bytes += ownBytes + (batch.length > 0 ? COMMA : 0);
			batch.push(document);
		}
	} catch (error) {
		sourceFailure = { error };
	}
	if (batch.length > 0) yield batch;
	if (sourceFailure) throw sourceFailure.error;
}

/**
 * The JSON array that E3 takes.
 *
 * @param around rows before and after the documents, as JSON
 */
export function batchBody(batch: Array<ReadyDocument<unknown>>, around: string[] = []): string {
	const [before = [], behind = []] = around;
	return `[${[before, batch.map(({ json }) => json), behind].flat().join(',')}]`;
}

/** Bytes of the JSON array of a batch. */
export function batchBytes(batch: Array<ReadyDocument<unknown>>): number {
	return batch.reduce((sum, { bytes }) => sum + bytes + COMMA, BRACKETS - COMMA);
}
