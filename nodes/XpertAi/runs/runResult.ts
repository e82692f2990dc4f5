import isUndefined from 'lodash/isUndefined';
import omitBy from 'lodash/omitBy';

import type { Part, RunEvents, Usage } from '../threads/runEvents';
import type { RunRecord } from '../threads/runsApi';
import { waitsForPerson } from '../threads/conversation';
import { failureMessage, type Failure } from '../transport/failure';
import type { RunKind } from './run';

/* The result of a run, with the messages for the user. */

/** What the assistant has said and done. */
export interface Answer {
	/** Its last text. */
	output: string;
	/** Parts that are neither text nor tool calls, such as images and files. */
	otherParts: unknown[];
	/** All parts of the run, in order. Sources are read from them. */
	parts: Part[];
	/** Parts of earlier runs of the thread, if the answer links to passages that this run did not find. */
	earlier?: Part[];
	usage?: Usage;
	/** ID of the last text, which the thread contains if it stores the answer. */
	answerId?: string;
}

/** Where a run took place, and what happened on the way. */
export interface RunFacts {
	threadId?: string;
	conversationId?: string;
	runId?: string;
	/** Tasks that waited for a decision and were dropped by this message. */
	discarded?: unknown[];
	/** ID of the silent run that was cancelled to free the thread. */
	cancelledRun?: string;
}

/** There is no answer. */
export interface NoAnswer extends RunFacts {
	/** `cancelled` if this execution was stopped, or cancelled the run. */
	status: 'failed' | 'timedOut' | 'cancelled';
	/** Why, as a message for the user; without it, `failure` gives the message. */
	reason?: string;
	/** What the user can do next, if there is more to say than to read the thread. */
	advice?: string;
	/** The failed request, if one failed. */
	failure?: Failure;
	/** What the server answered, if it is not known what that means. */
	unverified?: string;
}

export interface Completed extends Answer, RunFacts {
	status: 'completed';
	/** Set if a person rejected the waiting calls and they were not carried out. */
	rejected?: true;
	/** Set if the thread does not contain the answer. */
	remembered?: false;
}

export interface Interrupted extends Answer, RunFacts {
	status: 'interrupted';
	/** The tasks that wait for a decision. */
	interrupt: unknown[];
}

/** The result of a run. */
export type RunResult = Completed | Interrupted | NoAnswer;

/** A run that could not be read. */
interface Unread {
	status: 'unread';
	failure: Failure;
	/** Whether its record could be read. */
	isThere?: boolean;
}

/** The result of a run, or how it stands; `running` also while the answer is stored. */
export type RunState = RunResult | (RunFacts & { status: 'running' }) | (RunFacts & Unread);

/** Adds what is known of a run; what is not known replaces nothing. */
export function withFacts<Result extends RunState>(result: Result, facts: RunFacts): Result {
	return { ...result, ...omitBy(facts, isUndefined) };
}

/** The result of a run that has ended, by its events. */
export function resultFromEvents(events: RunEvents): RunResult {
	const { answer: output, otherParts, parts, usage, answerId } = events;
	const { conversationId } = events;
	const { status, error, tasks, agentStatus, isLeftOver } = events.end;
	const answer = { output, otherParts, parts, usage, answerId, conversationId };
	if (status === 'error')
		return { ...failed(`The run failed: ${error || 'the server gave no reason'}`), conversationId };
	if (status !== 'interrupted') return { status: 'completed', ...answer };
	if (waitsForPerson(events.end)) return { status, interrupt: tasks, ...answer };
	// A concurrent run that yielded changes the status of the conversation, but not that of the agent (recorded).
	const isDone = agentStatus === 'success' || (isLeftOver && !error);
	return isDone ? { status: 'completed', ...answer } : { ...runCancelled(error), conversationId };
}

/** @param advice what the user can do next */
export function failed(reason: string, advice?: string, failure?: Failure): NoAnswer {
	return { status: 'failed', reason, advice, failure };
}

/** Somebody cancelled the run. */
export function runCancelled(error = 'the server does not say why'): NoAnswer {
	return failed(`The run was cancelled on the server: ${error}`);
}

/** The run has ended, but its answer is unknown. */
export function noAnswer(failure?: Failure): NoAnswer {
	const reason = 'The run ended without an answer, and the server does not say why';
	return failed(reason, undefined, failure);
}

/** The user stopped the execution. */
export function executionStopped(failure?: Failure): NoAnswer {
	return { status: 'cancelled', reason: 'The execution was canceled', failure };
}

/** Nothing on the thread waits for a decision. The server answers one with nothing, or with an old answer. */
export const NOTHING_TO_DECIDE = failed(
	'Nothing on this thread waits for a decision',
	'Only a run that comes out with the status "interrupted" can be decided, and only once.',
);

/** The thread has never run, so there is nothing to decide or to answer again. */
export function neverRan(kind: RunKind): NoAnswer {
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
export function busy(blocker?: Blocker): NoAnswer {
	return failed(`Another run is active on this thread${describe(blocker)}`, BUSY_ADVICE);
}

/**
 * The deadline expired while another run was on the thread. Its server may have been killed.
 *
 * @param cancelledRun a silent run that was cancelled, too late
 */
export function stillBusy(blocker?: Blocker, cancelledRun?: string): NoAnswer {
	const cancelled = cancelledRun && `The silent run ${cancelledRun} was cancelled. `;
	const what = `Another run was still active on the thread${describe(blocker)}`;
	return { ...timedOut(what, `${cancelled ?? ''}${BUSY_ADVICE}`), cancelledRun };
}

function describe(blocker?: Blocker): string {
	if (!blocker) return '';
	const { run, silentMs } = blocker;
	const silence = `, without a sign for ${Math.round((silentMs ?? 0) / 1000)} s`;
	return ` (${run.run_id}, since ${run.created_at}${silentMs === undefined ? '' : silence})`;
}

/** The deadline expired. */
export function timedOut(what: string, advice?: string, failure?: Failure): NoAnswer {
	return { ...failed(`${what} when the deadline came`, advice, failure), status: 'timedOut' };
}

/** The deadline expired while the run was running. */
export function stillRunning(failure?: Failure): NoAnswer {
	const advice =
		'Raise "Deadline (Minutes)", or look later with Thread: Get Run. If its server was restarted, the run may never end: end it with Thread: Cancel Run.';
	return timedOut('The run was still going on', advice, failure);
}

/** It is unknown whether the request reached the assistant. */
export function mayHaveArrived(kind: RunKind, failure?: Failure): NoAnswer {
	const advice =
		'Read the thread before you send it again: the run may still start, and a later run can hide its result.';
	const reason = `It is not known whether ${REQUEST_NAMES[kind]} has reached the assistant`;
	const cause = failure ? `. ${failureMessage(failure)}` : '';
	return failed(reason + cause, advice, failure);
}

const REQUEST_NAMES = { message: 'the message', decision: 'the decision', retry: 'the request' };
