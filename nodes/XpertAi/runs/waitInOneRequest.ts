import isEqual from 'lodash/isEqual';
import { z } from 'zod';

import { readConversation, taskValues, waitsForPerson } from '../threads/conversation';
import {
	afterLastUserMessage,
	callsTool,
	hasText,
	isFromUser,
	lastReply,
	messagesOf,
	parseReply,
	textOf,
} from '../threads/messages';
import { eventsOn } from '../threads/runEvents';
import { START_TRIES, WAIT_PATH } from '../threads/runsApi';
import { readThread, readThreadPatiently } from '../threads/thread';
import type { ThreadMessage, ThreadState } from '../threads/thread';
import { buildPath } from '../transport/api';
import { call } from '../transport/call';
import { mayMeanNoRecord } from '../transport/classifyFailure';
import { FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import type { Failure } from '../transport/failure';
import { explainRefusal, explainUnreadable } from './openConversation';
import type { Run } from './run';
import {
	busy,
	executionStopped,
	failed,
	mayHaveArrived,
	neverRan,
	noAnswer,
	NOTHING_TO_DECIDE,
	resultFromEvents,
	stillBusy,
	timedOut,
	withFacts,
} from './runResult';
import type { NoAnswer, RunResult } from './runResult';

/*
 * A run in one request (E4), for servers with the contract only. The answer is compared with the thread once: servers
 * answer a run that failed, was cancelled or waits for a person like a completed one (recorded). If the wait breaks,
 * the thread is polled until it is at rest.
 */

/** A run, and its thread before it. */
interface Waited extends Run {
	/** Undefined if the thread had never run. */
	before?: ThreadState;
	/** The tasks that waited for a person. */
	tasks: unknown[];
}

/** What E4 must answer (recorded). */
const runAnswer = z
	.record(z.unknown())
	.refine((answer) => 'role' in answer && 'content' in answer, 'it is not the answer of a run');

/** Runs a thread and waits in one request, which is repeated only if it certainly did not arrive. Never throws. */
export async function waitInOneRequest(run: Run): Promise<RunResult> {
	const { kind } = run.intent;
	const free = run.isNew ? {} : await waitUntilIdle(run);
	if ('status' in free) return free;
	const { state: before } = free;
	// A thread without a question refuses a decision or a retry, and is then busy for ever (recorded).
	if (kind !== 'message' && !before) return await explainUnreadable(run, neverRan(kind));
	const isInterrupted = before?.status === 'interrupted';
	const facts = isInterrupted ? await readConversation(run, run.threadId) : { tasks: [] };
	if ('failure' in facts && facts.failure) return { status: 'failed', failure: facts.failure };
	const isIdle = before?.status === 'idle' || before?.status === 'error';
	if (kind === 'decision' && isIdle) return NOTHING_TO_DECIDE;
	if (run.remaining() <= 0) return timedOut('The run had not begun');
	const assistant = kind === 'message' ? {} : { assistant_id: before?.metadata?.assistant_id };
	const body = { ...assistant, ...run.body };
	const result = await sendAndCompare({ ...run, body, before, tasks: facts.tasks });
	const { conversationId = before?.metadata?.id } = result;
	return withFacts(result, { conversationId, assistantId: body.assistant_id });
}

async function sendAndCompare(run: Waited): Promise<RunResult> {
	const sent = await call(run, {
		method: 'POST',
		path: buildPath(WAIT_PATH, { threadId: run.threadId }),
		body: JSON.stringify(run.body),
		timeoutMs: run.remaining(),
		schema: runAnswer,
		repeatable: false,
		maxTries: START_TRIES,
	});
	if (sent.ok) return await compareWithThread(run, sent.answer.content);
	const { failure, mayBeDone } = sent;
	return await (mayBeDone ? pollUntilIdle(run, failure) : explainRefusal(run, failure));
}

/** Waits until no other run is on the thread. @returns the state of the thread, if it has ever run */
async function waitUntilIdle(run: Run): Promise<{ state?: ThreadState } | NoAnswer> {
	for (let pause = FIRST_PAUSE_MS; ; pause = longerPause(pause)) {
		const { answer: state, failure: unread } = await readThread(run, run.threadId);
		// The thread of a run that has just started may be unreadable, like one that has never run (recorded).
		const { status, failure } =
			unread && mayMeanNoRecord(unread)
				? await readConversation(run, run.threadId)
				: { status: state?.status, failure: unread };
		if (run.signal?.aborted) return executionStopped(failure);
		if (failure) return { status: 'failed', failure };
		if (status !== 'busy' || run.whenBusy === 'run') return { state };
		if (run.whenBusy === 'fail') return busy();
		if (run.remaining() <= 0) return stillBusy();
		await run.wait(pause);
	}
}

/** The result of a run that E4 answered. */
async function compareWithThread(run: Waited, content: unknown): Promise<RunResult> {
	const { output: text, parts: otherParts } = parseReply(content);
	const isEmpty = text === '' && otherParts.length === 0;
	const { answer: state, failure } = await readThreadPatiently(run, run.threadId);
	if (failure) return { ...failed(UNVERIFIED, undefined, failure), unverified: text };
	const answer = { status: 'completed' as const, output: text, otherParts, recovered: false };
	// Another run may be running. A null status means unknown.
	if (!state.status || state.status === 'busy')
		return isEmpty ? await pollUntilIdle(run) : { ...answer, parts: [] };
	const shown = await resultOnThread(run, state);
	if (shown && (isEmpty || shown.status !== 'completed')) return shown;
	const isUndecided = run.intent.kind === 'decision' && isUnchanged(run, state);
	if (isEmpty && isUndecided) return run.tasks.length > 0 ? STILL_UNDECIDED : NOTHING_TO_DECIDE;
	if (isEmpty) return noAnswer();
	// E4 joins all texts of a run. The last one, which the thread has, is the answer (recorded).
	const isLast = Boolean(shown?.output) && text.endsWith(shown?.output ?? '');
	const isLost = !run.isNew && !isLast && !shown?.rejected;
	const conversationId = state.metadata?.id;
	const output = isLast && shown ? shown.output : text;
	const parts = shown?.parts ?? [];
	return {
		parts,
		...shown,
		...answer,
		conversationId,
		output,
		...(isLost && { remembered: false }),
	};
}

const UNVERIFIED = 'The server answered, but what became of the run is not known';

/** The server answered the decision, but the same tasks still wait. */
const STILL_UNDECIDED = failed(
	'The server answered, but what waits for a decision still waits',
	'Leave "Target" empty to decide what the thread waits for, or name the task that waits.',
);

/** Reads in a row that must find the thread idle without the run: it may start between two. */
const IDLE_READS = 2;

/** Polls the thread after a broken wait until it is idle and shows the result of the run, or does not. */
async function pollUntilIdle(run: Waited, failure?: Failure): Promise<RunResult> {
	const { kind } = run.intent;
	const unknown = mayHaveArrived(kind, failure);
	for (let [pause, idleReads] = [FIRST_PAUSE_MS, 0]; ; pause = longerPause(pause)) {
		await run.wait(pause);
		const isLast = run.remaining() <= 0;
		const { answer: state, failure: unread } = await readThread(run, run.threadId, 1);
		if (run.signal?.aborted) return executionStopped(failure);
		const isBusy = state?.status === 'busy';
		const shown = state && !isBusy ? await resultOnThread(run, state) : undefined;
		if (shown) return { ...shown, recovered: true };
		// While a decision is carried out, the thread does not change (recorded).
		const isIdle = unread ? mayMeanNoRecord(unread) : !isBusy;
		idleReads = isIdle && kind !== 'decision' ? idleReads + 1 : 0;
		if (isLast && isBusy) return timedOut('The run was still going on', WAIT_ADVICE, failure);
		if (isLast || idleReads >= IDLE_READS)
			return isLast ? { ...unknown, status: 'timedOut' } : unknown;
	}
}

const WAIT_ADVICE =
	'Raise "Deadline (Minutes)", or read the thread later: the run goes on. If its server was restarted, set "When the Thread Is Busy" to "Run Anyway".';

/** The result of the run on an idle thread; undefined if it is missing or may belong to another run. */
async function resultOnThread(run: Waited, state: ThreadState): Promise<RunResult | undefined> {
	if (isUnchanged(run, state)) return undefined;
	const own = messagesOfRun(run, state);
	const events = eventsOn(state, own);
	const { status } = state;
	if (status === 'error' || status === 'interrupted') {
		const facts = await readConversation(run, run.threadId);
		if (facts.failure) return failed(UNVERIFIED, undefined, facts.failure);
		const { error, tasks, isLeftOver } = facts;
		const isSame = isEqual(taskValues('id', tasks), taskValues('id', run.tasks));
		if (!isSame || !waitsForPerson(facts)) {
			events.end = { status, error, tasks, isLeftOver };
			return resultFromEvents(events);
		}
	}
	const answer = resultFromEvents(events);
	const last = own.at(-1);
	if (answer.status !== 'completed') return answer;
	if (run.intent.rejects && last && callsTool(last))
		return { ...answer, output: '', rejected: true };
	return lastReply(own) && { ...answer, recovered: Boolean(answer.output) };
}

/** The messages after the question of this run, if it is the newest and was not there before. */
function messagesOfRun({ intent, before }: Waited, state: ThreadState): ThreadMessage[] {
	const { kind, text = '' } = intent;
	const messages = messagesOf(state);
	const question = messages.findLast(isFromUser);
	if (!question) return [];
	const isKnown = messagesOf(before).some(({ id }) => id !== undefined && id === question.id);
	// With files, the server adds their content to the text.
	const isContained = state.values?.input === text && textOf(question.content).includes(text);
	const isOwn = kind !== 'message' || (!isKnown && (isContained || hasText(question, text)));
	return isOwn ? afterLastUserMessage(messages) : [];
}

/** Whether no run has changed the thread since. */
function isUnchanged({ before }: Waited, state: ThreadState): boolean {
	return before !== undefined && isEqual(runTraces(before), runTraces(state));
}

const runTraces = (state: ThreadState) => [state.status, state.updated_at, messagesOf(state)];
