import { get } from 'lodash';

import type { ReadyDocument } from './readyDocuments';
import { lowerCaseRecordId } from './documentList';

type SentDocument = Pick<ReadyDocument<unknown>, 'id' | 'lacksStableId' | 'record'>;

/**
 * Finds the record of each sent document in the answer of the server.
 *
 * @param answer the parsed answer
 * @param journalIds IDs of the journal rows in the request, in lower case
 * @returns one record per document; `undefined` for a document that the answer does not list
 */
export function matchRecords(
	documents: SentDocument[],
	answer: unknown,
	journalIds: string[] = [],
): unknown[] {
	const entries: unknown[] = Array.isArray(answer) ? answer : [];
	const records = entries.filter((entry) => !journalIds.includes(lowerCaseRecordId(entry) ?? ''));
	const byId = new Map(records.map((record) => [lowerCaseRecordId(record), record]));
	const sentIds = documents.map(({ id }) => id.toLowerCase());
	// Servers keep the order of the request. So if the answer has a record for each document, positions match.
	const isComplete = records.length === documents.length;
	return documents.map((document, index) => {
		const sameId = byId.get(document.id.toLowerCase());
		if (sameId !== undefined) return sameId;
		const samePosition = isComplete ? records[index] : undefined;
		return mayHaveNewId(document, samePosition, sentIds) ? samePosition : undefined;
	});
}

/**
 * Whether a record may be a document whose ID the server has replaced. Servers do this in two cases: the document has
 * no stable ID; or, with incremental sync, an earlier record has the same source type and key (see `hasSameSourceKey`).
 */
function mayHaveNewId(document: SentDocument, record: unknown, sentIds: string[]): boolean {
	const id = lowerCaseRecordId(record);
	if (id === undefined) return false;
	return document.lacksStableId ? !sentIds.includes(id) : hasSameSourceKey(document, record);
}

/**
 * Whether a record has the `sourceType` and `sourceKey` of a document. With incremental sync, this pair identifies the
 * record, even if the ID differs.
 */
function hasSameSourceKey({ record: sent }: SentDocument, record: unknown): boolean {
	const { sourceType, sourceKey } = sent;
	if (!sourceType || !sourceKey) return false;
	return get(record, 'sourceType') === sourceType && get(record, 'sourceKey') === sourceKey;
}
