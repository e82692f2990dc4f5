import get from 'lodash/get';
import isEqual from 'lodash/isEqual';

import { taskValues, readConversation } from '../threads/conversation';
import {
	afterLastUserMessage,
	callsTool,
	isFromUser,
	isEmptyReply,
	lastReply,
	messagesOf,
	parseReply,
	hasText,
	textOf,
} from '../threads/messages';
import { partsOf, usageIn } from '../threads/runEvents';
import type { ThreadMessage, ThreadState } from '../threads/thread';
import {
	assistantIdOf,
	conversationIdOf,
	lastInputOf,
	readThreadOnce,
	readThreadWithRetries,
} from '../threads/thread';
import { answerMustBe, isJsonObject } from '../transport/answer';
import { buildPath } from '../transport/api';
import type { Failure } from '../transport/failure';
import { certainlyNotDone, mayMeanNoRecord } from '../transport/classifyFailure';
import { FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import { sendWithRetries } from '../transport/sendWithRetries';
import { intentOf } from './input';
import type { Intent } from './input';
import { explainRefusal, explainUnreadable } from './openConversation';
import {
	busy,
	executionStopped,
	runCancelled,
	failed,
	runFailed,
	mayHaveArrived,
	noAnswer,
	nothingToDecide,
	neverRan,
	stillBusy,
	stillUndecided,
	timedOut,
	interruptedRun,
} from './result';
import type { RunResult } from './result';
import { remaining, waitInTime } from './run';
import type { Run } from './run';
import { WAIT_PATH } from '../threads/runsApi';

/*
 * A run in one request (E4), for servers with the contract only. The answer is compared with the thread once: servers
 * answer a run that failed, was cancelled or waits for a person like a completed one (recorded). If the wait breaks,
 * the thread is polled until it is idle.
 */

/** Tries while the server certainly did not start the run. A server that is down is reported soon. */
const MAX_TRIES = 5;

/** Reads in a row that must find the thread idle without the run: it may start between two. */
const IDLE_READS = 2;

/** A run, and the state of its thread before it. */
interface Waited {
	run: Run;
	intent: Intent;
	/** Undefined if the thread had never run. */
	before?: ThreadState;
	/** The tasks that waited for a person before the run. */
	tasks: unknown[];
}

/** What E4 must answer (recorded). */
const runAnswer = answerMustBe(
	(answer) => isJsonObject(answer) && 'role' in answer && 'content' in answer,
	'it is not the answer of a run',
);

/** Runs a thread and waits in one request, which is repeated only if it certainly did not arrive. Never throws. */
export async function waitInOneRequest(run: Run): Promise<RunResult> {
	const free = run.isNew ? {} : await waitUntilFree(run);
	if ('result' in free) return free.result;
	const { state: before } = free;
	const intent = intentOf(run.body);
	const isMessage = intent.kind === 'message';
	// A thread without a question refuses a decision or a retry, and is then busy for ever (recorded).
	if (!isMessage && !before)
		return await explainUnreadable(run, run.threadId, neverRan(intent.kind));
	const facts =
		before?.status === 'interrupted' ? await readConversation(run, run.threadId) : undefined;
	if (facts?.failure) return failed(facts.failure);
	const isIdle = before?.status === 'idle' || before?.status === 'error';
	if (intent.kind === 'decision' && isIdle) return nothingToDecide();
	if (remaining(run) <= 0) return timedOut('The run had not begun');
	const body = isMessage ? run.body : { assistant_id: assistantIdOf(before), ...run.body };
	const waited = { run, intent, before, tasks: facts?.tasks ?? [] };
	const result = await send(waited, body);
	const conversationId = result.conversationId ?? conversationIdOf(before);
	return { ...result, conversationId, assistantId: body.assistant_id };
}

async function send(waited: Waited, body: Run['body']): Promise<RunResult> {
	const { run } = waited;
	const { outcome, mayBeDone } = await sendWithRetries(run.send, {
		request: {
			method: 'POST',
			path: buildPath(WAIT_PATH, { threadId: run.threadId }),
			body: JSON.stringify(body),
			timeoutMs: remaining(run),
			checkAnswer: runAnswer,
		},
		limits: { maxTries: MAX_TRIES, maxElapsedMs: remaining(run) },
		repeatable: false,
		...{ clock: run.clock, signal: run.signal },
	});
	if (outcome.ok) return await compareWithThread(waited, get(outcome.answer, 'content'));
	const { failure } = outcome;
	if (failure.kind === 'cancelled') return executionStopped(failure);
	if (certainlyNotDone(failure)) return failed(failure);
	if (mayBeDone) return await pollUntilIdle(waited, failure);
	return await explainRefusal(run, failure);
}

/** Waits until no other run is on the thread. @returns the state of the thread, if it has ever run */
async function waitUntilFree(run: Run): Promise<{ state?: ThreadState } | { result: RunResult }> {
	for (let pause = FIRST_PAUSE_MS; ; pause = longerPause(pause)) {
		const reading = await readThreadWithRetries(run, run.threadId);
		const state = 'state' in reading ? reading.state : undefined;
		const isMissing = 'failure' in reading && mayMeanNoRecord(reading.failure);
		// The thread of a run that has just started may be unreadable, like one that has never run (recorded).
		const { status, failure } = isMissing
			? await readConversation(run, run.threadId)
			: { status: state?.status, failure: 'failure' in reading ? reading.failure : undefined };
		if (run.signal?.aborted) return { result: executionStopped(failure) };
		if (failure) return { result: failed(failure) };
		if (status !== 'busy' || run.whenBusy === 'run') return { state };
		if (run.whenBusy === 'fail') return { result: busy() };
		if (remaining(run) <= 0) return { result: stillBusy() };
		await waitInTime(run, pause);
	}
}

/** The result of a run that E4 answered. */
async function compareWithThread(waited: Waited, content: unknown): Promise<RunResult> {
	const { run, intent, before, tasks } = waited;
	const { output: text, parts: otherParts } = parseReply(content);
	const isEmpty = isEmptyReply({ output: text, parts: otherParts });
	const answer: RunResult = { status: 'completed', output: text, otherParts, recovered: false };
	const reading = await readThreadWithRetries(run, run.threadId);
	if ('failure' in reading) return isEmpty ? noAnswer(reading.failure) : answer;
	const { state } = reading;
	// Another run may be running. A null status means unknown.
	if (!state.status || state.status === 'busy')
		return isEmpty ? await pollUntilIdle(waited) : answer;
	if (isEmpty && isUnchanged(before, state)) {
		const undecided = tasks.length > 0 ? stillUndecided() : nothingToDecide();
		return intent.kind === 'decision' ? undecided : noAnswer();
	}
	const shown = (await readEnding(waited, state)) ?? (isEmpty ? replyOn(waited, state) : undefined);
	if (shown) return { ...shown, recovered: isEmpty && Boolean(shown.output) };
	if (isEmpty) return noAnswer();
	const own = messagesOfRun(waited, state);
	const last = lastReply(own ?? [])?.output ?? '';
	// E4 joins all texts of a run. The last one, which the thread has, is the answer (recorded).
	const isLast = last !== '' && text.endsWith(last);
	const isLost = !run.isNew && !isLast;
	const output = isLast ? last : text;
	return { ...answer, ...threadFields(own, state), output, ...(isLost && { remembered: false }) };
}

/** Polls the thread after a broken wait until it is idle and shows the result of the run, or does not. */
async function pollUntilIdle(waited: Waited, failure?: Failure): Promise<RunResult> {
	const { run, intent, before } = waited;
	const unknown = mayHaveArrived(intent.kind, failure);
	for (let [pause, idleReads] = [FIRST_PAUSE_MS, 0]; ; pause = longerPause(pause)) {
		await waitInTime(run, pause);
		const isLast = remaining(run) <= 0;
		const reading = await readThreadOnce(run, run.threadId);
		if (run.signal?.aborted) return executionStopped(failure);
		const state = 'state' in reading ? reading.state : undefined;
		const isBusy = state?.status === 'busy';
		if (state && !isBusy && !isUnchanged(before, state)) {
			const shown = (await readEnding(waited, state)) ?? replyOn(waited, state);
			if (shown) return { ...shown, recovered: true };
		}
		// While a decision is carried out, the thread does not change (recorded).
		const isIdle = 'failure' in reading ? mayMeanNoRecord(reading.failure) : !isBusy;
		idleReads = isIdle && intent.kind !== 'decision' ? idleReads + 1 : 0;
		if (isLast && isBusy) return timedOut('The run was still going on', failure, WAIT_ADVICE);
		if (isLast || idleReads >= IDLE_READS)
			return isLast ? { ...unknown, status: 'timedOut' } : unknown;
	}
}

const WAIT_ADVICE =
	'Raise "Deadline (Minutes)", or read the thread later: the run goes on. If its server was restarted, set "When the Thread Is Busy" to "Run Anyway".';

/** The result of a run that failed, was cancelled or waits for a person, as its conversation tells. */
async function readEnding(waited: Waited, state: ThreadState): Promise<RunResult | undefined> {
	if (state.status !== 'error' && state.status !== 'interrupted') return undefined;
	const { run, tasks: before } = waited;
	const { error, tasks } = await readConversation(run, run.threadId);
	const isWaiting = tasks.length > 0 && !error;
	if (isWaiting && isEqual(taskValues('id', tasks), taskValues('id', before))) return undefined;
	const interrupted = isWaiting ? interruptedRun(tasks) : runCancelled(error);
	const ended = state.status === 'error' ? runFailed(error) : interrupted;
	return { ...ended, ...threadFields(messagesOfRun(waited, state), state) };
}

/** The answer on an idle thread; undefined if it is missing or may belong to another run. */
function replyOn(waited: Waited, state: ThreadState): RunResult | undefined {
	const own = messagesOfRun(waited, state);
	const last = own?.at(-1);
	const isRejected = waited.intent.rejects && last !== undefined && callsTool(last);
	const reply = isRejected ? { output: '', parts: [] } : lastReply(own ?? []);
	if (!reply) return undefined;
	const answer = { output: reply.output, otherParts: reply.parts, ...threadFields(own, state) };
	const rejected = isRejected ? ({ rejected: true } as const) : {};
	return { status: 'completed', recovered: true, ...answer, ...rejected };
}

function threadFields(own: ThreadMessage[] = [], state: ThreadState): Partial<RunResult> {
	const conversationId = conversationIdOf(state);
	return { parts: partsOf(state, own), usage: usageIn(own), conversationId };
}

/** The messages after the question of this run, if it is the newest and was not there before. */
function messagesOfRun(
	{ intent: { kind, text = '' }, before }: Waited,
	state: ThreadState,
): ThreadMessage[] | undefined {
	const messages = messagesOf(state);
	const question = messages.findLast(isFromUser);
	if (!question || isUnchanged(before, state)) return undefined;
	const isKnown = messagesOf(before).some(({ id }) => id !== undefined && id === question.id);
	// With files, the server adds their content to the text.
	const isContained = lastInputOf(state) === text && textOf(question.content).includes(text);
	const isOwn = kind !== 'message' || (!isKnown && (isContained || hasText(question, text)));
	return isOwn ? afterLastUserMessage(messages) : undefined;
}

/** Whether no run has changed the thread since. */
function isUnchanged(before: ThreadState | undefined, state: ThreadState): boolean {
	return before !== undefined && isEqual(runTraces(before), runTraces(state));
}

const runTraces = (state: ThreadState) => [state.status, state.updated_at, messagesOf(state)];
