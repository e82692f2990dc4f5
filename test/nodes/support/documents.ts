import { serialize } from '../../../nodes/XpertAi/ingest/readyDocument';
import type { ReadyDocument } from '../../../nodes/XpertAi/ingest/readyDocument';
import type { DocumentRecord } from '../../../nodes/XpertAi/payloads/document';

/** A document as it waits to be sent; its origin is its place. */
export function prepared(
	record: DocumentRecord,
	origin: number,
	id = `document-${origin}`,
): ReadyDocument<number> {
	return { record, ...serialize(record), origin, id };
}
