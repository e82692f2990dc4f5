import cloneDeep from 'lodash/cloneDeep';
import get from 'lodash/get';
import isEmpty from 'lodash/isEmpty';
import map from 'lodash/map';
import omit from 'lodash/omit';
import set from 'lodash/set';
import unset from 'lodash/unset';

import type { Listener } from '../threads/runEvents';
import type { RunIds } from '../threads/runsApi';
import { readThread, type ThreadState } from '../threads/thread';
import { API_ROOT } from '../transport/api';
import type { ApiClient } from '../transport/call';
import { FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import type { Failure } from '../transport/failure';
import type { Send } from '../transport/request';

/* The request of a run, and its limits. */

/** Sends requests until the deadline expires or the execution is stopped. */
export interface Client extends ApiClient {
	/** Milliseconds since the epoch. */
	deadline: number;
	/** Milliseconds until the deadline, at least 0. */
	remaining: () => number;
	/** Waits for the given milliseconds, but not beyond the deadline; ends when the execution is stopped. */
	wait: (ms: number) => Promise<void>;
	/** Sends without these limits. */
	sendUnlimited: Send;
}

/** A client, and the run that it is about. */
export type RunClient = Client & RunIds;

/** Whether the server has the routes of runs, which the contract lacks. Shared by all runs of an execution. */
export interface RunRoutes {
	areMissing: boolean;
	/** Whether runs were listed. */
	haveListed?: boolean;
}

/** A run to start on a thread, and how to wait for it. */
export interface Run extends Client {
	threadId: string;
	/** The conversation of the thread, if it is known. */
	conversationId?: string;
	/** Names no assistant if the thread has one. */
	body: RunBody;
	/** What the body asks for. */
	intent: Intent;
	/** Whether the thread was created for this run, so that no other run can be on it. */
	isNew: boolean;
	/** If another run is on the thread: wait for it, fail at once, or run anyway. */
	whenBusy: 'wait' | 'fail' | 'run';
	/** How long the run that blocks the thread may send no event before it is cancelled; 0 for never. */
	cancelSilentMs: number;
	routes: RunRoutes;
	/** Gets the answer while it is written. */
	listener?: Listener;
	/** Told the ID of the run once it has started. */
	onStart?: (runId: string) => void;
	/** Whether to wait in the request that starts the run (E4), for servers with the contract only. */
	inOneRequest?: boolean;
	/** What to do with the run on the server when the execution is stopped or the deadline expires. */
	whenGivenUp?: 'leave' | 'cancel';
}

/** The last run in this process whose stream was read to its end: its answer is stored by then (recorded). */
export const followedRun: { runId?: string } = {};

/** Give up after this long if no read of the run has succeeded: the address or the server may be wrong. */
export const UNREACHABLE_MS = 60_000;

/** Shortest limit for a request, so that a last one can follow the deadline. */
const MIN_TIMEOUT_MS = 1_000;

/**
 * Limits all requests of an item: sends nothing once the execution is stopped, waits as long as the server last asked
 * for, whichever request comes next, and lets no request outlast the deadline.
 */
export function withDeadline({ send, ...limits }: ApiClient & { deadline: number }): Client {
	const { clock, deadline, signal } = limits;
	const remaining = () => Math.max(0, deadline - clock.now());
	const wait = async (ms: number) => await clock.sleep(Math.min(ms, remaining()), signal);
	let retryAfter: { until: number; failure: Failure } | undefined;
	const sendInTime: Send = async (request) => {
		const path = (request.apiRoot ?? API_ROOT) + request.path;
		const notSent = (failure: Omit<Failure, 'method' | 'path'>) =>
			({ ok: false, failure: { ...failure, method: request.method, path } }) as const;
		const pause = retryAfter ? retryAfter.until - clock.now() : 0;
		const isTooLate = pause > remaining();
		// Waiting would not help: what is there already is not held back.
		if (pause > 0 && !isTooLate) await wait(pause);
		if (signal?.aborted) return notSent({ kind: 'cancelled' });
		if (retryAfter && isTooLate) return notSent(retryAfter.failure);
		const left = Math.max(MIN_TIMEOUT_MS, remaining());
		const timeoutMs = Math.min(request.timeoutMs, left);
		const totalMs = Number.isFinite(left) ? left : undefined;
		const outcome = await send({ ...request, timeoutMs, totalMs });
		const { failure } = outcome.ok ? {} : outcome;
		retryAfter = failure?.retryAfterMs
			? { failure, until: clock.now() + failure.retryAfterMs }
			: undefined;
		return outcome;
	};
	return { ...limits, remaining, wait, send: sendInTime, sendUnlimited: send };
}

/**
 * Repeats something with growing pauses until it is done, the deadline expires or the execution is stopped.
 *
 * @param isDone told the result, and how long was waited so far
 * @returns the last result
 */
export async function repeated<Result>(
	client: Pick<Client, 'remaining' | 'signal' | 'wait'>,
	attempt: () => Promise<Result>,
	isDone: (result: Result, waitedMs: number) => boolean,
	firstPauseMs = FIRST_PAUSE_MS,
): Promise<Result> {
	for (let [pause, waited] = [firstPauseMs, 0]; ; pause = longerPause(pause)) {
		const result = await attempt();
		const isOver = client.remaining() <= 0 || client.signal?.aborted;
		if (isOver || isDone(result, waited)) return result;
		await client.wait(pause);
		waited += pause;
	}
}

/** Reads a thread until the server shows it. Never throws. */
export async function readThreadPatiently(run: Client & Pick<Run, 'threadId'>) {
	return await repeated(
		run,
		async () => await readThread(run, run.threadId),
		({ ok }) => ok,
	);
}

/** The request body of E4, which can be written as JSON. */
export type RunBody = Record<string, unknown>;

/** What a run does. */
export type RunKind = 'message' | 'decision' | 'retry';

const FILES = ['input', 'message', 'input', 'files'];

/** Appends file contexts (E12) to the files of a message body. */
export function withFileContexts(message: RunBody, ids: string[]): RunBody {
	const present: unknown = get(message, FILES);
	const files = [present ?? [], ids.map((fileId) => ({ fileId }))].flat();
	return set(cloneDeep(message), FILES, files);
}

/** What a body of E4 asks the server to do. */
export interface Intent {
	kind: RunKind;
	/** The text of the message. */
	text?: string;
	/** Whether the decision is a rejection. */
	rejects?: boolean;
	/** The IDs of the tool calls whose arguments are changed; undefined for a change that names no call. */
	changes?: unknown[];
}

/** Path of the changed arguments in a decision. */
const PATCH = ['input', 'patch'];

/** Key of the mark to find a lost run by. Models do not get it; the thread shows the newest one (recorded). */
const MARK = 'n8nMark';

/** The keys of a message that are not values for filters. */
export const MESSAGE_KEYS = ['input', 'files', 'references', 'clientMessageId', MARK];

/** The values for filters in a message, by their keys. */
export function filterValuesIn(body: RunBody): object {
	return omit(get(body, ['input', 'message', 'input']) ?? {}, MESSAGE_KEYS);
}

/** Puts a mark into the body of a message. */
export function withMessageMark(message: RunBody, mark: string): RunBody {
	return set(cloneDeep(message), ['input', 'message', 'input', MARK], mark);
}

/** The mark of the newest question of a thread. */
export function messageMarkOf(state: ThreadState | undefined): unknown {
	return get(state, `values.human.${MARK}`);
}

/** A decision without its changed arguments. */
export function withoutChanges(decision: RunBody): RunBody {
	const plain = cloneDeep(decision);
	unset(plain, PATCH);
	return plain;
}

/** Targets a decision at a run, which continues under its own ID (recorded). */
export function withTarget(decision: RunBody, runId: string): RunBody {
	return set(cloneDeep(decision), ['input', 'target'], { executionId: runId });
}

/** What a body asks for. */
export function intentOf(kind: RunKind, body: RunBody): Intent {
	const calls: unknown = get(body, [...PATCH, 'toolCalls']);
	return {
		kind,
		text: get(body, ['input', 'message', 'input', 'input']) as string | undefined,
		rejects: get(body, ['input', 'decision', 'type']) === 'reject',
		changes: isEmpty(calls) ? undefined : map(calls as unknown[], 'id'),
	};
}
