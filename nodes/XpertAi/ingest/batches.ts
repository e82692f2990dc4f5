/** A record ready to be sent: serialized once, its size measured once. */
export interface Serialized<Origin> {
	json: string;
	bytes: number;
	/** What the record was made of, to give its outcome back to. */
	origin: Origin;
}

/** When a batch is full. A single record over `maxBytes` makes a batch of its own. */
export interface BatchLimits {
	maxCount: number;
	maxBytes: number;
}

/** Serializes a record. */
export function serialize<Origin>(record: unknown, origin: Origin): Serialized<Origin> {
	const json = JSON.stringify(record);
	return { json, bytes: Buffer.byteLength(json), origin };
}

/** Cuts records into batches, in order, each record in exactly one. */
export function* batches<Origin>(
	records: Iterable<Serialized<Origin>>,
	{ maxCount, maxBytes }: BatchLimits,
): Generator<Array<Serialized<Origin>>> {
	let batch: Array<Serialized<Origin>> = [];
	let bytes = BRACKETS;
	for (const record of records) {
		const grown = bytes + record.bytes + (batch.length > 0 ? COMMA : 0);
		if (batch.length > 0 && (batch.length >= maxCount || grown > maxBytes)) {
			yield batch;
			batch = [];
			bytes = BRACKETS;
		}
		bytes += record.bytes + (batch.length > 0 ? COMMA : 0);
		batch.push(record);
	}
	if (batch.length > 0) yield batch;
}

const BRACKETS = 2;
const COMMA = 1;

/** The JSON array E3 takes, put together from the serialized records. */
export function batchBody(batch: Array<Serialized<unknown>>): string {
	return `[${batch.map(({ json }) => json).join(',')}]`;
}
