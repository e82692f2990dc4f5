import type { Part, RunEvents, Usage } from '../threads/runEvents';
import { failureMessage } from '../transport/failure';
import type { Failure } from '../transport/failure';
import type { RunKind } from './input';
import type { RunRecord } from '../threads/runsApi';
import { waitsForPerson } from '../threads/thread';

/** The result of a run. */
export interface RunResult {
	status: 'completed' | 'interrupted' | 'failed' | 'timedOut' | 'cancelled';
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

/** The fields of the answer, as far as it was received. */
export function answerSoFar(events: RunEvents): Partial<RunResult> {
	const { answer: output, otherParts, parts, usage, answerId } = events;
	const { assistantId, conversationId } = events;
	return { output, otherParts, parts, usage, answerId, assistantId, conversationId };
}

/** The result of a run whose whole stream was read. */
export function resultFromEvents(events: RunEvents): RunResult {
	const { status, error, tasks, agentStatus } = events.end;
	const answer = answerSoFar(events);
	if (status === 'error') return { ...runFailed(error), ...answer };
	if (status !== 'interrupted') return { status: 'completed', ...answer };
	if (waitsForPerson(events.end)) return { ...interruptedRun(tasks), ...answer };
	// A concurrent run that yielded changes the status of the conversation, but not that of the agent (recorded).
	if (agentStatus === 'success') return { status: 'completed', ...answer };
	return { ...runCancelled(error), ...answer };
}

/** A request or the run itself failed for good. */
export function failed(failure: Failure | undefined, reason?: string, advice?: string): RunResult {
	return { status: 'failed', failure, reason, advice };
}

export function runFailed(error: string | null | undefined): RunResult {
	return failed(undefined, `The run failed: ${error || 'the server gave no reason'}`);
}

/** Somebody cancelled the run. */
export function runCancelled(error = 'the server does not say why'): RunResult {
	return failed(undefined, `The run was cancelled on the server: ${error}`);
}

export function interruptedRun(tasks: unknown[]): RunResult {
	return { status: 'interrupted', interrupt: tasks };
}

/** The run has ended, but its answer is unknown. */
export function noAnswer(failure?: Failure): RunResult {
	return failed(failure, 'The run ended without an answer, and the server does not say why');
}

/** The run exists, but its conversation or messages cannot be read. */
export function unreadableRun(failure: Failure): RunResult {
	return failed(failure, `The state of the run cannot be read${because(failure)}`);
}

/** The user stopped the execution. */
export function executionStopped(failure?: Failure): RunResult {
	return { status: 'cancelled', reason: 'The execution was canceled', failure };
}

/** Nothing on the thread waits for a decision. The server answers one with nothing, or with an old answer. */
export function nothingToDecide(): RunResult {
	const advice =
		'Only a run that comes out with the status "interrupted" can be decided, and only once.';
	return failed(undefined, 'Nothing on this thread waits for a decision', advice);
}

/** The thread has never run, so there is nothing to decide or to answer again. */
export function neverRan(kind: RunKind): RunResult {
	if (kind === 'decision') return nothingToDecide();
	const advice = 'Check "Thread", and say something on it with Thread: Ask and Wait first.';
	return failed(undefined, 'Nothing was said on this thread that could be answered again', advice);
}

/** The only question of the thread has a run that never ended. The server does not answer it again (recorded). */
export function cannotRetry({ run_id: id }: RunRecord): RunResult {
	const advice = `Cancel the run ${id} with Thread: Cancel Run, and ask again with Thread: Ask and Wait.`;
	return failed(undefined, 'The first question of this thread has not ended', advice);
}

/**
 * Changed arguments name a call that does not wait; the server would carry out the waiting calls unchanged.
 *
 * @param calls IDs of the waiting calls; empty if the server shows none, as after a change
 */
export function callsNotWaiting(calls: string[]): RunResult {
	if (calls.length === 0) {
		const advice =
			'Nothing was decided. The server lists no calls after arguments were changed. Leave "Changed Arguments" empty to confirm them, or reject.';
		return failed(undefined, 'The waiting run lists no calls', advice);
	}
	const advice = `Nothing was decided. Waiting: ${calls.join(', ')}.`;
	return failed(undefined, '"Changed Arguments" names a call that does not wait', advice);
}

/** The server took the changed arguments, but the confirmation that carries them out failed. */
export function changedWithoutConfirmation(result: RunResult): RunResult {
	const next =
		'The changed arguments have arrived. If the thread still waits, decide again, with "Changed Arguments" left empty.';
	return { ...result, advice: [next, result.advice].filter(Boolean).join(' ') };
}

/** The server answered the decision, but the same tasks still wait. */
export function stillUndecided(): RunResult {
	const advice =
		'Leave "Target" empty to decide what the thread waits for, or name the task that waits.';
	const reason = 'The server answered, but what waits for a decision still waits';
	return failed(undefined, reason, advice);
}

/** The rejected calls were carried out. */
export function rejectedTooLate(): RunResult {
	const advice =
		'Somebody else has confirmed it before the rejection arrived. Read the thread to see what was done.';
	return failed(undefined, 'What was rejected was carried out', advice);
}

const BUSY_ADVICE =
	'If nothing goes on there any more, because its server was restarted, end it with Thread: Cancel Run, or set "When the Thread Is Busy" to "Run Anyway".';

/** The run that blocks a thread, and the time since its last event. */
export interface Blocker {
	run: RunRecord;
	silentMs?: number;
}

/** Another run is on the thread, and the user chose not to wait. */
export function busy(blocker?: Blocker): RunResult {
	const reason = `Another run is active on this thread${describe(blocker)}`;
	return failed(undefined, reason, BUSY_ADVICE);
}

/** The deadline expired while another run was on the thread. Its server may have been killed. */
export function stillBusy(blocker?: Blocker): RunResult {
	const what = `Another run was still active on the thread${describe(blocker)}`;
	return timedOut(what, undefined, BUSY_ADVICE);
}

function describe(blocker?: Blocker): string {
	if (!blocker) return '';
	const { run, silentMs } = blocker;
	const silence = `, without a sign for ${Math.round((silentMs ?? 0) / 1000)} s`;
	return ` (${run.run_id}, since ${run.created_at}${silentMs === undefined ? '' : silence})`;
}

export function timedOut(what: string, failure?: Failure, advice?: string): RunResult {
	const reason = `${what} when the deadline came`;
	return { status: 'timedOut', reason, failure, advice };
}

/** The deadline expired while the run was running. */
export function stillRunning(failure?: Failure): RunResult {
	const advice = `Raise "Deadline (Minutes)", or look later with Thread: Get Run. If its server was restarted, the run may never end: end it with Thread: Cancel Run.`;
	return timedOut('The run was still going on', failure, advice);
}

/** The request certainly did not reach the assistant: the thread would show it. */
export function notArrived(kind: RunKind, failure?: Failure): RunResult {
	return failed(failure, `${REQUEST_NAMES[kind]} did not reach the assistant${because(failure)}`);
}

/** It is unknown whether the request reached the assistant. */
export function mayHaveArrived(kind: RunKind, failure?: Failure): RunResult {
	const advice =
		'Read the thread before you send it again: a run may begin late, or another may hide what became of it.';
	const reason = `It is not known whether ${REQUEST_NAMES[kind].toLowerCase()} has reached the assistant`;
	return failed(failure, `${reason}${because(failure)}`, advice);
}

const REQUEST_NAMES = { message: 'The message', decision: 'The decision', retry: 'The request' };

/** The server has no routes of runs. */
export function noRunRoutes(failure: Failure): RunResult {
	const advice = 'Use Thread: Ask and Wait, which works on every server.';
	return failed(failure, 'This server starts no runs in the background', advice);
}

/** A run ID that was left over by a decision or a refused message: it has no run and never ends. */
export function leftoverRunId(): RunResult {
	const advice =
		'Such an ID is left over of a decision, or of a message that was refused. Take the runId of the run itself.';
	return failed(undefined, 'Nothing runs under this run ID', advice);
}

function because(failure?: Failure): string {
	return failure ? `. ${failureMessage(failure)}` : '';
}
