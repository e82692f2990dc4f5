import isEqual from 'lodash/isEqual';
import { z } from 'zod';

import {
	afterLastUserMessage,
	callsTool,
	isFromUser,
	lastReply,
	messagesOf,
	parseReply,
	hasText,
	textOf,
} from '../threads/messages';
import { eventsOn } from '../threads/runEvents';
import { START_TRIES, WAIT_PATH } from '../threads/runsApi';
import {
	callApi,
	readConversation,
	readThread,
	taskValues,
	waitsForPerson,
} from '../threads/thread';
import type { ThreadMessage, ThreadState } from '../threads/thread';
import { buildPath } from '../transport/api';
import type { Failure } from '../transport/failure';
import { mayMeanNoRecord } from '../transport/classifyFailure';
import { FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import { intentOf } from './input';
import type { Intent } from './input';
import { explainRefusal, explainUnreadable } from './openConversation';
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
} from './run';
import type { Run, RunResult } from './run';

/*
 * A run in one request (E4), for servers with the contract only. The answer is compared with the thread once: servers
 * answer a run that failed, was cancelled or waits for a person like a completed one (recorded). If the wait breaks,
 * the thread is polled until it is idle.
 */

/** Reads in a row that must find the thread idle without the run: it may start between two. */
const IDLE_READS = 2;

/** A run, and the state of its thread before it. */
interface Waited extends Run {
	intent: Intent;
	/** Undefined if the thread had never run. */
	before?: ThreadState;
	/** The tasks that waited for a person before the run. */
	tasks: unknown[];
}

/** What E4 must answer (recorded). */
const runAnswer = z
	.object({ role: z.unknown(), content: z.unknown() })
	.refine((answer) => 'role' in answer && 'content' in answer);

/** Runs a thread and waits in one request, which is repeated only if it certainly did not arrive. Never throws. */
export async function waitInOneRequest(run: Run): Promise<RunResult> {
	const free = run.isNew ? {} : await waitUntilIdle(run);
	if ('status' in free) return free;
	const { state: before } = free;
	const intent = intentOf(run.body);
	const isMessage = intent.kind === 'message';
	// A thread without a question refuses a decision or a retry, and is then busy for ever (recorded).
	if (!isMessage && !before) return await explainUnreadable(run, neverRan(intent.kind));
	const facts =
		before?.status === 'interrupted' ? await readConversation(run, run.threadId) : undefined;
	if (facts?.failure) return { status: 'failed', failure: facts.failure };
	const isIdle = before?.status === 'idle' || before?.status === 'error';
	if (intent.kind === 'decision' && isIdle) return NOTHING_TO_DECIDE;
	if (run.remaining() <= 0) return timedOut('The run had not begun');
	const body = isMessage ? run.body : { assistant_id: before?.metadata?.assistant_id, ...run.body };
	const result = await send({ ...run, body, intent, before, tasks: facts?.tasks ?? [] });
	const conversationId = result.conversationId ?? before?.metadata?.id;
	return { ...result, conversationId, assistantId: body.assistant_id };
}

async function send(run: Waited): Promise<RunResult> {
	const sent = await callApi(run, {
		...{ method: 'POST', path: buildPath(WAIT_PATH, { threadId: run.threadId }) },
		...{ body: JSON.stringify(run.body), timeoutMs: run.remaining() },
		...{ schema: runAnswer, flaw: 'it is not the answer of a run' },
		...{ repeatable: false, maxTries: START_TRIES },
	});
	if (sent.ok) return await compareWithThread(run, sent.answer.content);
	const { failure, mayBeDone } = sent;
	return await (mayBeDone ? pollUntilIdle(run, failure) : explainRefusal(run, failure));
}

/** Waits until no other run is on the thread. @returns the state of the thread, if it has ever run */
async function waitUntilIdle(run: Run): Promise<{ state?: ThreadState } | RunResult> {
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
	const answer: RunResult = { status: 'completed', output: text, otherParts, recovered: false };
	const { answer: state, failure } = await readThread(run, run.threadId);
	if (failure) return isEmpty ? noAnswer(failure) : answer;
	// Another run may be running. A null status means unknown.
	if (!state.status || state.status === 'busy') return isEmpty ? await pollUntilIdle(run) : answer;
	const shown = await verdictOf(run, state);
	if (shown && (isEmpty || shown.status !== 'completed')) return shown;
	const isUndecided = run.intent.kind === 'decision' && isUnchanged(run, state);
	if (isEmpty && isUndecided) return run.tasks.length > 0 ? STILL_UNDECIDED : NOTHING_TO_DECIDE;
	if (isEmpty) return noAnswer();
	// E4 joins all texts of a run. The last one, which the thread has, is the answer (recorded).
	const isLast = Boolean(shown?.output) && text.endsWith(shown?.output ?? '');
	const output = isLast ? shown?.output : text;
	const isLost = !run.isNew && !isLast && !shown?.rejected;
	const conversationId = state.metadata?.id;
	return { ...shown, ...answer, conversationId, output, ...(isLost && { remembered: false }) };
}

/** The server answered the decision, but the same tasks still wait. */
const STILL_UNDECIDED = failed(
	'The server answered, but what waits for a decision still waits',
	'Leave "Target" empty to decide what the thread waits for, or name the task that waits.',
);

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
		const shown = state && !isBusy ? await verdictOf(run, state) : undefined;
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
async function verdictOf(run: Waited, state: ThreadState): Promise<RunResult | undefined> {
	if (isUnchanged(run, state)) return undefined;
	const own = messagesOfRun(run, state);
	const events = eventsOn(state, own);
	const { status } = state;
	if (status === 'error' || status === 'interrupted') {
		const facts = await readConversation(run, run.threadId);
		const { error, tasks } = facts;
		const isSame = isEqual(taskValues('id', tasks), taskValues('id', run.tasks));
		if (!isSame || !waitsForPerson(facts)) {
			events.end = { status, error, tasks };
			return resultFromEvents(events);
		}
	}
	const answer = resultFromEvents(events);
	const last = own.at(-1);
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
