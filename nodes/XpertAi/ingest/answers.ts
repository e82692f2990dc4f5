import { get } from 'lodash';
import { z } from 'zod';

import type { Call, Result } from '../transport/call';
import type { Clock } from '../transport/clock';
import type { ReadyDocument } from './facts';

const NOT_LISTED = 'it does not list the documents that it should';

/**
 * Returns the schema of a list of documents. The list must contain all `ids`, because a proxy may answer with an empty
 * list. Each entry must have an ID, because another server may answer with another list.
 *
 * @param ids IDs of documents that are on the server
 */
export const listWith = (ids: string[] = []) =>
	z.array(z.unknown(), { message: NOT_LISTED }).refine((records) => {
		const listed = new Set(records.map(recordId));
		return !listed.has(undefined) && ids.every((id) => listed.has(id.toLowerCase()));
	}, NOT_LISTED);

type Sent = Pick<ReadyDocument<unknown>, 'id' | 'isNew' | 'record'>;

/**
 * Finds the record of each sent document in the answer of the server. Matches by ID. If the server replaced an ID,
 * matches by position, because servers keep the order of the request. The server may replace only two kinds of IDs: the
 * ID of a new document (`isNew`), and an ID with incremental sync (see `isSameSource`).
 *
 * @param answer the parsed answer
 * @param rows IDs of the journal rows in the request, in lower case
 * @returns one record per document; `undefined` for a document that the answer does not list
 */
export function answeredRecords(sent: Sent[], answer: unknown, rows: string[] = []): unknown[] {
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
		const isOwn = document.isNew ? !sentIds.includes(id) : isSameSource(document, records[index]);
		return isOwn ? records[index] : undefined;
	});
}

/** Returns the ID of a record in lower case, because servers do not keep the case of IDs. */
function recordId(record: unknown): string | undefined {
	const id: unknown = get(record, 'id');
	return typeof id === 'string' && id !== '' ? id.toLowerCase() : undefined;
}

/**
 * Whether a record has the `sourceType` and `sourceKey` of a document. With incremental sync, this pair identifies the
 * record, even if the ID differs.
 */
function isSameSource({ record: { sourceType, sourceKey } }: Sent, record: unknown): boolean {
	if (!sourceType || !sourceKey) return false;
	return get(record, 'sourceType') === sourceType && get(record, 'sourceKey') === sourceKey;
}

/** The routes to store documents, to start their processing, and to read their statuses. */
export interface KnowledgebaseRoutes {
	/** Sends a request with the retry policy. All requests to these routes are safe to repeat. */
	send: <Answer>(request: Omit<Call<Answer>, 'repeatable'>) => Promise<Result<Answer>>;
	storePath: string;
	startPath: string;
	statusPath: (ids: string[]) => string;
	clock: Clock;
	signal?: AbortSignal;
}

/**
 * Number of documents in one request to start processing. If many documents wait, `Processing` sends larger requests.
 * Servers process several requests in parallel, but the documents of one request in sequence. So several small requests
 * end sooner than a large one.
 */
export const IDS_TO_START = 10;
