import get from 'lodash/get';

import { answerMustBe, isJsonObject } from '../transport/answer';
import type { ReadyDocument } from './batches';

/** What starts and tells of processing answers: a list of documents, each with its id; those that the server does not know are missing. */
export const mustListDocuments = answerMustBe(
	(answer) => Array.isArray(answer) && answer.every((record) => recordId(record) !== undefined),
	'it is not a list of documents',
);

type Sent = Pick<ReadyDocument<unknown>, 'id' | 'isNew' | 'record'>;

/**
 * What the answer of E3 shows of each document that was sent. Stored is what it shows, and nothing else: every
 * recorded success names each document, in the order sent, with an id. A server may give ids of its own to documents
 * whose ids the node has made.
 *
 * @param answer the parsed answer of any 2xx
 * @returns the record of each document; `undefined` where the answer does not show it
 */
export function answeredRecords(sent: Sent[], answer: unknown): unknown[] {
	const records: unknown[] = Array.isArray(answer) ? answer : [];
	const sentIds = new Set(sent.map(({ id }) => id.toLowerCase()));
	const byId = new Map(records.map((record) => [recordId(record), record]));
	return sent.map((document, index) => {
		const ownId = document.id.toLowerCase();
		const atIndex = records[index];
		const id = recordId(atIndex);
		if (byId.has(ownId)) return id === ownId ? atIndex : byId.get(ownId);
		if (id === undefined || records.length !== sent.length) return undefined;
		const isOwn = document.isNew ? !sentIds.has(id) : isSameSource(document, atIndex);
		return isOwn ? atIndex : undefined;
	});
}

/**
 * What is missing in an answer of E3, in words that follow "cannot be read:"; `undefined` where it shows every
 * document.
 *
 * @param records what `answeredRecords` gave
 */
export function storingFlaw(answer: unknown, records: unknown[]): string | undefined {
	const shown = records.filter((record) => record !== undefined).length;
	if (shown === records.length) return undefined;
	if (answer === undefined) return 'it is empty, and shows no document as stored';
	return `it shows ${shown} of ${records.length} documents as stored`;
}

/** The id of a record; servers give it in lower case, whatever it was sent in. */
export function recordId(record: unknown): string | undefined {
	const id: unknown = get(record, 'id');
	return typeof id === 'string' && id !== '' ? id.toLowerCase() : undefined;
}

/**
 * Whether a record is the one the server keeps for the source of a document. With incremental sync, a
 * knowledgebase has one record for a source, under the first id that was sent with it.
 */
function isSameSource({ record: sent }: Sent, record: unknown): boolean {
	const { sourceType, sourceKey } = sent;
	if (!isJsonObject(record) || !sourceType || !sourceKey) return false;
	return record.sourceType === sourceType && record.sourceKey === sourceKey;
}
