import get from 'lodash/get';
import { z } from 'zod';

import type { DocumentRecord } from '../payloads/document';

const NO_DOCUMENTS = 'it is not a list of documents';

/**
 * The answer that starts processing or reports its status: documents, each with its ID. Those that the server does not
 * know are left out.
 */
export const documentList = z
	.array(z.unknown(), { message: NO_DOCUMENTS })
	.refine((records) => records.every((record) => recordId(record) !== undefined), NO_DOCUMENTS);

const NOT_LISTED = 'it does not list the documents that it should';

/**
 * The answer that must list certain documents: a proxy may answer with an empty list, or for another server.
 *
 * @param ids the documents that must be listed
 */
export const listWith = (ids: string[]) =>
	z.array(z.unknown(), { message: NOT_LISTED }).refine((records) => {
		const listed = new Set(records.map(recordId));
		return ids.every((id) => listed.has(id.toLowerCase()));
	}, NOT_LISTED);

/** What the server was sent. */
interface Sent {
	id: string;
	isNew?: boolean;
	record: DocumentRecord;
}

/**
 * The record that an answer of E3 shows for each sent document. A document counts as stored only if the answer shows
 * it: every recorded success lists each document, in the order sent, with an ID. A server may give its own IDs to
 * documents whose IDs the node made.
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
 * What an answer of E3 lacks, in words that follow "cannot be read:"; `undefined` where it shows every document.
 *
 * @param records what `answeredRecords` gave
 */
export function storingFlaw(answer: unknown, records: unknown[]): string | undefined {
	const shown = records.filter((record) => record !== undefined).length;
	if (shown === records.length) return undefined;
	if (answer === undefined) return 'it is empty, and shows no document as stored';
	return `it shows ${shown} of ${records.length} documents as stored`;
}

/** The ID of a record, in lower case: servers return it in lower case, whatever was sent. */
export function recordId(record: unknown): string | undefined {
	const id: unknown = get(record, 'id');
	return typeof id === 'string' && id !== '' ? id.toLowerCase() : undefined;
}

/**
 * Whether a record is the one that the server keeps for the source of a document. With incremental sync, a
 * knowledgebase has one record per source, under the first ID that was sent for it.
 */
function isSameSource({ record: { sourceType, sourceKey } }: Sent, record: unknown): boolean {
	if (!sourceType || !sourceKey) return false;
	return get(record, 'sourceType') === sourceType && get(record, 'sourceKey') === sourceKey;
}
