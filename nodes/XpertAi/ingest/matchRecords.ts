import { get } from 'lodash';

import type { ReadyDocument } from './facts';
import { recordId } from './routes';

type Sent = Pick<ReadyDocument<unknown>, 'id' | 'lacksStableId' | 'record'>;

/**
 * Finds the record of each sent document in the answer of the server. Matches by ID. If the server replaced an ID,
 * matches by position, because servers keep the order of the request. The server may replace only two kinds of IDs: the
 * ID of a document that has no stable ID (`lacksStableId`), and an ID with incremental sync (see `isSameSource`).
 *
 * @param answer the parsed answer
 * @param rows IDs of the journal rows in the request, in lower case
 * @returns one record per document; `undefined` for a document that the answer does not list
 */
export function matchRecords(sent: Sent[], answer: unknown, rows: string[] = []): unknown[] {
	const all: unknown[] = Array.isArray(answer) ? answer : [];
	const records = all.filter((record) => !rows.includes(recordId(record) ?? ''));
	const ids = records.map(recordId);
	const sentIds = sent.map(({ id }) => id.toLowerCase());
	const byId = new Map(ids.map((id, index) => [id, records[index]]));
	return sent.map((document, index) => {
		const ownId = sentIds[index];
		const id = ids[index];
		if (byId.has(ownId)) return byId.get(ownId);
		if (id === undefined || records.length !== sent.length) return undefined;
		const isOwn = document.lacksStableId
			? !sentIds.includes(id)
			: isSameSource(document, records[index]);
		return isOwn ? records[index] : undefined;
	});
}

/**
 * Whether a record has the `sourceType` and `sourceKey` of a document. With incremental sync, this pair identifies the
 * record, even if the ID differs.
 */
function isSameSource({ record: { sourceType, sourceKey } }: Sent, record: unknown): boolean {
	if (!sourceType || !sourceKey) return false;
	return get(record, 'sourceType') === sourceType && get(record, 'sourceKey') === sourceKey;
}
