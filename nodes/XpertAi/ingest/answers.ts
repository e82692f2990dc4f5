import { chunk, compact, get, uniq } from 'lodash';
import { z } from 'zod';

import { IDS_PER_ADDRESS } from '../transport/api';
import type { Call, Result } from '../transport/call';
import type { Clock } from '../transport/clock';
import { type Failure, failureMessage } from '../transport/failure';
import { sanitize } from '../transport/sanitize';
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

const processingStatus = z
	.object({
		id: z.string(),
		status: z.string().nullish(),
		progress: z.number().nullish(),
		processMsg: z.string().nullish(),
	})
	.passthrough();

export type ProcessingStatus = z.infer<typeof processingStatus>;

/** `none`: no processing, e.g. because the document was disabled. */
type ProcessingState = 'finish' | 'error' | 'cancel' | 'running' | 'none';

/** Maps a status to a state. Servers use several names for intermediate states, so unknown names become `running`. */
export function processingState(status: ProcessingStatus | undefined): ProcessingState {
	const name = status?.status;
	if (!name || name === 'none') return 'none';
	return name === 'finish' || name === 'error' || name === 'cancel' ? name : 'running';
}

/** The last known state of the processing of a document. */
export interface ProcessingEnd {
	state: ProcessingState;
	processMsg?: string;
	/** Whether the run stopped waiting because the processing made no progress. */
	isStuck?: boolean;
	/** Whether the server has no route for processing. */
	hasNoRoute?: boolean;
	/** Why the processing could not be started. */
	failure?: Failure;
}

/** Returns the state and the sanitized message of a status. */
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

/** Explains why assistants cannot find a stored document. Returns `undefined` if there is nothing to explain. */
export function processingFlaw(end: ProcessingEnd): string | undefined {
	const { state, processMsg, failure, hasNoRoute, isStuck } = end;
	if (hasNoRoute) return undefined;
	if (failure)
		return `The document is stored, but its processing could not be started. ${failureMessage(failure)}`;
	const flaw = isStuck ? STUCK : FLAWS[state];
	return flaw && `The document ${flaw}${processMsg ? `: ${processMsg}` : ''}`;
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

/** Statuses by document ID in lower case. If `failure` is set, some statuses are missing. */
export interface Statuses {
	statuses: Map<string, ProcessingStatus>;
	failure?: Failure;
}

/**
 * Fetches processing statuses. Sends one request at a time, because the live server is slower with concurrent requests.
 *
 * @param requiredId ID of a document on the server. Each answer must list this document, because a proxy may answer
 * with an empty list.
 * @returns the statuses of documents on the server; incomplete if a request failed or the execution was stopped
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

/** Reads the statuses in an answer. The map keys are document IDs in lower case. Ignores invalid entries. */
export function statusesById(answer: unknown): Map<string, ProcessingStatus> {
	const entries: unknown[] = Array.isArray(answer) ? answer : [];
	return new Map(
		entries
			.flatMap((entry) => processingStatus.safeParse(entry).data ?? [])
			.map((status) => [status.id.toLowerCase(), status] as const),
	);
}

/**
 * Number of documents in one request to start processing. If many documents wait, `Processing` sends larger requests.
 * Servers process several requests in parallel, but the documents of one request in sequence. So several small requests
 * end sooner than a large one.
 */
export const IDS_TO_START = 10;

/** Maximum number of documents to disable or enable in one request. */
const SWITCHED_AT_ONCE = 100;

interface Switching {
	disabled: boolean;
	/** Called before each batch. Returns a failure if the batch must not be changed. */
	beforeChange?: (ids: string[]) => Promise<Failure | undefined>;
	routes: Pick<KnowledgebaseRoutes, 'send' | 'storePath' | 'signal'>;
	/** Returns the fields to send with an ID, e.g. the name of the document. The server clears omitted fields. */
	fieldsOf: (id: string) => object;
	/** Called for each document that was disabled or enabled. */
	onSwitched: (id: string) => void;
}

/**
 * Disables or enables documents. Assistants do not find disabled documents.
 *
 * @param ids IDs of documents on the server. For an unknown ID, the server would create an empty document.
 * @returns the failure that ended the work early, if any; `undefined` if the execution was stopped
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
