import chunk from 'lodash/chunk';
import compact from 'lodash/compact';
import { z } from 'zod';

import { IDS_PER_ADDRESS } from '../transport/api';
import type { Clock } from '../transport/clock';
import { failureMessage, type Failure } from '../transport/failure';
import type { Call, Result } from '../transport/call';
import { sanitize } from '../transport/sanitize';
import { documentList, listWith } from './answeredRecords';

/** The server's record of the processing of a document. */
export const processingStatus = z
	.object({
		id: z.string(),
		status: z.string().nullish(),
		progress: z.number().nullish(),
		processMsg: z.string().nullish(),
	})
	.passthrough();

export type ProcessingStatus = z.infer<typeof processingStatus>;

/** The state of the processing of a document; `none` where the server has not begun. */
export type ProcessingState = 'finish' | 'error' | 'cancel' | 'running' | 'none';

/** Statuses that are final (seen on the live server, E3). */
const FINAL: ProcessingState[] = ['finish', 'error', 'cancel'];

/** The state that a status stands for. Servers have several names for the statuses between start and end. */
export function processingState(status: ProcessingStatus | undefined): ProcessingState {
	const name = status?.status;
	if (!name || name === 'none') return 'none';
	return FINAL.find((final) => final === name) ?? 'running';
}

/** The last state of a document's processing that a run sees. */
export interface ProcessingEnd {
	state: ProcessingState;
	/** The server's message, if there is one. */
	processMsg?: string;
	/** Whether the run gave up: an earlier run started it, and nothing progresses. */
	isStuck?: boolean;
	/** Whether this server has no route for processing, so that there is nothing to wait for. */
	hasNoRoute?: boolean;
	/** Why it could not be started. */
	failure?: Failure;
}

/** The state and the sanitized message in a status. */
export function processingEndOf(status: ProcessingStatus | undefined): ProcessingEnd {
	const processMsg = sanitize(status?.processMsg ?? '');
	return { state: processingState(status), ...(processMsg !== undefined && { processMsg }) };
}

const FLAWS: Partial<Record<ProcessingState, string>> = {
	error: 'could not be processed',
	cancel: 'was stored, but its processing was cancelled',
	none: 'is stored, but not being processed',
};

const STUCK =
	'The document is stored, but an earlier run has started its processing and the server shows no progress';

/**
 * Why a stored document cannot be found; `undefined` where it can, where it is still in process, or where that is not
 * known.
 */
export function processingFlaw(end: ProcessingEnd): string | undefined {
	const { state, processMsg, failure, hasNoRoute, isStuck } = end;
	if (hasNoRoute) return undefined;
	if (isStuck) return STUCK;
	if (failure)
		return `The document is stored, but its processing could not be started. ${failureMessage(failure)}`;
	const flaw = FLAWS[state];
	return flaw && `The document ${flaw}${processMsg ? `: ${processMsg}` : ''}`;
}

/** The dependencies of processing. */
export interface ProcessingRoutes {
	/** Sends a request with the retry policy; each does no harm twice. */
	send: <Answer>(request: Omit<Call<Answer>, 'repeatable'>) => Promise<Result<Answer>>;
	startPath: string;
	/** Path of the status of some documents. */
	statusPath: (ids: string[]) => string;
	clock: Clock;
	signal?: AbortSignal;
}

/** Statuses by ID in lower case; and the failure that ended the requests, if one did. */
export interface Statuses {
	statuses: Map<string, ProcessingStatus>;
	failure?: Failure;
}

/**
 * Fetches the processing statuses of documents. Documents that the server does not know are missing. Requests are
 * sequential: concurrent ones take the server longer (seen on the live server).
 *
 * @param requiredId a document that is certainly on the server. It is added to each request, and an answer without it
 * does not count: so documents that an answer leaves out are certainly not there
 */
export async function fetchStatuses(
	ids: string[],
	routes: ProcessingRoutes,
	requiredId?: string,
): Promise<Statuses> {
	const statuses: Statuses['statuses'] = new Map();
	const required = compact([requiredId]);
	const schema = requiredId === undefined ? documentList : listWith(required);
	for (const part of chunk(ids, IDS_PER_ADDRESS)) {
		if (routes.signal?.aborted) break;
		const path = routes.statusPath([...part, ...required]);
		const outcome = await routes.send({ method: 'GET', path, schema });
		if (!outcome.ok) return { statuses, failure: outcome.failure };
		for (const [id, status] of statusesById(outcome.answer)) statuses.set(id, status);
	}
	return { statuses };
}

/**
 * The statuses in an answer, by ID in lower case: servers return IDs in lower case, whatever was sent. Entries of
 * another shape are ignored.
 */
export function statusesById(answer: unknown): Map<string, ProcessingStatus> {
	const entries: unknown[] = Array.isArray(answer) ? answer : [];
	return new Map(
		entries
			.flatMap((entry) => processingStatus.safeParse(entry).data ?? [])
			.map((status) => [status.id.toLowerCase(), status] as const),
	);
}

/**
 * Documents in one request that starts processing. Servers process the documents of a request one after another, and
 * five requests at once: ten per request took a quarter of the time that fifty did (seen on the live server).
 */
export const IDS_TO_START = 10;
