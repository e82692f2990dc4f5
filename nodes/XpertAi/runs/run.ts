import type { Listener, Part, RunEvents, Usage } from '../threads/runEvents';
import type { RunIds, RunRecord } from '../threads/runsApi';
import { waitsForPerson } from '../threads/thread';
import type { ApiClient } from '../threads/thread';
import { API_ROOT } from '../transport/api';
import { failureMessage } from '../transport/failure';
import type { Failure } from '../transport/failure';
import type { ApiRequest, Outcome, Send } from '../transport/request';
import type { RunBody, RunKind } from './input';

/* The request of a run, its limits, and its result with the messages for the user. */

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
	/** Whether the thread was created for this run, so that no other run can be on it. */
	isNew: boolean;
	/** If another run is on the thread: wait for it, fail at once, or run anyway. */
	whenBusy: 'wait' | 'fail' | 'run';
	/** How long the run that blocks the thread may send no event before it is cancelled; 0 for never. */
	cancelSilentMs: number;
	routes: RunRoutes;
	/** Gets the answer while it is written. */
	listener?: Listener;
	/** Whether to wait in the request that starts the run (E4), for servers with the contract only. */
	inOneRequest?: boolean;
	/** What to do with the run on the server when the execution is stopped, and when the deadline expires. */
	whenStopped?: 'leave' | 'cancel';
	whenLate?: 'leave' | 'cancel';
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
		const pause = retryAfter ? retryAfter.until - clock.now() : 0;
		const isTooLate = pause > remaining();
		if (pause > 0) await wait(pause);
		if (signal?.aborted) return notSent(request, { kind: 'cancelled' });
		if (retryAfter && isTooLate) return notSent(request, retryAfter.failure);
		const left = Math.max(MIN_TIMEOUT_MS, remaining());
		const timeoutMs = Math.min(request.timeoutMs, left);
		// For a stream, `timeoutMs` limits silence and `totalMs` the whole duration.
		const totalMs = request.stream && Number.isFinite(left) ? left : timeoutMs;
		const outcome = await send({ ...request, timeoutMs, totalMs });
		const { failure } = outcome.ok ? {} : outcome;
		retryAfter = failure?.retryAfterMs
			? { failure, until: clock.now() + failure.retryAfterMs }
			: undefined;
		return outcome;
	};
	return { ...limits, remaining, wait, send: sendInTime, sendUnlimited: send };
}

/** The outcome of a request that was not sent. */
function notSent({ method, path }: ApiRequest, failure: Omit<Failure, 'method' | 'path'>): Outcome {
	return { ok: false, failure: { ...failure, method, path: API_ROOT + path } };
}

/** The result of a run. */
export interface RunResult {
	/** `running` also while the answer is stored; `cancelled` if this execution was stopped, or cancelled the run. */
	status: 'running' | 'completed' | 'interrupted' | 'failed' | 'timedOut' | 'cancelled';
	/** The last text of the assistant. */
	output?: string;
	/** Parts of the answer that are not text, such as images and files. */
	otherParts?: unknown[];
	/** All parts of the run, in order. Sources are read from them. */
	parts?: Part[];
	/** Parts of earlier runs of the thread, if the answer links to passages that this run did not find. */
	earlier?: Part[];
	usage?: Usage;
	/** The tasks that wait for a decision. */
	interrupt?: unknown[];
	/** Why there is no answer, as a message for the user; without it, `failure` gives the message. */
	reason?: string;
	/** What the user can do next, if there is more to say than to read the thread. */
	advice?: string;
	/** The failed request, if one failed. */
	failure?: Failure;
	/** Whether the wait broke and was resumed. */
	recovered?: boolean;
	/** Looks up the run, if it may have started although no run ID was answered. */
	findRunId?: (client: Client) => Promise<string | undefined>;
	conversationId?: string;
	runId?: string;
	/** The assistant of the run. */
	assistantId?: unknown;
	/** Set if a person rejected the waiting calls and they were not carried out. */
	rejected?: true;
	/** Set if the thread does not contain the answer because a concurrent run overwrote it. */
	remembered?: false;
	/** Tasks that waited for a decision and were dropped by this message. */
	discarded?: unknown[];
	/** ID of the silent run that was cancelled to free the thread. */
	cancelledRun?: string;
	/** ID of the last text, which the thread contains if it stores the answer. */
	answerId?: string;
}

/** The result of a run that has ended, by its events. */
export function resultFromEvents(events: RunEvents): RunResult {
	const { answer: output, otherParts, parts, usage, answerId } = events;
	const { assistantId, conversationId } = events;
	const answer = { output, otherParts, parts, usage, answerId, assistantId, conversationId };
	const { status, error, tasks, agentStatus } = events.end;
	if (status === 'error')
		return { ...failed(`The run failed: ${error || 'the server gave no reason'}`), ...answer };
	// A concurrent run that yielded changes the status of the conversation, but not that of the agent (recorded).
	const isWaiting = status === 'interrupted' && waitsForPerson(events.end);
	if (isWaiting) return { status, interrupt: tasks, ...answer };
	if (status === 'interrupted' && agentStatus !== 'success')
		return { ...runCancelled(error), ...answer };
	return { status: 'completed', ...answer };
}

/**
 * There is no answer.
 *
 * @param advice what the user can do next
 */
export function failed(reason: string, advice?: string, failure?: Failure): RunResult {
	return { status: 'failed', reason, advice, failure };
}

/** Somebody cancelled the run. */
export function runCancelled(error = 'the server does not say why'): RunResult {
	return failed(`The run was cancelled on the server: ${error}`);
}

/** The run has ended, but its answer is unknown. */
export function noAnswer(failure?: Failure): RunResult {
	const reason = 'The run ended without an answer, and the server does not say why';
	return failed(reason, undefined, failure);
}

/** The user stopped the execution. */
export function executionStopped(failure?: Failure): RunResult {
	return { status: 'cancelled', reason: 'The execution was canceled', failure };
}

/** Nothing on the thread waits for a decision. The server answers one with nothing, or with an old answer. */
export const NOTHING_TO_DECIDE = failed(
	'Nothing on this thread waits for a decision',
	'Only a run that comes out with the status "interrupted" can be decided, and only once.',
);

/** The thread has never run, so there is nothing to decide or to answer again. */
export function neverRan(kind: RunKind): RunResult {
	if (kind === 'decision') return NOTHING_TO_DECIDE;
	const advice = 'Check "Thread", and say something on it with Thread: Ask and Wait first.';
	return failed('Nothing was said on this thread that could be answered again', advice);
}

const BUSY_ADVICE =
	'If that run hangs because its server was restarted, end it with Thread: Cancel Run, or set "When the Thread Is Busy" to "Run Anyway".';

/** The run that blocks a thread, and the time since its last event. */
export interface Blocker {
	run: RunRecord;
	silentMs?: number;
}

/** Another run is on the thread, and the user chose not to wait. */
export function busy(blocker?: Blocker): RunResult {
	return failed(`Another run is active on this thread${describe(blocker)}`, BUSY_ADVICE);
}

/** The deadline expired while another run was on the thread. Its server may have been killed. */
export function stillBusy(blocker?: Blocker): RunResult {
	return timedOut(`Another run was still active on the thread${describe(blocker)}`, BUSY_ADVICE);
}

function describe(blocker?: Blocker): string {
	if (!blocker) return '';
	const { run, silentMs } = blocker;
	const silence = `, without a sign for ${Math.round((silentMs ?? 0) / 1000)} s`;
	return ` (${run.run_id}, since ${run.created_at}${silentMs === undefined ? '' : silence})`;
}

/** The deadline expired. */
export function timedOut(what: string, advice?: string, failure?: Failure): RunResult {
	return { ...failed(`${what} when the deadline came`, advice, failure), status: 'timedOut' };
}

/** The deadline expired while the run was running. */
export function stillRunning(failure?: Failure): RunResult {
	const advice =
		'Raise "Deadline (Minutes)", or look later with Thread: Get Run. If its server was restarted, the run may never end: end it with Thread: Cancel Run.';
	return timedOut('The run was still going on', advice, failure);
}

/** It is unknown whether the request reached the assistant. */
export function mayHaveArrived(kind: RunKind, failure?: Failure): RunResult {
	const advice =
		'Read the thread before you send it again: the run may still start, and a later run can hide its result.';
	const reason = `It is not known whether ${REQUEST_NAMES[kind]} has reached the assistant`;
	const cause = failure ? `. ${failureMessage(failure)}` : '';
	return failed(reason + cause, advice, failure);
}

const REQUEST_NAMES = { message: 'the message', decision: 'the decision', retry: 'the request' };
