import chunk from 'lodash/chunk';
import compact from 'lodash/compact';
import { z } from 'zod';

import { answerMustBe } from '../transport/answer';
import type { AnswerCheck } from '../transport/answer';
import { IDS_PER_ADDRESS } from '../transport/api';
import type { Clock } from '../transport/clock';
import type { Failure } from '../transport/failure';
import type { ApiRequest, Outcome } from '../transport/request';
import { sanitize } from '../transport/sanitize';
import { recordId, mustListDocuments } from './answeredRecords';

/** What the server says about the processing of a document. */
export const processingStatus = z
	.object({
		id: z.string(),
		status: z.string().nullish(),
		progress: z.number().nullish(),
		processMsg: z.string().nullish(),
	})
	.passthrough();

export type ProcessingStatus = z.infer<typeof processingStatus>;

/** Where the processing of a document stands; `none` where the server has not begun it. */
export type ProcessingState = 'finish' | 'error' | 'cancel' | 'running' | 'none';

/** Statuses after which nothing changes any more (service behaviour, E3). */
const FINAL: ProcessingState[] = ['finish', 'error', 'cancel'];

/** A status in one word: servers have names for all that lies between start and end. */
export function processingState(status: ProcessingStatus | undefined): ProcessingState {
	const name = status?.status;
	if (!name || name === 'none') return 'none';
	return FINAL.find((final) => final === name) ?? 'running';
}

/** How far the processing of a document has come when a run looks at it for the last time. */
export interface ProcessingEnd {
	state: ProcessingState;
	/** What is said of it, if anything. */
	processMsg?: string;
	/** Whether it is given up: an earlier run has started it, and nothing moves. */
	isStuck?: boolean;
	/** Whether this server does not process when asked to, so that there is nothing to wait for. */
	hasNoRoute?: boolean;
	/** What kept it from being started. */
	failure?: Failure;
}

/** What a status says of a document, its words as they may be quoted. */
export function processingEndOf(status: ProcessingStatus | undefined): ProcessingEnd {
	const state = processingState(status);
	const processMsg = sanitize(status?.processMsg ?? '');
	return processMsg === undefined ? { state } : { state, processMsg };
}

/** What processing needs from outside. */
export interface ProcessingRoutes {
	/** Sends a request with the retry policy. */
	send: (request: Omit<ApiRequest, 'timeoutMs'>) => Promise<Outcome>;
	startPath: string;
	/** Path of the status of some documents. */
	statusPath: (ids: string[]) => string;
	clock: Clock;
	signal?: AbortSignal;
}

/** Statuses by id as it was given, and the failure, if there was one, that ended the asking. */
export interface Statuses {
	statuses: Map<string, ProcessingStatus>;
	failure?: Failure;
}

/**
 * Asks where documents stand; those the server does not know are missing in the answer. One request after another:
 * several at once take the server longer (service behaviour).
 *
 * @param witness a document that is certainly there, which is asked for in each request as well: then those that the
 * answer leaves out are certainly not there
 */
export async function askStatuses(
	ids: string[],
	routes: ProcessingRoutes,
	witness?: string,
): Promise<Statuses> {
	const statuses: Statuses['statuses'] = new Map();
	const required = compact([witness]);
	const checkAnswer = witness === undefined ? mustListDocuments : mustList(required);
	for (const part of chunk(ids, IDS_PER_ADDRESS)) {
		if (routes.signal?.aborted) break;
		const path = routes.statusPath([...part, ...required]);
		const outcome = await routes.send({ method: 'GET', path, checkAnswer });
		if (!outcome.ok) return { statuses, failure: outcome.failure };
		const found = statusesById(outcome.answer);
		for (const id of part) {
			const status = found.get(id.toLowerCase());
			if (status) statuses.set(id, { ...status, id });
		}
	}
	return { statuses };
}

/**
 * The statuses in an answer, by id in lower case, as servers give it whatever it was sent in. An entry of
 * another shape says nothing, and hides no other.
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
 * Makes the check of an answer that lists documents: one that leaves out what is certainly there is none,
 * as a proxy may answer with an empty list, or for another server.
 *
 * @param ids the documents that are there
 */
export function mustList(ids: string[]): AnswerCheck {
	return answerMustBe((answer) => {
		if (!Array.isArray(answer)) return false;
		const listed = new Set(answer.map(recordId));
		return ids.every((id) => listed.has(id.toLowerCase()));
	}, 'it does not list the documents that it should');
}

/**
 * Documents in one request that starts processing. Servers work through the documents of a request one
 * after another and through five requests at once: ten a request took a quarter of the time that fifty did
 * (service behaviour).
 */
export const IDS_TO_START = 10;
