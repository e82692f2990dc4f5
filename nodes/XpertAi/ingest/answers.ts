import { chunk, compact, get, uniq } from 'lodash';
import { z } from 'zod';

import type { DocumentRecord } from '../payloads/document';
import type { Call, Result } from '../transport/call';
import type { Clock } from '../transport/clock';
import { IDS_PER_ADDRESS } from '../transport/api';
import { type Failure, failureMessage } from '../transport/failure';
import type { UploadFile } from '../transport/multipart';
import { sanitize } from '../transport/sanitize';

/** The file of a document, which was read from its source. */
export interface SourceFile extends UploadFile {
	/** Fields for the record. Set if the content shows a format that the file name does not show. */
	fields?: Pick<DocumentRecord, 'name' | 'type' | 'mimeType'>;
	/** Whether U+0000 was removed from the content. */
	hadNul?: boolean;
}

/** A document that is ready to be sent. */
export interface ReadyDocument<Origin> {
	record: DocumentRecord;
	/** The record as JSON, for the body of a batch. Kept, because it is measured, hashed and sent. */
	json: string;
	/** Bytes of `json` in UTF-8. */
	bytes: number;
	/** The ID under which the document is stored. An earlier document with this ID is replaced. */
	id: string;
	/** Whether later runs cannot recognize the document by its ID: the ID was generated for this run, or is no UUID. */
	isNew?: boolean;
	/** The key from which the ID is derived. Unset if the document came with its own ID, or with neither ID nor key. */
	key?: string;
	/**
	 * What runs compare: a mark (`MARKS`) and a hash of the content or of its version, with one byte per character. Unset
	 * if documents are not compared.
	 */
	contentHash?: string;
	/** Reads the file of the document, which is uploaded before the document is stored. */
	file?: () => SourceFile | Promise<SourceFile>;
	/** Whether this run has uploaded the file, so that the server certainly has it. */
	isUploaded?: boolean;
	/** Where the document came from, and where its outcome is reported. */
	origin: Origin;
}

/** Documents to be sent. An async iterable gives each document once it is ready. */
export type Documents<Origin> =
	| Iterable<ReadyDocument<Origin>>
	| AsyncIterable<ReadyDocument<Origin>>;

/** A record as JSON, and its size in bytes. */
export function serialize(record: DocumentRecord): Pick<ReadyDocument<unknown>, 'json' | 'bytes'> {
	const json = JSON.stringify(record);
	return { json, bytes: Buffer.byteLength(json) };
}

/** The requests that contained a document. */
interface Carried {
	/** Number of the batch, counted from 1; 0 if the document was in no batch. */
	batch: number;
	/** Number of requests that were sent with the document or, if its upload failed, with its file. */
	attempts: number;
}

/**
 * The outcome of a document. Each document gets exactly one; if the execution is stopped, it may get none.
 *
 * `rejected`: the server answered with a failure.
 * `unknown`: the server may or may not have stored the document.
 * `notSent`: the document was not sent, or did not reach the server.
 * `unchanged`: an earlier run stored the same content. `status` is set if documents are processed and it was fetched.
 * `unreadable`: the document or its file could not be read.
 */
export type DocumentFact<Origin> = { document: ReadyDocument<Origin> } & (
	| ({ outcome: 'stored'; status: number; record: unknown } & Carried)
	| ({ outcome: 'rejected' | 'unknown' | 'notSent'; failure: Failure } & Carried)
	| { outcome: 'notSent'; reason?: string; failure?: undefined }
	| { outcome: 'unchanged'; status?: ProcessingStatus }
	| { outcome: 'unreadable'; error: unknown }
);

/** The last state that the run sees of the processing of a stored document. */
export interface ProcessedFact {
	outcome: 'processed';
	id: string;
	end: ProcessingEnd;
}

/** What happened to a document or a request, as plain data. One document may have several facts, one after another. */
export type Fact<Origin> =
	| DocumentFact<Origin>
	| ProcessedFact
	/** `hadNul`: U+0000 was removed from the file. */
	| { outcome: 'uploaded'; hadNul?: boolean }
	/**
	 * Counts of one call that stores documents. `batches` is 0 if the call sends only a part of a batch, after a split.
	 */
	| { outcome: 'sent'; counts: Record<'attempts' | 'batches' | 'retries', number> };

const NOT_LISTED = 'it does not list the documents that it should';

/**
 * The schema of an answer that lists documents: each entry has an ID, and all of `ids` are listed. Without this check,
 * the empty list of a proxy, or a list of another server, would pass.
 *
 * @param ids IDs of documents that the server has: it leaves out those that it does not know
 */
export const listWith = (ids: string[] = []) =>
	z.array(z.unknown(), { message: NOT_LISTED }).refine((records) => {
		const listed = new Set(records.map(recordId));
		return !listed.has(undefined) && ids.every((id) => listed.has(id.toLowerCase()));
	}, NOT_LISTED);

type Sent = Pick<ReadyDocument<unknown>, 'id' | 'isNew' | 'record'>;

/**
 * Finds the record of each sent document in an answer of E3. Only a document with a record counts as stored: every
 * successful answer in the recordings lists all documents with their IDs, in the order in which they were sent. A
 * record is found by its ID, or else by its position: a server may replace an ID that the node generated (see also
 * `isSameSource`).
 *
 * @param answer the parsed answer, of any 2xx
 * @param rows IDs of sent records that are no documents (journal rows), in lower case
 * @returns one record for each document, in the same order; `undefined` for a document that the answer does not show
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

/** The ID of a record, in lower case: servers return IDs in lower case, even if they were sent in upper case. */
function recordId(record: unknown): string | undefined {
	const id: unknown = get(record, 'id');
	return typeof id === 'string' && id !== '' ? id.toLowerCase() : undefined;
}

/**
 * Whether a record has the `sourceType` and `sourceKey` of a document. With incremental sync, a server keeps one record
 * for each such pair, under the first ID that was sent, so the ID of the document may differ.
 */
function isSameSource({ record: { sourceType, sourceKey } }: Sent, record: unknown): boolean {
	if (!sourceType || !sourceKey) return false;
	return get(record, 'sourceType') === sourceType && get(record, 'sourceKey') === sourceKey;
}

const processingStatus = z
	.object({
		id: z.string(),
		status: z.string().nullish(),
		progress: z.number().nullish(),
		processMsg: z.string().nullish(),
	})
	.passthrough();

export type ProcessingStatus = z.infer<typeof processingStatus>;

/** `none`: processing has not begun, the document was disabled, or there is no status. */
type ProcessingState = 'finish' | 'error' | 'cancel' | 'running' | 'none';

/**
 * Maps a status to a state. Between start and end, servers use several names: each name that is not known becomes
 * `running`.
 */
export function processingState(status: ProcessingStatus | undefined): ProcessingState {
	const name = status?.status;
	if (!name || name === 'none') return 'none';
	return name === 'finish' || name === 'error' || name === 'cancel' ? name : 'running';
}

/**
 * The last state that a run sees of the processing of a document: how it ended, or its state when the run stopped
 * waiting.
 */
export interface ProcessingEnd {
	state: ProcessingState;
	processMsg?: string;
	/**
	 * Whether the run stopped waiting, because an earlier run started the processing and the server shows no progress.
	 */
	isStuck?: boolean;
	/** Whether this server has no route for processing, so that there is nothing to wait for. */
	hasNoRoute?: boolean;
	/** Why the processing could not be started. */
	failure?: Failure;
}

/** The state in a status, and its sanitized message. Without a status, the state is `none`. */
export function processingEndOf(status: ProcessingStatus | undefined): ProcessingEnd {
	return { state: processingState(status), processMsg: sanitize(status?.processMsg ?? '') };
}

const FLAWS: Partial<Record<ProcessingState, string>> = {
	error: 'could not be processed',
	cancel: 'was stored, but its processing was cancelled',
	none: 'is stored, but not being processed',
};

const STUCK =
	'is stored, but an earlier run has started its processing and the server shows no progress';

/**
 * Why assistants cannot find a stored document, as a sentence; `undefined` if it is processed, if it is in process and
 * not stuck, or if the server has no route for processing.
 */
export function processingFlaw(end: ProcessingEnd): string | undefined {
	const { state, processMsg, failure, hasNoRoute, isStuck } = end;
	if (hasNoRoute) return undefined;
	if (failure)
		return `The document is stored, but its processing could not be started. ${failureMessage(failure)}`;
	const flaw = isStuck ? STUCK : FLAWS[state];
	return flaw && `The document ${flaw}${processMsg ? `: ${processMsg}` : ''}`;
}

/** The routes of a knowledgebase: to store documents, to start their processing, and to read their statuses. */
export interface KnowledgebaseRoutes {
	/** Sends a request with the retry policy. Every request to these routes can safely be repeated. */
	send: <Answer>(request: Omit<Call<Answer>, 'repeatable'>) => Promise<Result<Answer>>;
	storePath: string;
	startPath: string;
	statusPath: (ids: string[]) => string;
	clock: Clock;
	signal?: AbortSignal;
}

/** Statuses, with the ID in lower case as key. If `failure` is set, some statuses are missing. */
export interface Statuses {
	statuses: Map<string, ProcessingStatus>;
	failure?: Failure;
}

/**
 * Fetches processing statuses. Requests are sent one after another: the live server takes longer for concurrent
 * requests.
 *
 * @param requiredId ID of a document that is certainly on the server. Each request includes it, and an answer without
 * it is a failure. So if an answer leaves out another document, the server certainly does not have that document
 * @returns the statuses, without documents that the server does not know. After a failure or a stopped execution, the
 * statuses that were not fetched are missing as well
 */
export async function fetchStatuses(
	ids: string[],
	routes: Pick<KnowledgebaseRoutes, 'send' | 'statusPath' | 'signal'>,
	requiredId?: string,
): Promise<Statuses> {
	const statuses: Statuses['statuses'] = new Map();
	const required = compact([requiredId]);
	for (const part of chunk(ids, IDS_PER_ADDRESS)) {
		if (routes.signal?.aborted) break;
		const path = routes.statusPath(uniq([...part, ...required]));
		const outcome = await routes.send({ method: 'GET', path, schema: listWith(required) });
		if (!outcome.ok) return { statuses, failure: outcome.failure };
		for (const [id, status] of statusesById(outcome.answer)) statuses.set(id, status);
	}
	return { statuses };
}

/** The statuses in an answer, with the ID in lower case as key. Entries that are no statuses are ignored. */
export function statusesById(answer: unknown): Map<string, ProcessingStatus> {
	const entries: unknown[] = Array.isArray(answer) ? answer : [];
	return new Map(
		entries
			.flatMap((entry) => processingStatus.safeParse(entry).data ?? [])
			.map((status) => [status.id.toLowerCase(), status] as const),
	);
}

/**
 * Number of documents in one request that starts processing. A server processes the documents of a request one after
 * another, but five requests in parallel. With ten documents per request, processing took a quarter of the time that it
 * took with fifty per request (seen on the live server).
 */
export const IDS_TO_START = 10;

/** Number of documents to disable or enable in one request. The server takes some milliseconds for each document. */
const SWITCHED_AT_ONCE = 100;

interface Switching {
	disabled: boolean;
	/**
	 * Called before the documents of a batch are changed.
	 *
	 * @returns why they must not be changed; `undefined` if they may be
	 */
	beforeChange?: (ids: string[]) => Promise<Failure | undefined>;
	routes: Pick<KnowledgebaseRoutes, 'send' | 'storePath' | 'signal'>;
	/** Other fields to send for a document, such as its name, because the server clears fields that are not sent. */
	fieldsOf: (id: string) => object;
	/** Called once for each document that was switched. */
	onSwitched: (id: string) => void;
}

/**
 * Disables documents, so that assistants do not find them, or enables them again.
 *
 * @param ids IDs of documents that the server has: it would create an empty document for any other ID
 * @returns why the remaining documents were not switched; `undefined` if all were, or if the execution was stopped
 */
export async function switchDocuments(
	ids: string[],
	{ disabled, beforeChange, routes, fieldsOf, onSwitched }: Switching,
): Promise<Failure | undefined> {
	for (const batch of chunk(ids, SWITCHED_AT_ONCE)) {
		if (routes.signal?.aborted) return undefined;
		const refusal = await beforeChange?.(batch);
		if (refusal) return refusal;
		const body = JSON.stringify(batch.map((id) => ({ ...fieldsOf(id), id, disabled })));
		const schema = listWith(batch);
		const outcome = await routes.send({ method: 'POST', path: routes.storePath, body, schema });
		if (!outcome.ok) return outcome.failure;
		for (const id of batch) onSwitched(id);
	}
	return undefined;
}
