import { readConversation } from '../threads/conversation';
import type { ConversationFacts } from '../threads/conversation';
import { afterLastUserMessage, callsTool, messagesOf } from '../threads/messages';
import { RunEvents } from '../threads/runEvents';
import { readThreadWithRetries } from '../threads/thread';
import type { Failure } from '../transport/failure';
import {
	runCancelled,
	failed,
	runFailed,
	leftoverRunId,
	noAnswer,
	unreadableRun,
	resultFromEvents,
	answerSoFar,
	interruptedRun,
} from './result';
import type { RunResult } from './result';
import type { Client } from './run';
import { findMessages, joinRun, listRuns, newestRun, readRun, readUsage } from '../threads/runsApi';
import type { MessageRecord, RunIds, RunRecord } from '../threads/runsApi';

/** Limit for the replay of a stream: a stream that is no longer stored stays open and silent. */
const REPLAY_MS = 5_000;

/** The state of a run: its result if it has ended, and its assistant and conversation as far as known. */
export interface RunState {
	result?: RunResult;
	conversationId?: string;
	assistantId?: string;
}

/** Reads the state of a run from its record and, if it has ended, from its conversation and message. Never throws. */
export async function readRunState(run: Client, ids: RunIds): Promise<RunState> {
	const reading = await readRun(run, ids);
	if ('failure' in reading) return { result: failed(reading.failure) };
	const { record } = reading;
	const assistantId = record.assistant_id ?? undefined;
	if (record.status === 'running' && assistantId !== undefined) return { assistantId };
	const facts = await readConversation(run, ids.threadId);
	if (facts.failure) return { result: unreadableRun(facts.failure), assistantId };
	if (record.status === 'running') return await stateWithoutAssistant(run, ids, facts);
	const { conversationId } = facts;
	const ended = await readEnded(run, ids, record, facts);
	const result = ended && { ...ended, conversationId: ended.conversationId ?? conversationId };
	return { result, conversationId, assistantId };
}

/** A run without an assistant has just started and its conversation is busy, or is left over (recorded). */
async function stateWithoutAssistant(
	run: Client,
	ids: RunIds,
	{ status, conversationId }: ConversationFacts,
): Promise<RunState> {
	// Without a conversation, the token belongs to another owner and nothing more is known.
	if (status === 'busy' || conversationId === undefined) return {};
	// The run may have started and ended while the conversation was read.
	const again = await readRun(run, ids);
	if ('failure' in again) return { result: failed(again.failure) };
	return again.record.assistant_id ? {} : { result: leftoverRunId() };
}

/** The result of a run that has ended; undefined while the server still stores its message. */
async function readEnded(
	run: Client,
	ids: RunIds,
	record: RunRecord,
	facts: ConversationFacts,
): Promise<RunResult | undefined> {
	if (record.status === 'interrupted') return await readInterrupted(run, ids, facts);
	const found = await findMessage(run, facts.conversationIds ?? [], ids.runId);
	if ('failure' in found) return unreadableRun(found.failure);
	const { message } = found;
	if (message?.status === 'thinking') return undefined;
	// The server hides the conversation of another owner, but not its runs.
	if (!message) return (await replay(run, ids)) ?? noAnswer();
	const events = new RunEvents(ids.runId);
	events.readContent(message.content);
	if (record.status === 'error') return { ...runFailed(message.error), ...answerSoFar(events) };
	const usage = await readUsage(run, ids);
	const isRejected = events.answer === '' && (await endsWithCall(run, ids.threadId));
	return {
		...{ status: 'completed', recovered: false, ...answerSoFar(events) },
		...(usage && { usage }),
		...(isRejected && { rejected: true as const }),
	};
}

/** Whether the last message of a thread is a tool call, as after a rejection (recorded). */
async function endsWithCall(run: Client, threadId: string): Promise<boolean> {
	const reading = await readThreadWithRetries(run, threadId);
	if ('failure' in reading) return false;
	const last = afterLastUserMessage(messagesOf(reading.state)).at(-1);
	return last !== undefined && callsTool(last);
}

/**
 * An interrupted run waits for a person, was cancelled, or had ended before it was cancelled. Only the last run of a
 * thread can wait; the stream tells the other two apart (recorded).
 */
async function readInterrupted(
	run: Client,
	ids: RunIds,
	{ tasks, error }: ConversationFacts,
): Promise<RunResult> {
	const listed = await listRuns(run, ids.threadId);
	if ('failure' in listed) return unreadableRun(listed.failure);
	const isLast = newestRun(listed.runs)?.run_id === ids.runId;
	if (isLast && tasks.length > 0 && !error) return interruptedRun(tasks);
	const replayed = await replay(run, ids);
	if (replayed && replayed.status !== 'interrupted') return replayed;
	if (isLast) return runCancelled(error);
	return failed(undefined, 'The run was cancelled, or the thread has gone on without a decision');
}

/** The answer message of a run. Several conversations may share the thread; only one has it. */
async function findMessage(
	run: Client,
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

/** The result of an ended run from its stream; undefined if the stream is no longer stored. Never throws. */
export async function replay(run: Client, ids: RunIds): Promise<RunResult | undefined> {
	const events = new RunEvents(ids.runId);
	const abort = new AbortController();
	run.clock.later(REPLAY_MS, () => abort.abort());
	await run.send(joinRun(ids, events, abort.signal));
	return events.isComplete && events.isWhole ? resultFromEvents(events) : undefined;
}
