import { isJsonObject } from '../transport/answer';
import type { ReadyDocument } from './batches';

/**
 * The record of each document of a batch in the answer of E3: the one in its place, as servers answer
 * in the order sent, unless its id says that it belongs to another document.
 *
 * @returns a record for each document; `undefined` where the answer does not tell
 */
export function answeredRecords(batch: Array<ReadyDocument<unknown>>, answer: unknown): unknown[] {
	const records: unknown[] = Array.isArray(answer) ? answer : [];
	const sent = new Set(batch.flatMap(({ id }) => id?.toLowerCase() ?? []));
	const byId = new Map(records.map((record) => [idOf(record), record]));
	return batch.map(({ id }, index) => {
		const own = id?.toLowerCase();
		const here = idOf(records[index]);
		if (own !== undefined && byId.has(own)) return here === own ? records[index] : byId.get(own);
		const othersRecord = here !== undefined && sent.has(here);
		return records.length === batch.length && !othersRecord ? records[index] : undefined;
	});
}

/** The id of a record; servers give it in lower case, whatever it was sent in. */
function idOf(record: unknown): string | undefined {
	return isJsonObject(record) && typeof record.id === 'string'
		? record.id.toLowerCase()
		: undefined;
}
