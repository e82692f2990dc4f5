import chunk from 'lodash/chunk';
import { z } from 'zod';

import type { Clock } from '../transport/clock';
import type { Failure } from '../transport/failure';
import { FIRST_PAUSE_MS, longerPause } from '../transport/polling';
import { answerMustBe } from '../transport/answer';
import { IDS_PER_ADDRESS } from '../transport/api';
import type { ApiRequest, Outcome } from '../transport/request';
import { inLanes } from '../transport/lanes';
import { IDS_TO_START } from './idsToStart';

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

/** The last status of each document, by its id as it was given, and what kept the rest from being known. */
export interface ProcessingResult {
	statuses: Map<string, ProcessingStatus>;
	failure?: Failure;
	/** Whether the deadline came before every document had ended. */
	timedOut: boolean;
}

/**
 * Starts the processing of documents while others are still being stored: in small requests, a few at once,
 * so that the server embeds some while it stores the next.
 */
export class ProcessingStart {
	private readonly known: Known = { statuses: new Map() };

	private readonly notQueued: string[] = [];

	private waiting: string[] = [];

	private readonly underWay = new Set<Promise<void>>();

	constructor(private readonly routes: ProcessingRoutes) {}

	/** Adds a document that is stored; it is started as soon as there are enough for a request. */
	add(id: string): void {
		this.waiting.push(id);
		if (this.waiting.length >= IDS_TO_START) this.startWaiting();
	}

	/** Notes a document that an earlier run has started. */
	addRunning(id: string): void {
		this.known.statuses.set(id, { id, status: 'running' });
	}

	/**
	 * Starts the rest and, if asked to, waits until every document has ended.
	 *
	 * @param waitMs how long to wait at most; without it, only what was queued is known
	 */
	async end(waitMs?: number): Promise<ProcessingResult> {
		for (this.startWaiting(); this.waiting.length > 0; this.startWaiting())
			await Promise.race(this.underWay);
		await Promise.all(this.underWay);
		const { statuses, failure } = await this.withNotQueued();
		if (failure || waitMs === undefined) return { statuses, failure, timedOut: false };
		return await waitForAll(statuses, waitMs, this.routes);
	}

	/** Starts documents as long as further requests may go at once. */
	private startWaiting(): void {
		const goesOn = this.known.failure === undefined && !this.routes.signal?.aborted;
		if (!goesOn) this.waiting = [];
		while (this.waiting.length > 0 && this.underWay.size < REQUESTS_AT_ONCE) {
			const work = this.start(this.waiting.splice(0, IDS_TO_START)).finally(() => {
				this.underWay.delete(work);
				if (this.waiting.length >= IDS_TO_START) this.startWaiting();
			});
			this.underWay.add(work);
		}
	}

	/** The server answers with what it has queued; the rest it does not know, or is at already. */
	private async start(ids: string[]): Promise<void> {
		const { send, startPath: path } = this.routes;
		const body = JSON.stringify(ids);
		const outcome = await send({ method: 'POST', path, body, checkAnswer: mustListDocuments });
		if (!outcome.ok) {
			this.known.failure ??= outcome.failure;
			return;
		}
		const queued = statusesById(outcome.answer);
		for (const id of ids) {
			const status = queued.get(id.toLowerCase());
			if (!status) this.notQueued.push(id);
			else this.known.statuses.set(id, { ...status, id, status: status.status ?? 'running' });
		}
	}

	/** Asks for the status of what was not queued. */
	private async withNotQueued(): Promise<Known> {
		const { known, notQueued, routes } = this;
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
}

/** Statuses and the failure, if there was one, that ended the asking. */
type Known = Omit<ProcessingResult, 'timedOut'>;

const NOT_KNOWN = 'the server does not know it in this knowledgebase';
const NOT_QUEUED = 'the server did not queue it';

/** Asks where documents stand; those the server does not know are missing in the answer. */
export async function askStatuses(ids: string[], routes: ProcessingRoutes): Promise<Known> {
	const known: Known = { statuses: new Map() };
	await inLanes(
		chunk(ids, IDS_PER_ADDRESS),
		REQUESTS_AT_ONCE,
		async (part) => {
			const path = routes.statusPath(part);
			const outcome = await routes.send({ method: 'GET', path, checkAnswer: mustListDocuments });
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

/** What both routes answer: a list of documents, each with its id; those that the server does not know are missing. */
const mustListDocuments = answerMustBe(
	(answer) => z.array(z.object({ id: z.string() })).safeParse(answer).success,
	'it is not a list of documents',
);

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
