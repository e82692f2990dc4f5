import { type ReadyDocument, recordJsonAndSize } from 'nodes/XpertAi/ingest/readyDocuments';

import type { DocumentRecord } from '../../../nodes/XpertAi/payloads/document';

/** A document as it waits to be sent; its report is its place. */
export function prepared(
	record: DocumentRecord,
	report: number,
	id = `document-${report}`,
): ReadyDocument<number> {
	return { record, ...recordJsonAndSize(record), report, id };
}
