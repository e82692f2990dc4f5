import chunk from 'lodash/chunk';
import { z } from 'zod';

import type { Clock } from '../transport/clock';
import type { Failure } from '../transport/failure';
import type { ApiRequest, Outcome } from '../transport/request';

/** Ids in one request; as many fit into an address as into a body. */
const IDS_PER_REQUEST = 50;

const FIRST_POLL_MS = 2_000;
const LONGEST_POLL_MS = 15_000;

/** Statuses after which nothing changes any more (service behaviour, E3). */
const FINAL_STATUS = new Set(['finish', 'error', 'cancel']);

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

/** What processing needs from outside. */
export interface Processing {
	ids: string[];
	/** Sends a request with the retry policy. */
	send: (request: Omit<ApiRequest, 'timeoutMs'>) => Promise<Outcome>;
	startPath: string;
	/** Path of the status of some documents. */
	statusPath: (ids: string[]) => string;
	/** Wait until every document has ended, at most this long; without it, only start. */
	waitMs?: number;
	clock: Clock;
	signal?: AbortSignal;
}

/** The last status of each document, and what kept the rest from being known. */
export interface ProcessingResult {
	statuses: Map<string, ProcessingStatus>;
	failure?: Failure;
	/** Whether the deadline came before every document had ended. */
	timedOut: boolean;
}

/** Starts the processing of stored documents and, if asked to, waits until it has ended. */
export async function processDocuments(processing: Processing): Promise<ProcessingResult> {
	const { ids, send, startPath, waitMs } = processing;
	const statuses = new Map<string, ProcessingStatus>();
	for (const part of chunk(ids, IDS_PER_REQUEST)) {
		const outcome = await send({ method: 'POST', path: startPath, body: JSON.stringify(part) });
		if (!outcome.ok) return { statuses, failure: outcome.failure, timedOut: false };
		for (const id of part) statuses.set(id, { id, status: 'waiting' });
	}
	return waitMs === undefined
		? { statuses, timedOut: false }
		: await waitForAll(processing, statuses, waitMs);
}

async function waitForAll(
	{ send, statusPath, clock, signal }: Processing,
	statuses: Map<string, ProcessingStatus>,
	waitMs: number,
): Promise<ProcessingResult> {
	const deadline = clock.now() + waitMs;
	for (let pause = FIRST_POLL_MS; ; pause = Math.min(LONGEST_POLL_MS, pause * 1.5)) {
		const open = [...statuses.values()].filter(({ status }) => !FINAL_STATUS.has(status ?? ''));
		if (open.length === 0) return { statuses, timedOut: false };
		if (clock.now() >= deadline || signal?.aborted) return { statuses, timedOut: true };
		await clock.sleep(Math.min(pause, deadline - clock.now()), signal);
		if (signal?.aborted) return { statuses, timedOut: true };
		for (const part of chunk(open, IDS_PER_REQUEST)) {
			const outcome = await send({ method: 'GET', path: statusPath(part.map(({ id }) => id)) });
			if (!outcome.ok) return { statuses, failure: outcome.failure, timedOut: false };
			for (const status of statusesIn(outcome.answer)) {
				// Servers give ids in lower case, whatever they were sent in.
				const sent = part.find(({ id }) => id.toLowerCase() === status.id.toLowerCase());
				if (sent) statuses.set(sent.id, { ...status, id: sent.id });
			}
		}
	}
}

/** The statuses in an answer; an entry of another shape says nothing, and hides no other. */
function statusesIn(answer: unknown): ProcessingStatus[] {
	const entries: unknown[] = Array.isArray(answer) ? answer : [];
	return entries.flatMap((entry) => processingStatus.safeParse(entry).data ?? []);
}
