import { readConversation } from '../threads/conversation';
import type { ConversationFacts } from '../threads/conversation';
import { afterLastPerson, callsTool, messagesOf } from '../threads/messages';
import { RunEvents } from '../threads/runEvents';
import { readThreadWithRetries } from '../threads/thread';
import type { Failure } from '../transport/failure';
import {
	cancelledRun,
	failed,
	failedRun,
	leftOver,
	noAnswer,
	notRead,
	resultOf,
	answerSoFar,
	waiting,
} from './result';
import type { RunResult } from './result';
import type { InTime } from './run';
import { findMessages, joining, listRuns, newestRun, readRun, readUsage } from '../threads/runsApi';
import type { MessageRecord, RunIds, RunRecord } from '../threads/runsApi';

/** So long a run that has ended may take to be told once more by its stream, which is open and silent if it is gone. */
const REPLAY_MS = 5_000;

/** How a run stands: its result once it has ended, and who answers in which conversation as far as that is known. */
export interface RunState {
	result?: RunResult;
	conversationId?: string;
	assistantId?: string;
}

/** How a run stands now, by the run itself, and once it has ended by its conversation and message. Never throws. */
export async function readRunState(run: InTime, ids: RunIds): Promise<RunState> {
	const reading = await readRun(run, ids);
	if ('failure' in reading) return { result: failed(reading.failure) };
	const { record } = reading;
	const assistantId = record.assistant_id ?? undefined;
	if (record.status === 'running' && assistantId !== undefined) return { assistantId };
	const facts = await readConversation(run, ids.threadId);
	if (facts.failure) return { result: notRead(facts.failure), assistantId };
	if (record.status === 'running') return await standingUnnamed(run, ids, facts);
	const { conversationId } = facts;
	const result = await readEnded(run, ids, record, facts);
	const told = result && { ...result, conversationId: result.conversationId ?? conversationId };
	return { result: told, conversationId, assistantId };
}

/**
 * A run without an assistant is in its first moments, in which its conversation is busy, or left over and never ends
 * (recorded).
 */
async function standingUnnamed(
	run: InTime,
	ids: RunIds,
	{ status, conversationId }: ConversationFacts,
): Promise<RunState> {
	// Nothing is said to others than its owner.
	if (status === 'busy' || conversationId === undefined) return {};
	// It may have begun and ended while the conversation was read.
	const again = await readRun(run, ids);
	if ('failure' in again) return { result: failed(again.failure) };
	return again.record.assistant_id ? {} : { result: leftOver() };
}

/** The result of a run that has ended; none while its message is still being stored. */
async function readEnded(
	run: InTime,
	ids: RunIds,
	record: RunRecord,
	facts: ConversationFacts,
): Promise<RunResult | undefined> {
	if (record.status === 'interrupted') return await readInterrupted(run, ids, facts);
	const found = await findMessage(run, facts.conversationIds ?? [], ids.runId);
	if ('failure' in found) return notRead(found.failure);
	const { message } = found;
	if (message?.status === 'thinking') return undefined;
	// Another owner's conversation is not shown, but its runs are.
	if (!message) return (await replay(run, ids)) ?? noAnswer();
	const events = new RunEvents(ids.runId);
	events.readContent(message.content);
	if (record.status === 'error') return { ...failedRun(message.error), ...answerSoFar(events) };
	const usage = await readUsage(run, ids);
	const isRejected = events.answer === '' && (await endsWithCall(run, ids.threadId));
	return {
		...{ status: 'completed', recovered: false, ...answerSoFar(events) },
		...(usage && { usage }),
		...(isRejected && { rejected: true as const }),
	};
}

/** Whether a thread has ended with a call, which is all that a rejection leaves (recorded). */
async function endsWithCall(run: InTime, threadId: string): Promise<boolean> {
	const reading = await readThreadWithRetries(run, threadId);
	if ('failure' in reading) return false;
	const last = afterLastPerson(messagesOf(reading.state)).at(-1);
	return last !== undefined && callsTool(last);
}

/**
 * An interrupted run waits for a person, was cancelled, or had ended before it was cancelled: only the last one waits,
 * and the stream tells the others apart (recorded).
 */
async function readInterrupted(
	run: InTime,
	ids: RunIds,
	{ tasks, error }: ConversationFacts,
): Promise<RunResult> {
	const listed = await listRuns(run, ids.threadId);
	if ('failure' in listed) return notRead(listed.failure);
	const isLast = newestRun(listed.runs)?.run_id === ids.runId;
	if (isLast && tasks.length > 0 && !error) return waiting(tasks);
	const replayed = await replay(run, ids);
	if (replayed && replayed.status !== 'interrupted') return replayed;
	if (isLast) return cancelledRun(error);
	return failed(undefined, 'The run was cancelled, or the thread has gone on without a decision');
}

/** What a run has said, by its message. Several conversations may be on its thread, and only one of them has it. */
async function findMessage(
	run: InTime,
	conversationIds: string[],
	executionId: string,
): Promise<{ message?: MessageRecord } | { failure: Failure }> {
	for (const conversationId of conversationIds) {
		const { messages, failure } = await findMessages(run, conversationId, { executionId });
		if (failure) return { failure };
		const message = messages?.findLast(({ role }) => role === 'ai');
		if (message) return { message };
	}
	return {};
}

/** The result of a run that has ended, by its stream; none where that is not kept any more. Never throws. */
export async function replay(run: InTime, ids: RunIds): Promise<RunResult | undefined> {
	const events = new RunEvents(ids.runId);
	const over = new AbortController();
	run.clock.later(REPLAY_MS, () => over.abort());
	await run.send(joining(ids, events, over.signal));
	return events.isComplete && events.isWhole ? resultOf(events) : undefined;
}
