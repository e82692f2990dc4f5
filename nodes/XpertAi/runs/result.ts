import { pick } from 'lodash';

import type { RunTranscript } from '../threads/runTranscript';
import type { AnswerPart } from '../threads/runEventSchemas';
import type { RunRecord } from '../threads/runsApi';
import { waitsForPerson } from '../threads/tasks';
import type { Failure } from '../transport/failure';
import { failureMessage } from '../transport/failureText';
import type { RunKind } from './runBody';

type Answer = Pick<RunTranscript, 'output' | 'otherParts' | 'parts' | 'usage'> & {
	/** ID of the assistant's last text. If the thread contains the answer, a message on the thread has this ID. */
	answerId?: string;
	/** The parts of all runs on the thread. Set if the answer links to a passage of an earlier run. */
	threadParts?: AnswerPart[];
};

/** The IDs of a run, and the side effects of its start. */
export interface RunFacts {
	threadId?: string;
	conversationId?: string;
	runId?: string;
	/** Tasks that waited for a decision until a new message discarded them, each in the format of `approvalDetails`. */
	discarded?: unknown[];
	/** ID of another run that the node cancelled, because that run blocked the thread and sent no events. */
	cancelledRun?: string;
}

export interface UnsuccessfulResult extends RunFacts {
	/** `cancelled` means that the execution was stopped, or that `cancelRunById` cancelled the run. */
	status: 'failed' | 'timedOut' | 'cancelled';
	/** Message for the user. The default is the message of `failure`. */
	reason?: string;
	/** What the user can do next. */
	advice?: string;
	failure?: Failure;
	/** The text of an answer that the node could not compare with the thread. */
	unverified?: string;
	/** Set if the server seems to lack the routes for background runs. `Run.backgroundRoutes` tells if this is certain. */
	lacksRoutes?: true;
}

export interface CompletedResult extends Answer, RunFacts {
	status: 'completed';
	/** Set if a decision rejected the waiting tool calls. */
	rejected?: true;
	/** `false` if the thread does not contain the answer. The assistant will not remember this answer. */
	remembered?: false;
}

export interface InterruptedResult extends Answer, RunFacts {
	status: 'interrupted';
	/** The tasks that wait for a decision. */
	interrupt: unknown[];
}

export type RunResult = CompletedResult | InterruptedResult | UnsuccessfulResult;

/** A run whose state is unknown, because a request failed. */
interface UnreadState extends RunFacts {
	status: 'unread';
	failure: Failure;
	/** Whether the run certainly exists. */
	hasRecord?: boolean;
	/** Whether the run was still active at the last read. */
	goesOn?: boolean;
}

/**
 * A run in progress. `isSettling` is set if the run record says that the run has ended or waits, but its message,
 * conversation or thread is still busy.
 */
export type RunningState = RunFacts & { status: 'running'; isSettling?: true };

/** The result or the current state of a run. A run is still `running` while the server stores its answer. */
export type RunState = RunResult | RunningState | UnreadState;

/** Whether an answer has a text or another part. */
export const hasAnswer = ({ output, otherParts }: Pick<Answer, 'output' | 'otherParts'>) =>
	output !== '' || otherParts.length > 0;

/** Whether a state is final for the node: the run has ended, or waits for a person. */
export const isResult = (state: RunState): state is RunResult =>
	state.status !== 'running' && state.status !== 'unread';

/** Returns why a request about the run failed. */
export const failureIn = (state: RunState): Failure | undefined =>
	'failure' in state ? state.failure : undefined;

/** Returns the result of an ended run from its transcript. */
export function resultFromTranscript(transcript: RunTranscript): RunResult {
	const { status, error, tasks, agentStatus, hasOnlyLeftOverTasks } = transcript.end;
	if (status === 'error') return failedOnServerResult(error);
	const completed = completedFrom(transcript);
	// `status` is that of the conversation, which another run on the thread can change. So look at both.
	const isInterrupted = status === 'interrupted' || agentStatus === 'interrupted';
	if (!isInterrupted) return completed;
	if (waitsForPerson(transcript.end))
		return { ...completed, status: 'interrupted', interrupt: tasks };
	// A completed run gets the status "interrupted" if another run on the thread is cancelled. So the run is completed
	// if its agent succeeded, or if there is no error and all tasks are left over from the other run.
	const isCompleted = agentStatus === 'success' || (hasOnlyLeftOverTasks && !error);
	return isCompleted ? completed : cancelledOnServerResult(error);
}

/** Returns the result of a completed run from its transcript. */
export const completedFrom = (transcript: RunTranscript): CompletedResult => ({
	status: 'completed',
	...pick(transcript, ['output', 'otherParts', 'parts', 'usage', 'answerId']),
});

/**
 * Returns the result of a failed run.
 *
 * @param reason why the run failed, as a message for the user
 * @param advice what the user can do next
 */
export function failedResult(reason: string, advice?: string): UnsuccessfulResult {
	return { status: 'failed', reason, advice };
}

/** Returns the result of a failed run, with the server's reason. */
export const failedOnServerResult = (error?: string | null) =>
	failedResult(`The run failed: ${error || 'the server gave no reason'}`);

/** Returns the result of a run that somebody cancelled on the server. Its status is `failed`, not `cancelled`. */
export const cancelledOnServerResult = (error = 'the server does not say why') =>
	failedResult(`The run was cancelled on the server: ${error}`);

/** The (failed) result of a run that has ended, but shows neither an answer nor an error. */
export const NO_ANSWER_RESULT = failedResult(
	'The run ended without an answer, and the server does not say why',
);

/** Returns the result of a run whose execution the user stopped. */
export const executionStoppedResult = (failure?: Failure): UnsuccessfulResult => ({
	status: 'cancelled',
	reason: 'The execution was canceled',
	failure,
});

/**
 * The result of a decision when no task waits. The node does not send the decision to the server, because the server
 * would respond with an empty or an old answer.
 */
export const NOTHING_TO_DECIDE_RESULT = failedResult(
	'Nothing on this thread waits for a decision',
	'Check "Thread": it takes the threadId of a run that came out as "interrupted". Such a run can be decided once; a later message ends the wait, too.',
);

/** Returns the result of a decision or a retry on a thread without any run. */
export function neverRanResult(kind: RunKind): UnsuccessfulResult {
	if (kind === 'decision') return NOTHING_TO_DECIDE_RESULT;
	const advice = 'Check "Thread", and say something on it with Thread: Ask and Wait first.';
	return failedResult('Nothing was said on this thread that could be answered again', advice);
}

/** Returns the result if the thread is busy, and the node does not wait, or does not wait any longer. */
export const busyResult = (blocking?: RunRecord) =>
	failedResult(`Another run is active on this thread${describeRun(blocking)}`, HANGING_ADVICE);

/**
 * Returns the result if another run was active on the thread until the deadline.
 *
 * @param blocking the other run, if known
 * @param silentMs milliseconds without an event of the other run while the node watched it; unused without `blocking`
 * @param cancelledRun ID of a silent run that the node cancelled
 */
export function busyAtDeadlineResult(
	blocking?: RunRecord,
	silentMs = 0,
	cancelledRun?: string,
): UnsuccessfulResult {
	const cancelled = cancelledRun ? `The silent run ${cancelledRun} was cancelled. ` : '';
	const silence = `, without a sign for ${Math.round(silentMs / 1000)} s`;
	const what = `Another run was still active on the thread${describeRun(blocking, silence)}`;
	return {
		...timedOutResult(what, `${cancelled}Wait, or raise "Deadline (Minutes)". ${HANGING_ADVICE}`),
		cancelledRun,
	};
}

/** Returns the other run in parentheses, with `silence` at the end; an empty text if the run is unknown. */
const describeRun = (run?: RunRecord, silence = ''): string =>
	run ? ` (${run.run_id}, since ${run.created_at}${silence})` : '';

/**
 * Returns the result if the deadline came first.
 *
 * @param what the state at the deadline, as the start of a sentence, e.g. `The run had not begun`
 */
export function timedOutResult(what: string, advice?: string): UnsuccessfulResult {
	return { ...failedResult(`${what} when the deadline came`, advice), status: 'timedOut' };
}

/** The advice if a run may go on forever. */
export const HANGING_ADVICE =
	'If its server was restarted, the run may never end: end it with Thread: Cancel Run, or set "When the Thread Is Busy" in Tuning to "Run Anyway".';

/** The result if the run was still active at the deadline. */
export const RUNNING_AT_DEADLINE_RESULT = timedOutResult(
	'The run was still going on',
	`Raise "Deadline (Minutes)", or look later with Thread: Get. ${HANGING_ADVICE}`,
);

/** Returns the result of a request that may or may not have reached the assistant. */
export function arrivalUnknownResult(kind: RunKind, failure: Failure): UnsuccessfulResult {
	const advice = 'Read the thread before you send it again: the run may still start.';
	const what = kind === 'retry' ? 'request' : kind;
	const reason = `It is not known whether the ${what} has reached the assistant`;
	return { ...failedResult(`${reason}. ${failureMessage(failure)}`, advice), failure };
}

/** Returns the result if a request failed, or was cancelled by a stop of the execution. */
export const resultOfFailure = (failure: Failure, threadId?: string): UnsuccessfulResult => ({
	status: failure.kind === 'cancelled' ? 'cancelled' : 'failed',
	failure,
	threadId,
});
