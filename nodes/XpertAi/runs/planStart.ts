import { randomUUID } from 'crypto';
import { compact, difference, isString } from 'lodash';

import { type ConversationFacts, findAnswer } from '../threads/conversation';
import { newestRun, type RunRecord, SETTLING_MS, stageOf, startedRuns } from '../threads/runsApi';
import { approvalDetails, fieldOfEachTask, waitsForPerson } from '../threads/tasks';
import { sanitizedLine } from '../transport/sanitizedLine';
import { repeatUntil } from './client';
import { resultIfThreadMissing } from './failedStart';
import { lastFollowedRun } from './followRun';
import {
	busyResult,
	cancelledOnServerResult,
	failedResult,
	neverRanResult,
	NOTHING_TO_DECIDE_RESULT,
	type UnsuccessfulResult,
} from './result';
import { readRunConversation, type Run } from './run';
import { type RunBody, withMessageMark, withTargetRun } from './runBody';
import type { AttemptHistory } from './attempts';

/** The request to send, and data for finding the run if the server's answer is lost. */
export interface Plan {
	body: RunBody;
	/** The runs of the thread before this request. */
	runsBefore: RunRecord[];
	messageMark?: string;
	/** For a decision: the record of the waiting run before the decision. */
	waitingRun?: RunRecord;
	/** For a decision: the tasks that wait for it. */
	decidedTasks?: unknown[];
}

/** How long the node waits for a conversation that is busy although no run is active. */
const BUSY_LIMIT_MS = 5_000;

/**
 * Reads the conversation of a thread whose last run was interrupted. First waits until the server has stored the end of
 * that run, because the list of runs shows the end earlier than the conversation.
 */
async function readInterruptedConversation(
	run: Run,
	last: RunRecord,
	{ hasWaitedForRun }: AttemptHistory,
) {
	await run.wait(hasWaitedForRun ? SETTLING_MS : remainingSettlingMs(run, last));
	const read = async () => await readRunConversation(run);
	const isStored = ({ status }: ConversationFacts, waitedMs: number) =>
		status !== 'busy' || waitedMs >= BUSY_LIMIT_MS;
	return await repeatUntil(run, read, isStored, SETTLING_MS);
}

/** Milliseconds until the server has probably stored the end of a run. */
function remainingSettlingMs(
	{ clock }: Run,
	{ run_id: runId, updated_at: endedAt = '' }: RunRecord,
): number {
	if (runId === lastFollowedRun.runId) return 0;
	const sinceEndMs = clock.now() - Date.parse(endedAt);
	// `sinceEndMs` is negative if the server's clock is ahead.
	const hasJustEnded = Math.abs(sinceEndMs) < SETTLING_MS;
	return hasJustEnded ? SETTLING_MS - Math.max(0, sinceEndMs) : 0;
}

type PlannedOrResult = Omit<Plan, 'runsBefore'> | UnsuccessfulResult;

/** Prepares the request that starts a run. Returns a failed result if the node must not send the request. */
export async function planStart(
	run: Run,
	runsBefore: RunRecord[],
	attempts: AttemptHistory,
): Promise<PlannedOrResult> {
	const { kind } = run.intent;
	const last = newestRun(runsBefore);
	if (kind === 'message') return await planMessage(run, last, attempts);
	// On a thread without any run, a decision or a retry would keep the thread busy forever.
	if (!last) return await resultIfThreadMissing(run, neverRanResult(kind));
	const body = { assistant_id: last.assistant_id, ...run.body };
	if (kind === 'decision') return await planDecision(run, body, last, attempts);
	// A retry. The server cannot retry the first question of a thread before the run of this question ends.
	const isOnlyRun = startedRuns(runsBefore).length <= 1;
	return stageOf(last) === 'goesOn' && isOnlyRun ? firstRunActiveResult(last.run_id) : { body };
}

/** Prepares a message. If the message discards tasks that wait for a person, stores these tasks in `facts`. */
async function planMessage(
	run: Run,
	last: RunRecord | undefined,
	attempts: AttemptHistory,
): Promise<PlannedOrResult> {
	if (last?.status === 'interrupted') {
		const conversation = await readInterruptedConversation(run, last, attempts);
		if (waitsForPerson(conversation)) run.facts.discarded = conversation.tasks.map(approvalDetails);
	}
	// On a new thread, the node finds the run without a mark.
	if (run.isThreadNew) return { body: run.body };
	const messageMark = randomUUID();
	return { body: withMessageMark(run.body, messageMark), messageMark };
}

/** Returns the result of a retry while the first run of the thread is active. The server cannot retry its question. */
function firstRunActiveResult(runId: string) {
	const advice = `Cancel the run ${runId} with Thread: Cancel Run, and ask again with Thread: Ask and Wait.`;
	return failedResult('The first question of this thread has not ended', advice);
}

/**
 * Prepares a decision on the waiting run. Returns a failed result if the node must not send the decision: nothing waits,
 * the run was cancelled, a changed call does not wait, or the conversation is busy or cannot be read.
 */
async function planDecision(
	run: Run,
	body: RunBody,
	waitingRun: RunRecord,
	attempts: AttemptHistory,
): Promise<PlannedOrResult> {
	if (waitingRun.status !== 'interrupted') return NOTHING_TO_DECIDE_RESULT;
	const conversation = await readInterruptedConversation(run, waitingRun, attempts);
	const { tasks, failure, error } = conversation;
	if (failure) return { status: 'failed', failure };
	if (tasks.length === 0)
		return conversation.status === 'busy' ? busyResult() : NOTHING_TO_DECIDE_RESULT;
	// Even if the run was cancelled, a decision would carry out its tool calls. So look for a cancellation first. The
	// `error` of the conversation may come from another run. Only the message of the waiting run is proof.
	const stored = error ? await findAnswer(run, conversation, waitingRun.run_id) : undefined;
	if (stored?.failure) return { status: 'failed', failure: stored.failure };
	if (stored?.message?.status === 'aborted')
		return cancelledOnServerResult(stored.message.error ?? error);
	// The server would ignore changes to a call that does not wait, and run the waiting calls unchanged.
	const calls = fieldOfEachTask('call.id', tasks);
	const unknownCalls = difference(run.intent.changedCallIds, calls);
	if (unknownCalls.length > 0) return callNotWaitingResult(calls);
	return { body: withTargetRun(body, waitingRun.run_id), waitingRun, decidedTasks: tasks };
}

/**
 * Returns the result if a decision changes the arguments of a call that does not wait.
 *
 * @param calls the ID of the waiting call of each task. The entry of a task without a call is undefined.
 */
function callNotWaitingResult(calls: unknown[]) {
	const shown = compact(calls.map((id) => isString(id) && sanitizedLine(id)));
	if (shown.length > 0) {
		const advice = `Nothing was decided. Name each call by its callId in "interrupt". Waiting: ${shown.join(', ')}.`;
		return failedResult('"Changed Arguments" names a call that does not wait', advice);
	}
	return failedResult(
		'The waiting run lists no calls',
		'Nothing was decided. The server lists no calls after arguments were changed. Leave "Changed Arguments" empty to confirm them, or reject.',
	);
}
