import { chunk, compact, uniq } from 'lodash';
import { z } from 'zod';

import { MAX_IDS_PER_URL } from '../transport/api';
import type { Failure } from '../transport/failure';
import { failureMessage } from '../transport/failureText';
import { sanitizedLine } from '../transport/sanitizedLine';
import { documentListSchema } from './documentList';
import type { KnowledgebaseRoutes } from '../transport/knowledgebaseRoutes';

const processingStatusSchema = z
	.object({
		id: z.string(),
		status: z.string().nullish(),
		progress: z.number().nullish(),
		processMsg: z.string().nullish(),
	})
	.passthrough();

export type StatusRecord = z.infer<typeof processingStatusSchema>;

/** `none`: no processing, e.g. because the document was disabled. */
type ProcessingState = 'finish' | 'error' | 'cancel' | 'running' | 'none';

/**
 * Maps a status to a state. A missing status, e.g. of a document that is not on the server, becomes `none`. Servers use
 * several names for intermediate states, so unknown names become `running`.
 */
export function processingState(status: StatusRecord | undefined): ProcessingState {
	const name = status?.status;
	if (!name || name === 'none') return 'none';
	return name === 'finish' || name === 'error' || name === 'cancel' ? name : 'running';
}

/** The last known state of the processing of a document. */
export interface LastProcessingState {
	state: ProcessingState;
	processMsg?: string;
	/** Whether the run stopped waiting because the processing made no progress. */
	isStuck?: boolean;
	/** Whether the server has no route for processing. */
	hasNoRoute?: boolean;
	/** Why the processing could not be started. */
	startFailure?: Failure;
}

/** Returns the state and the sanitized message of a status. */
export function lastStateOf(status: StatusRecord | undefined): LastProcessingState {
	return { state: processingState(status), processMsg: sanitizedLine(status?.processMsg ?? '') };
}

const UNFINDABLE_REASONS: Partial<Record<ProcessingState, string>> = {
	error: 'could not be processed',
	cancel: 'was stored, but its processing was cancelled',
	none: 'is stored, but not being processed',
};

const STUCK_REASON =
	'is stored, but an earlier run has started its processing and the server shows no progress';

/** Explains why assistants cannot find a stored document. Returns `undefined` if there is nothing to explain. */
export function unfindableReason(end: LastProcessingState): string | undefined {
	const { state, processMsg, startFailure, hasNoRoute, isStuck } = end;
	// Without a route for processing, the server processes documents when it stores them.
	if (hasNoRoute) return undefined;
	if (startFailure)
		return `The document is stored, but its processing could not be started. ${failureMessage(startFailure)}`;
	const reason = isStuck ? STUCK_REASON : UNFINDABLE_REASONS[state];
	return reason && `The document ${reason}${processMsg ? `: ${processMsg}` : ''}`;
}

/** Statuses by document ID in lower case. If `failure` is set, some statuses are missing. */
export interface FetchedStatuses {
	statuses: Map<string, StatusRecord>;
	failure?: Failure;
}

/**
 * Fetches processing statuses. Sends one request at a time, because servers are slower with concurrent requests.
 *
 * @param requiredId ID of a document on the server. Each answer must list this document, because a proxy may answer
 * with an empty list.
 * @returns the statuses of documents on the server; incomplete if a request failed or the execution was stopped
 */
export async function fetchStatuses(
	ids: string[],
	routes: Pick<KnowledgebaseRoutes, 'send' | 'statusPathOf' | 'signal'>,
	requiredId?: string,
): Promise<FetchedStatuses> {
	const statuses: FetchedStatuses['statuses'] = new Map();
	const required = compact([requiredId]);
	for (const part of chunk(ids, MAX_IDS_PER_URL)) {
		if (routes.signal?.aborted) break;
		const path = routes.statusPathOf(uniq([...part, ...required]));
		const outcome = await routes.send({
			method: 'GET',
			path,
			schema: documentListSchema(required),
		});
		if (!outcome.ok) return { statuses, failure: outcome.failure };
		for (const [id, status] of statusesById(outcome.answer)) statuses.set(id, status);
	}
	return { statuses };
}

/** Reads the statuses in an answer. The map keys are document IDs in lower case. Ignores invalid entries. */
export function statusesById(answer: unknown): Map<string, StatusRecord> {
	const entries: unknown[] = Array.isArray(answer) ? answer : [];
	return new Map(
		entries
			.flatMap((entry) => processingStatusSchema.safeParse(entry).data ?? [])
			.map((status) => [status.id.toLowerCase(), status] as const),
	);
}
