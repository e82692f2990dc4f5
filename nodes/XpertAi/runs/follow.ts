import isEqual from 'lodash/isEqual';

import { afterLastUserMessage, callsTool, messagesOf } from '../threads/messages';
import { RunEvents } from '../threads/runEvents';
import type { Listener } from '../threads/runEvents';
import {
	findMessages,
	joinRun,
	listRuns,
	newestRun,
	readRun,
	readUsage,
	SETTLING_MS,
} from '../threads/runsApi';
import type { MessageRecord, RunIds, RunRecord } from '../threads/runsApi';
import { readConversation, readThread, taskValues, waitsForPerson } from '../threads/thread';
import type { ConversationFacts } from '../threads/thread';
import { isTransient } from '../transport/classifyFailure';
import { FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import type { Failure } from '../transport/failure';
import type { Outcome } from '../transport/request';
import {
	answerSoFar,
	executionStopped,
	failed,
	interruptedRun,
	leftoverRunId,
	noAnswer,
	resultFromEvents,
	runCancelled,
	runFailed,
	stillRunning,
	unreadableRun,
} from './result';
import type { RunResult } from './result';
import { followedRun, remaining, UNREACHABLE_MS, waitInTime } from './run';
import type { Client } from './run';

/** After this long without a stream event, the run record is read. */
const SILENT_STREAM_MS = 10_000;

/** How to follow a run. */
interface FollowOptions {
	listener?: Listener;
	/** The run ID to join the stream by, if a decision got a run ID of its own. */
	joinId?: string;
	/** The tasks that waited for the decision. */
	decided?: unknown[];
}

/**
 * Follows a run until it ends, the deadline expires or the execution is stopped. Reads the stream and joins it again
 * when it breaks; if the stream cannot tell the result, reads the run record. Never throws.
 */
export async function followRun(
	run: Client,
	ids: RunIds,
	{ listener, joinId = ids.runId, decided }: FollowOptions = {},
): Promise<RunResult> {
	// Events from before a decision may come first. The listener must not get them.
	const events = new RunEvents(ids.runId, decided ? undefined : listener);
	if (decided) events.readTasks(decided);
	const startedAt = run.clock.now();
	let [canJoin, wasBroken, isThere] = [true, false, false];
	for (let pause = FIRST_PAUSE_MS; ; ) {
		const lastId = events.lastId;
		if (canJoin) {
			const outcome = await join(run, ids, joinId, events);
			if (events.isComplete && decided && (await isBeforeDecision(run, ids, events, decided))) {
				events.resume(listener);
				continue;
			}
			if (events.isComplete && events.isWhole && (!decided || events.isResumed)) {
				followedRun.runId = ids.runId;
				return { ...resultFromEvents(events), recovered: wasBroken };
			}
			canJoin = outcome.ok || isTransient(outcome.failure);
		}
		wasBroken = true;
		const { record, result } = await readRunState(run, ids);
		const failure = result?.failure;
		isThere ||= record !== undefined;
		const isUnreachable = !isThere && run.clock.now() - startedAt >= UNREACHABLE_MS;
		let ended = failure && isTransient(failure) ? undefined : result;
		if (remaining(run) <= 0 || isUnreachable) ended ??= isThere ? stillRunning(failure) : result;
		if (run.signal?.aborted) ended = executionStopped(failure);
		// Only the stream has the token usage, and it may have a conversation that the record does not show.
		const { usage = ended?.usage, conversationId = ended?.conversationId } = events;
		if (ended) return { ...ended, usage, conversationId, recovered: !ended.failure };
		pause = events.lastId === lastId ? longerPause(pause) : FIRST_PAUSE_MS;
		await waitInTime(run, pause);
	}
}

/** Whether the events so far precede the decision: a stream first replays what waited, once per decision (recorded). */
async function isBeforeDecision(
	run: Client,
	ids: RunIds,
	{ end }: RunEvents,
	decided: unknown[],
): Promise<boolean> {
	if (end.status !== 'interrupted') return false;
	if (isEqual(taskValues('id', end.tasks), taskValues('id', decided))) return true;
	const { result } = await readRunState(run, ids);
	return !isEqual(taskValues('id', end.tasks), taskValues('id', result?.interrupt));
}

/**
 * Reads the stream of a run until it ends or breaks. Stops if the stream stays silent although the run has ended: an
 * old stream is no longer stored. Never throws.
 */
async function join(run: Client, ids: RunIds, joinId: string, events: RunEvents): Promise<Outcome> {
	const [abort, done] = [new AbortController(), new AbortController()];
	void abortIfEnded(run, ids, events, { abort, done: done.signal });
	const outcome = await run.send(joinRun({ ...ids, runId: joinId }, events, abort.signal));
	done.abort();
	return outcome;
}

/** Aborts the stream if it gives no event and the run has ended. */
async function abortIfEnded(
	run: Client,
	ids: RunIds,
	events: RunEvents,
	{ abort, done }: { abort: AbortController; done: AbortSignal },
): Promise<void> {
	for (let pause = SILENT_STREAM_MS; ; pause = longerPause(pause)) {
		const lastId = events.lastId;
		await run.clock.sleep(pause, done);
		if (done.aborted) return;
		if (events.lastId !== lastId) continue;
		const { answer: record, failure } = await readRun(run, ids);
		if (failure ? isTransient(failure) : record.status === 'running') continue;
		await run.clock.sleep(SETTLING_MS, done);
		abort.abort();
		return;
	}
}

/** Limit for the replay of a stream: a stream that is no longer stored stays open and silent. */
const REPLAY_MS = 5_000;

/** The state of a run. */
export interface RunState {
	/** Undefined if it could not be read. */
	record?: RunRecord;
	/** Set if the run has ended, or if its end could not be read. */
	result?: RunResult;
}

/** Reads the state of a run from its record and, if it has ended, from its conversation and message. Never throws. */
export async function readRunState(run: Client, ids: RunIds): Promise<RunState> {
	const { answer: record, failure } = await readRun(run, ids);
	if (failure) return { result: failed(failure) };
	const isRunning = record.status === 'running';
	if (isRunning && record.assistant_id) return { record };
	const facts = await readConversation(run, ids.threadId);
	if (facts.failure) return { record, result: unreadableRun(facts.failure) };
	if (isRunning) return { record, result: await readLeftover(run, ids, facts) };
	const result = await readEnded(run, ids, record, facts);
	const conversationId = result?.conversationId ?? facts.conversationId;
	return { record, result: result && { ...result, conversationId } };
}

/** A run without an assistant has just started and its conversation is busy, or is left over (recorded). */
async function readLeftover(
	run: Client,
	ids: RunIds,
	{ status, conversationId }: ConversationFacts,
): Promise<RunResult | undefined> {
	// Without a conversation, the token belongs to another owner and nothing more is known.
	if (status === 'busy' || conversationId === undefined) return undefined;
	// The run may have started and ended while the conversation was read.
	const { answer: again, failure } = await readRun(run, ids);
	if (failure) return failed(failure);
	return again.assistant_id ? undefined : leftoverRunId();
}

/** The result of a run that has ended; undefined while the server still stores its message. */
async function readEnded(
	run: Client,
	ids: RunIds,
	record: RunRecord,
	facts: ConversationFacts,
): Promise<RunResult | undefined> {
	if (record.status === 'interrupted') return await readInterrupted(run, ids, facts);
	const { message, failure } = await findMessage(run, facts.conversationIds, ids.runId);
	if (failure) return unreadableRun(failure);
	if (message?.status === 'thinking') return undefined;
	// The server hides the conversation of another owner, but not its runs.
	if (!message) return (await replay(run, ids)) ?? noAnswer();
	const events = new RunEvents(ids.runId);
	events.readContent(message.content);
	if (record.status === 'error') return { ...runFailed(message.error), ...answerSoFar(events) };
	events.usage = await readUsage(run, ids);
	const isRejected = events.answer === '' && (await endsWithCall(run, ids.threadId));
	return {
		...{ status: 'completed', ...answerSoFar(events) },
		...(isRejected && { rejected: true as const }),
	};
}

/** Whether the last message of a thread is a tool call, as after a rejection (recorded). */
async function endsWithCall(run: Client, threadId: string): Promise<boolean> {
	const { answer: state } = await readThread(run, threadId);
	const last = afterLastUserMessage(messagesOf(state)).at(-1);
	return last !== undefined && callsTool(last);
}

/**
 * An interrupted run waits for a person, was cancelled, or had ended before it was cancelled. Only the last run of a
 * thread can wait; the stream tells the other two apart (recorded).
 */
async function readInterrupted(
	run: Client,
	ids: RunIds,
	facts: ConversationFacts,
): Promise<RunResult> {
	const { answer: runs, failure } = await listRuns(run, ids.threadId);
	if (failure) return unreadableRun(failure);
	const isLast = newestRun(runs)?.run_id === ids.runId;
	if (isLast && waitsForPerson(facts)) return interruptedRun(facts.tasks);
	const replayed = await replay(run, ids);
	if (replayed && replayed.status !== 'interrupted') return replayed;
	if (isLast) return runCancelled(facts.error);
	return failed(undefined, 'The run was cancelled, or the thread has gone on without a decision');
}

/** The answer message of a run. Several conversations may share the thread; only one has it. */
async function findMessage(
	run: Client,
	conversationIds: string[],
	executionId: string,
): Promise<{ message?: MessageRecord; failure?: Failure }> {
	for (const conversationId of conversationIds) {
		const { answer, failure } = await findMessages(run, conversationId, { executionId });
		const message = answer?.findLast(({ role }) => role === 'ai');
		if (message || failure) return { message, failure };
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
