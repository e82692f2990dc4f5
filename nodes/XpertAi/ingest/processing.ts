import chunk from 'lodash/chunk';
import { z } from 'zod';

import type { Clock } from '../transport/clock';
import type { Failure } from '../transport/failure';
import { FIRST_PAUSE_MS, longerPause } from '../transport/polling';
import { IDS_PER_ADDRESS } from '../transport/request';
import type { ApiRequest, Outcome } from '../transport/request';
import { inLanes } from '../transport/lanes';

/**
 * Documents in one request that starts processing. Servers work through the documents of a request one
 * after another and through five requests at once: ten a request took a quarter of the time that fifty did
 * (service behaviour).
 */
export const IDS_TO_START = 10;

const REQUESTS_AT_ONCE = 5;

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
export type ProcessingWord = 'finish' | 'error' | 'cancel' | 'running' | 'none';

/** Statuses after which nothing changes any more (service behaviour, E3). */
const FINAL: ProcessingWord[] = ['finish', 'error', 'cancel'];

/** A status in one word: servers have names for all that lies between start and end. */
export function processingWord(status: ProcessingStatus | undefined): ProcessingWord {
	const said = status?.status;
	if (!said || said === 'none') return 'none';
	return FINAL.find((word) => word === said) ?? 'running';
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

/** The documents to be processed. */
export interface Processing {
	/** Those to start. */
	ids: string[];
	/** Those that were started before. */
	running?: string[];
	/** Wait until every document has ended, at most this long; without it, only start. */
	waitMs?: number;
}

/** The last status of each document, by its id as it was given, and what kept the rest from being known. */
export interface ProcessingResult {
	statuses: Map<string, ProcessingStatus>;
	failure?: Failure;
	/** Whether the deadline came before every document had ended. */
	timedOut: boolean;
}

/** Starts the processing of stored documents and, if asked to, waits until it has ended. */
export async function processDocuments(
	{ ids, running = [], waitMs }: Processing,
	routes: ProcessingRoutes,
): Promise<ProcessingResult> {
	const { statuses, failure } = await startAll(ids, routes);
	for (const id of running) if (!statuses.has(id)) statuses.set(id, { id, status: 'running' });
	if (failure || waitMs === undefined) return { statuses, failure, timedOut: false };
	return await waitForAll(statuses, waitMs, routes);
}

/** Statuses and the failure, if there was one, that ended the asking. */
type Known = Omit<ProcessingResult, 'timedOut'>;

/**
 * Starts the processing. The server answers with what it has queued: of the rest, which it does not know or
 * which is running already, the status is asked for.
 */
async function startAll(ids: string[], routes: ProcessingRoutes): Promise<Known> {
	const known: Known = { statuses: new Map() };
	const notQueued: string[] = [];
	await inLanes(
		chunk(ids, IDS_TO_START),
		REQUESTS_AT_ONCE,
		async (part) => {
			const body = JSON.stringify(part);
			const outcome = await routes.send({ method: 'POST', path: routes.startPath, body });
			if (!outcome.ok) {
				known.failure ??= outcome.failure;
				return;
			}
			const queued = statusesById(outcome.answer);
			for (const id of part) {
				const status = queued.get(id.toLowerCase());
				if (status) known.statuses.set(id, { ...status, id, status: status.status ?? 'running' });
				else notQueued.push(id);
			}
		},
		() => known.failure === undefined && !routes.signal?.aborted,
	);
	const { statuses, failure } = await askStatuses(notQueued, routes);
	const askedAll = failure === undefined && !routes.signal?.aborted;
	for (const id of notQueued) {
		const status = statuses.get(id);
		const processMsg = status ? NOT_QUEUED : NOT_KNOWN;
		if (status?.status) known.statuses.set(id, status);
		else if (askedAll) known.statuses.set(id, { id, status: 'none', processMsg });
	}
	return { ...known, failure: known.failure ?? failure };
}

const NOT_KNOWN = 'the server does not know it in this knowledgebase';
const NOT_QUEUED = 'the server did not queue it';

/** Asks where documents stand; those the server does not know are missing in the answer. */
export async function askStatuses(ids: string[], routes: ProcessingRoutes): Promise<Known> {
	const known: Known = { statuses: new Map() };
	await inLanes(
		chunk(ids, IDS_PER_ADDRESS),
		REQUESTS_AT_ONCE,
		async (part) => {
			const outcome = await routes.send({ method: 'GET', path: routes.statusPath(part) });
			if (!outcome.ok) {
				known.failure ??= outcome.failure;
				return;
			}
			const said = statusesById(outcome.answer);
			for (const id of part) {
				const status = said.get(id.toLowerCase());
				if (status) known.statuses.set(id, { ...status, id });
			}
		},
		() => known.failure === undefined && !routes.signal?.aborted,
	);
	return known;
}

async function waitForAll(
	statuses: Map<string, ProcessingStatus>,
	waitMs: number,
	routes: ProcessingRoutes,
): Promise<ProcessingResult> {
	const { clock, signal } = routes;
	const deadline = clock.now() + waitMs;
	for (let pause = FIRST_PAUSE_MS; ; pause = longerPause(pause)) {
		const open = [...statuses.values()].filter((status) => processingWord(status) === 'running');
		if (open.length === 0) return { statuses, timedOut: false };
		if (clock.now() >= deadline || signal?.aborted) return { statuses, timedOut: true };
		await clock.sleep(Math.min(pause, deadline - clock.now()), signal);
		if (signal?.aborted) return { statuses, timedOut: true };
		const { statuses: asked, failure } = await askStatuses(
			open.map(({ id }) => id),
			routes,
		);
		for (const [id, status] of asked) if (status.status) statuses.set(id, status);
		if (failure) return { statuses, failure, timedOut: false };
	}
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
