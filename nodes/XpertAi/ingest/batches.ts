import type { DocumentRecord } from '../payloads/document';
import type { UploadFile } from '../transport/multipart';

/** A document on its way. What it says is read in its record alone. */
export interface ReadyDocument<Origin> {
	record: DocumentRecord;
	/** The record as it stands in the body of a batch: made once, to be weighed, compared and sent. */
	json: string;
	/** Bytes of that in UTF-8. */
	bytes: number;
	/** What the server keeps the document under; sending it again replaces it. */
	id: string;
	/** Whether no other run can know it by its id, as that is made for this one or is no UUID. */
	isNew?: boolean;
	/** What tells it from all others, where its id is made of that. */
	key?: string;
	/** Stands for what it says and what is in its file, to be compared with earlier runs; only where these are remembered. */
	content?: string;
	/** Its file, which has to be uploaded before it is sent: a document is stored only after its file is there. */
	file?: () => UploadFile | Promise<UploadFile>;
	/** Where the document came from, to give its outcome back to. */
	origin: Origin;
}

/** Documents on their way, which may have to be waited for. */
export type Documents<Origin> =
	| Iterable<ReadyDocument<Origin>>
	| AsyncIterable<ReadyDocument<Origin>>;

/** When a batch is full. A single document over `maxBytes` makes a batch of its own. */
export interface BatchLimits {
	maxCount: number;
	/** Documents in the first batch, which shows soon what keeps all of them from being found. */
	firstCount?: number;
	maxBytes: number;
	/** Bytes that are kept free for what goes beside the documents: in each batch, and for each document. */
	reserved?: { once: number; each: number };
}

const BRACKETS = 2;
const COMMA = 1;

/**
 * Cuts documents into batches, in order, each document in exactly one. When the source breaks, what it
 * gave before is still handed on.
 *
 * @throws what the documents throw
 */
export async function* batches<Origin>(
	documents: Documents<Origin>,
	{ maxCount, firstCount = maxCount, maxBytes, reserved = { once: 0, each: 0 } }: BatchLimits,
): AsyncGenerator<Array<ReadyDocument<Origin>>> {
	let batch: Array<ReadyDocument<Origin>> = [];
	let bytes = BRACKETS + reserved.once;
	let limit = Math.min(firstCount, maxCount);
	let sourceFailure: { error: unknown } | undefined;
	try {
		for await (const document of documents) {
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

/** Both halves of a batch of at least two documents. */
export function halves<Item>(batch: Item[]): [Item[], Item[]] {
	const middle = Math.ceil(batch.length / 2);
	return [batch.slice(0, middle), batch.slice(middle)];
}

/**
 * The JSON array E3 takes.
 *
 * @param around rows that go before and behind the documents
 */
export function batchBody(batch: Array<ReadyDocument<unknown>>, around: string[] = []): string {
	const [before = [], behind = []] = around;
	return `[${[before, batch.map(({ json }) => json), behind].flat().join(',')}]`;
}

/** A record as it stands in the body of a batch. */
export function serialize(record: DocumentRecord): Pick<ReadyDocument<unknown>, 'json' | 'bytes'> {
	const json = JSON.stringify(record);
	return { json, bytes: Buffer.byteLength(json) };
}

/** Bytes of the JSON array of a batch. */
export function batchBytes(batch: Array<ReadyDocument<unknown>>): number {
	return batch.reduce((sum, { bytes }) => sum + bytes + COMMA, BRACKETS - COMMA);
}
