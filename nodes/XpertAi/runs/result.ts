import type { Part, RunEvents, Usage } from '../threads/runEvents';
import { failureMessage } from '../transport/failure';
import type { Failure } from '../transport/failure';
import type { RunInput } from './input';
import type { RunRecord } from '../threads/runsApi';

/** What ends a run. */
export interface RunResult {
	status: 'completed' | 'interrupted' | 'failed' | 'timedOut' | 'cancelled';
	/** What the assistant said last. */
	output?: string;
	/** What the answer holds beside its text, such as images and files. */
	otherParts?: unknown[];
	/** All that was said and found, in its order, for its sources. */
	parts?: Part[];
	/** What earlier runs of the thread have found, where the answer leads to more than it has found itself. */
	earlier?: Part[];
	usage?: Usage;
	/** What a person is to decide. */
	interrupt?: unknown[];
	/** Why there is no answer, in words for the user; the failure says it where this is missing. */
	reason?: string;
	/** How to go on, where more can be said than to look the thread up. */
	advice?: string;
	/** The request that failed, when one did. */
	failure?: Failure;
	/** Whether the wait broke, and was taken up again. */
	recovered: boolean;
	conversationId?: string;
	runId?: string;
	/** The assistant that was to answer. */
	assistantId?: unknown;
	/** That a person's no was heard: what waited was not carried out. */
	rejected?: true;
	/** That the answer is there, but the thread does not hold it: a run at the same time has overwritten it. */
	remembered?: false;
	/** What had waited for a person, and was given up by this message. */
	discarded?: unknown[];
	/** The run that gave no sign any more, and was cancelled to free the thread. */
	cancelledRun?: string;
	/** The id of what was said last, by which the thread can be seen to hold it. */
	speechId?: string;
}

/** What a run has said, as far as it went. */
export function answerSoFar(events: RunEvents): Partial<RunResult> {
	const { answer: output, otherParts, parts, usage, speechId } = events;
	const { assistantId, conversationId } = events;
	return { output, otherParts, parts, usage, speechId, assistantId, conversationId };
}

/** The result of a run whose stream was heard to its end. */
export function resultOf(events: RunEvents): RunResult {
	const { status, error, tasks, agentStatus } = events.end;
	const said = answerSoFar(events);
	if (status === 'error') return { ...failedRun(error), ...said };
	if (status !== 'interrupted') return { status: 'completed', recovered: false, ...said };
	if (tasks.length > 0 && !error) return { ...waiting(tasks), ...said };
	// Another run that gave way marks the conversation (recorded); the agent itself is not touched by it.
	if (agentStatus === 'success') return { status: 'completed', recovered: false, ...said };
	return { ...cancelledRun(error), ...said };
}

/** A request failed for good, or the run did, for this reason. */
export function failed(failure: Failure | undefined, reason?: string, advice?: string): RunResult {
	return { status: 'failed', failure, reason, advice, recovered: false };
}

export function failedRun(error: string | null | undefined): RunResult {
	return failed(undefined, `The run failed: ${error || 'the server gave no reason'}`);
}

/** Somebody has cancelled the run. */
export function cancelledRun(error = 'the server does not say why'): RunResult {
	return failed(undefined, `The run was cancelled on the server: ${error}`);
}

export function waiting(tasks: unknown[]): RunResult {
	return { status: 'interrupted', interrupt: tasks, recovered: false };
}

/** The run has ended, and nobody knows what it said. */
export function noAnswer(failure?: Failure): RunResult {
	return failed(failure, 'The run ended without an answer, and the server does not say why');
}

/** The run is there, but its conversation or messages cannot be read. */
export function notRead(failure: Failure): RunResult {
	return failed(failure, `What became of the run cannot be read${because(failure)}`);
}

/** The user stopped the execution. */
export function cancelled(failure?: Failure): RunResult {
	return { status: 'cancelled', reason: 'The execution was canceled', failure, recovered: false };
}

/** A decision that nothing on the thread waits for; servers answer it with nothing, or an old answer. */
export function nothingToDecide(): RunResult {
	const advice =
		'Only a run that comes out with the status "interrupted" can be decided, and only once.';
	return failed(undefined, 'Nothing on this thread waits for a decision', advice);
}

/** A thread that has never run: nothing can be decided or answered again there. */
export function nothingToGoOnWith(kind: RunInput['kind']): RunResult {
	if (kind === 'decision') return nothingToDecide();
	const advice = 'Check "Thread", and say something on it with Thread: Ask and Wait first.';
	return failed(undefined, 'Nothing was said on this thread that could be answered again', advice);
}

/** The only question of a thread has a run that never ended, which the server does not answer again (recorded). */
export function notAnsweredAgain({ run_id: id }: RunRecord): RunResult {
	const advice = `Cancel the run ${id} with Thread: Cancel Run, and ask again with Thread: Ask and Wait.`;
	return failed(undefined, 'The first question of this thread has not ended', advice);
}

/**
 * Arguments are to be changed of calls that do not wait: the server would carry out what waits as it is.
 *
 * @param calls what waits, by the ids of the calls; none where the server shows no calls, as after a change
 */
export function notChanged(calls: string[]): RunResult {
	if (calls.length === 0) {
		const advice =
			'Nothing was decided. So it is once arguments were changed. Leave "Changed Arguments" empty to confirm them, or reject.';
		return failed(undefined, 'What waits does not show its calls', advice);
	}
	const advice = `Nothing was decided. Waiting: ${calls.join(', ')}.`;
	return failed(undefined, '"Changed Arguments" names a call that does not wait', advice);
}

/** Changed arguments have arrived, and the confirmation that carries them out has come to nothing. */
export function changedWithoutConfirmation(result: RunResult): RunResult {
	const way =
		'The changed arguments have arrived. If the thread still waits, decide again, with "Changed Arguments" left empty.';
	return { ...result, advice: [way, result.advice].filter(Boolean).join(' ') };
}

/** The server has answered a decision, and what it was about waits as before. */
export function stillUndecided(): RunResult {
	const advice =
		'Leave "Target" empty to decide what the thread waits for, or name the task that waits.';
	const reason = 'The server answered, but what waits for a decision still waits';
	return failed(undefined, reason, advice);
}

/** What was rejected was carried out all the same. */
export function carriedOut(): RunResult {
	const advice =
		'Somebody else has confirmed it before the rejection arrived. Read the thread to see what was done.';
	return failed(undefined, 'What was rejected was carried out', advice);
}

const RUN_ANYWAY =
	'If nothing goes on there any more, because its server was restarted, end it with Thread: Cancel Run, or set "When the Thread Is Busy" to "Run Anyway".';

/** The run that a thread is busy with, and how long it has given no sign. */
export interface Blocker {
	run: RunRecord;
	silentMs?: number;
}

/** Another run is on the thread, and the user does not want to wait for it. */
export function busy(blocker?: Blocker): RunResult {
	return failed(undefined, `Another run is going on on this thread${nameOf(blocker)}`, RUN_ANYWAY);
}

/** The deadline came while another run was on the thread, which may be one whose server has died. */
export function stillBusy(blocker?: Blocker): RunResult {
	const what = `Another run was still going on on the thread${nameOf(blocker)}`;
	return timedOut(what, undefined, RUN_ANYWAY);
}

function nameOf(blocker?: Blocker): string {
	if (!blocker) return '';
	const { run, silentMs } = blocker;
	const silence = `, without a sign for ${Math.round((silentMs ?? 0) / 1000)} s`;
	return ` (${run.run_id}, since ${run.created_at}${silentMs === undefined ? '' : silence})`;
}

export function timedOut(what: string, failure?: Failure, advice?: string): RunResult {
	const reason = `${what} when the deadline came`;
	return { status: 'timedOut', reason, failure, advice, recovered: false };
}

/** The deadline came while our run went on. */
export function stillRunning(failure?: Failure): RunResult {
	const advice = `Raise "Deadline (Minutes)", or look later with Thread: Get Run. If its server was restarted, the run may never end: end it with Thread: Cancel Run.`;
	return timedOut('The run was still going on', failure, advice);
}

/** Nothing of a request that was sent is to be seen on a thread that would show it. */
export function notArrived(kind: RunInput['kind'], failure?: Failure): RunResult {
	return failed(failure, `${WHAT[kind]} did not reach the assistant${because(failure)}`);
}

/** What became of a request that was sent is not known. */
export function mayHaveArrived(kind: RunInput['kind'], failure?: Failure): RunResult {
	const advice =
		'Read the thread before you send it again: a run may begin late, or another may hide what became of it.';
	const reason = `It is not known whether ${WHAT[kind].toLowerCase()} has reached the assistant`;
	return failed(failure, `${reason}${because(failure)}`, advice);
}

const WHAT = { message: 'The message', decision: 'The decision', retry: 'The request' };

/** A run ID that is left over of a decision or of a refusal: nothing runs under it, and it never ends. */
export function leftOver(): RunResult {
	const advice =
		'Such an ID is left over of a decision, or of a message that was refused. Take the runId of the run itself.';
	return failed(undefined, 'Nothing runs under this run ID', advice);
}

function because(failure?: Failure): string {
	return failure ? `. ${failureMessage(failure)}` : '';
}
