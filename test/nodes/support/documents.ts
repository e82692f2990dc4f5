import { type ReadyDocument, serialize } from 'nodes/XpertAi/ingest/facts';

import type { DocumentRecord } from '../../../nodes/XpertAi/payloads/document';

/** A document as it waits to be sent; its origin is its place. */
export function prepared(
	record: DocumentRecord,
	origin: number,
	id = `document-${origin}`,
): ReadyDocument<number> {
	return { record, ...serialize(record), origin, id };
}
