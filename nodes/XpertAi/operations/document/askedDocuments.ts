import type { IDataObject } from 'n8n-workflow';

import { answerItems } from '../../execution/results';
import { isJsonObject } from '../../transport/answer';

/**
 * One item for each document asked for, in the order asked: servers answer in no order, and leave out the
 * documents they do not know. What they say of others comes last.
 *
 * @param missing the item of a document that is missing in the answer
 * @param found what is added to the others
 */
export function itemPerDocument(
	answer: unknown,
	asked: unknown,
	missing: (id: string) => IDataObject,
	found: IDataObject = {},
): IDataObject[] {
	if (!Array.isArray(answer) || !Array.isArray(asked)) return answerItems(answer);
	const entries = answer.filter(isJsonObject);
	const byId = new Map(entries.map((entry) => [lowerId(entry.id), entry]));
	const items = asked.map((id: unknown) => {
		const entry = byId.get(lowerId(id));
		return entry ? { ...entry, ...found } : missing(String(id));
	});
	const wanted = new Set(asked.map(lowerId));
	return [...items, ...entries.filter(({ id }) => !wanted.has(lowerId(id)))];
}

/** Servers give ids in lower case, whatever they were sent in. */
const lowerId = (id: unknown) => String(id).toLowerCase();
