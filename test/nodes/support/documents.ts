import type { ReadyDocument } from '../../../nodes/XpertAi/ingest/batches';

/** A document as it waits to be sent; its origin is its place. */
export function prepared(record: unknown, origin: number, id?: string): ReadyDocument<number> {
	const json = JSON.stringify(record);
	return { json, bytes: Buffer.byteLength(json), origin, ...(id === undefined ? {} : { id }) };
}
