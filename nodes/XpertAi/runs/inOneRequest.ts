import { isEqual, isString } from 'lodash';
import { z } from 'zod';

import { eventsOn } from '../threads/runEvents';
import { START_TRIES, WAIT_PATH } from '../threads/runsApi';
import { waitsForPerson } from '../threads/tasks';
import {
	afterLastUserMessage,
	endsWithCall,
	isFromUser,
	lastReply,
	messagesOf,
	parseReply,
	readThread,
	textOf,
	type ThreadMessage,
	type ThreadState,
} from '../threads/thread';
import { buildPath } from '../transport/api';
import { call } from '../transport/call';
import { FIRST_PAUSE_MS } from '../transport/clock';
import { mayMeanNoRecord } from '../transport/failure';
import { repeatUntil } from './client';
import { explainFailedStart, explainMissingThread } from './explainFailedStart';
import {
	busy,
	failed,
	mayHaveArrived,
	neverRan,
	type NoAnswer,
	NOTHING_TO_DECIDE,
	resultFromEvents,
	type RunResult,
	STILL_RUNNING,
	stillBusy,
	timedOut,
	WITHOUT_ANSWER,
} from './result';
import { readRunConversation, type Run } from './run';

/*
 * A run in one request (E4). The server's answer does not contain the status of the run. So the node waits until the
 * thread is idle, and compares the answer with the thread.
 */

/** A run in one request. `before` is the state of the thread before the run. */
type Waited = Run & { before?: ThreadState };

const runAnswer = z
	.record(z.unknown())
	.refine((answer) => 'role' in answer && 'content' in answer, 'it is not the answer of a run');

/** Starts a run and gets the answer from the same request (E4). Never throws. */
export async function runInOneRequest(run: Run): Promise<RunResult> {
	const { kind } = run.intent;
	const free = run.isNew ? {} : await waitUntilIdle(run);
	if ('status' in free) return free;
	const { before } = free;
	run.facts.conversationId ??= before?.metadata?.id;
	// `before` is undefined: the server shows no state of this thread, so it probably had no run. A decision or a retry
	// would keep such a thread busy forever.
	if (kind !== 'message' && !before) return await explainMissingThread(run, neverRan(kind));
	const isIdle = before?.status === 'idle' || before?.status === 'error';
	if (kind === 'decision' && isIdle) return NOTHING_TO_DECIDE;
	if (run.remaining() <= 0) return timedOut('The run had not begun');
	const assistant = kind === 'message' ? {} : { assistant_id: before?.metadata?.assistant_id };
	const sent = await call(run, {
		method: 'POST',
		path: buildPath(WAIT_PATH, { threadId: run.threadId }),
		body: JSON.stringify({ ...assistant, ...run.body }),
		timeoutMs: run.remaining(),
		schema: runAnswer,
		repeatable: false,
		maxTries: START_TRIES,
	});
	const waited = { ...run, before };
	if (sent.ok) return await resultOfAnswer(waited, sent.answer.content);
	const { failure, mayBeDone } = sent;
	if (!mayBeDone) return await explainFailedStart(run, failure);
	return await pollForResult(waited, mayHaveArrived(kind, failure));
}

/**
 * Waits until the thread is idle, if `whenBusy` is `wait`.
 *
 * @returns the state of the thread as `before`, or why the run must not start
 */
async function waitUntilIdle(run: Run): Promise<{ before?: ThreadState } | NoAnswer> {
	const mayWait = run.whenBusy === 'wait';
	const look = async () => {
		const { answer: before, failure } = await readThread(run, run.threadId);
		// The server may fail to read a thread before its first run, or shortly after a run starts. So read the status
		// from the conversation.
		if (failure && mayMeanNoRecord(failure)) return { before, ...(await readRunConversation(run)) };
		return { before, failure, status: before?.status };
	};
	const seen = await repeatUntil(run, look, ({ status }) => !mayWait || status !== 'busy');
	const { before, failure, status } = seen;
	if (failure) return { status: 'failed', failure };
	if (status !== 'busy' || run.whenBusy === 'run') return { before };
	return mayWait ? stillBusy() : busy();
}

const UNVERIFIED = 'The server answered, but what became of the run is not known';

/** Compares the server's answer with the thread, and returns the result of the run. */
async function resultOfAnswer(run: Waited, content: unknown): Promise<RunResult> {
	const { output, parts: otherParts } = parseReply(content);
	const isEmpty = output === '' && otherParts.length === 0;
	// With "Run Anyway", another run may keep the thread busy. So do not wait until the thread is idle, unless the
	// answer is empty.
	const mayBeBusy = run.whenBusy === 'run' && !isEmpty;
	const isSettled = (state?: ThreadState): state is ThreadState =>
		state !== undefined && (mayBeBusy || state.status !== 'busy');
	const read = async () => await readThread(run, run.threadId);
	const { answer: state, failure } = await repeatUntil(run, read, ({ answer }) =>
		isSettled(answer),
	);
	if (!isSettled(state)) return { ...failed(UNVERIFIED), failure, unverified: output };
	// Without a status, the thread does not show the run yet.
	if (isEmpty && !state.status) return await pollForResult(run, failed(UNVERIFIED));
	const isBusy = state.status === 'busy';
	const shown = isBusy ? undefined : await resultOnThread(run, state);
	if (isEmpty) return shown ?? WITHOUT_ANSWER;
	if (shown && (shown.status !== 'completed' || shown.rejected)) return shown;
	// `output` contains all texts of the run. `shown.output` contains only the last text, which is the answer.
	if (shown?.output && output.endsWith(shown.output)) return shown;
	run.facts.conversationId ??= state.metadata?.id;
	const answer = { parts: [], ...shown, status: 'completed' as const, output, otherParts };
	// If the status is null, it is unknown whether the thread contains the answer.
	const isUnknown = !state.status || isBusy || run.isNew;
	const reply = lastReply(messagesOfRun(run, state));
	const isLost = !isUnknown && !(reply?.output && output.endsWith(reply.output));
	return isLost ? { ...answer, remembered: false } : answer;
}

/** How many times the node looks for a result on an idle thread. The run may start after the first read. */
const IDLE_READS = 2;

/**
 * Polls the thread for the result after the server's answer was lost or empty. Gives up if the thread stays idle.
 *
 * @param unknown the result if the thread does not show the run
 */
async function pollForResult(run: Waited, unknown: NoAnswer): Promise<RunResult> {
	const { kind } = run.intent;
	let idleReads = 0;
	const look = async () => {
		const { answer: state, failure: unread } = await readThread(run, run.threadId, 1);
		const isBusy = state?.status === 'busy';
		const isChanged = state && !isBusy && !isEqual(snapshotOf(run.before), snapshotOf(state));
		// The thread looks idle while the server carries out a decision. So do not count idle reads for a decision.
		const isIdle = kind !== 'decision' && (unread ? mayMeanNoRecord(unread) : !isBusy);
		idleReads = isIdle ? idleReads + 1 : 0;
		return { isBusy, result: isChanged ? await resultOnThread(run, state) : undefined };
	};
	await run.wait(FIRST_PAUSE_MS);
	const isDone = ({ result }: { result?: RunResult }) => Boolean(result) || idleReads >= IDLE_READS;
	const { isBusy, result } = await repeatUntil(run, look, isDone);
	if (result) return result;
	if (isBusy) return STILL_RUNNING;
	return idleReads >= IDLE_READS ? unknown : { ...unknown, status: 'timedOut' };
}

const snapshotOf = (state?: ThreadState) => [state?.status, state?.updated_at, messagesOf(state)];

/** Reads the result of the run from a thread that is not busy. Returns undefined if the thread contains no result. */
async function resultOnThread(run: Waited, state: ThreadState): Promise<RunResult | undefined> {
	const own = messagesOfRun(run, state);
	const events = eventsOn(state, own);
	run.facts.conversationId ??= state.metadata?.id;
	const { status } = state;
	if (status === 'error' || status === 'interrupted') {
		if (hasOtherInput(run, state)) return undefined;
		const facts = await readRunConversation(run);
		if (facts.failure) return { ...failed(UNVERIFIED), failure: facts.failure };
		if (own.length === 0 && waitsForPerson(facts)) return undefined;
		events.end = { ...facts, status };
	}
	const result = resultFromEvents(events);
	if (result.status !== 'completed') return result;
	if (run.intent.rejects && endsWithCall(own)) return { ...result, output: '', rejected: true };
	return lastReply(own) && result;
}

/**
 * Whether another run has started with another message. Then the status of the thread belongs to that run. A failed or
 * cancelled run leaves no messages on the thread, but its input. Recorded in `test/recordings/runs.json`.
 */
function hasOtherInput({ intent, before }: Waited, { values }: ThreadState) {
	// A run that is cancelled before its first step leaves the input of the run before.
	const known = [intent.text, before?.values?.input];
	return isString(values?.input) && !known.includes(values.input);
}

/**
 * Returns the messages after the newest question. A run that sent a message gets an empty list if another run sent the
 * newest question.
 */
function messagesOfRun({ intent, before }: Waited, state: ThreadState): ThreadMessage[] {
	const { kind, text = '' } = intent;
	const question = messagesOf(state).findLast(isFromUser);
	if (!question) return [];
	const isKnown = messagesOf(before).some(({ id }) => id !== undefined && id === question.id);
	// With attached files, the message contains more text than the question. `values.input` is the question alone.
	const isAsked = [state.values?.input, textOf(question.content)].includes(text);
	return kind !== 'message' || (isAsked && !isKnown) ? afterLastUserMessage(messagesOf(state)) : [];
}
