import { isEqual, isString } from 'lodash';
import { z } from 'zod';

import { transcriptFromThread } from '../threads/runTranscript';
import { START_AND_WAIT_PATH } from '../threads/runsApi';
import { START_TRIES } from './attempts';
import { waitsForPerson } from '../threads/tasks';
import {
	afterLastUserMessage,
	endsWithCall,
	isFromUser,
	lastReply,
	messagesOf,
	parseReply,
	readThread,
	textOfContent,
	type ThreadMessage,
	type ThreadState,
} from '../threads/thread';
import { buildPath } from '../transport/api';
import { call } from '../transport/call';
import { FIRST_PAUSE_MS } from '../transport/clock';
import { mayMeanNoRecord } from '../transport/failure';
import { repeatUntil } from './client';
import { resultIfThreadMissing, resultOfFailedStart } from './failedStart';
import {
	arrivalUnknownResult,
	busyAtDeadlineResult,
	busyResult,
	failedResult,
	hasAnswer,
	neverRanResult,
	NO_ANSWER_RESULT,
	NOTHING_TO_DECIDE_RESULT,
	resultFromTranscript,
	RUNNING_AT_DEADLINE_RESULT,
	type RunResult,
	timedOutResult,
	type UnsuccessfulResult,
} from './result';
import { readRunConversation, type Run } from './run';

/*
 * A run in one request (E4). The server's answer does not contain the status of the run. So the node waits until the
 * thread is idle, and compares the answer with the thread.
 */

/** A run in one request. `stateBefore` is the state of the thread before the run. */
type RunWithStateBefore = Run & { stateBefore?: ThreadState };

/** The answer of the request that starts and waits for a run (E4). */
const runAnswerSchema = z
	.record(z.unknown())
	.refine((answer) => 'role' in answer && 'content' in answer, 'it is not the answer of a run');

/** Starts a run and gets the answer from the same request (E4). Never throws. */
export async function runInOneRequest(run: Run): Promise<RunResult> {
	const { kind } = run.intent;
	const stateOrResult = run.isThreadNew ? {} : await stateBeforeOrBusyResult(run);
	if ('status' in stateOrResult) return stateOrResult;
	const { stateBefore } = stateOrResult;
	run.facts.conversationId ??= stateBefore?.metadata?.id;
	// Without a state, the thread probably had no run. A decision or a retry would keep such a thread busy forever.
	if (kind !== 'message' && !stateBefore)
		return await resultIfThreadMissing(run, neverRanResult(kind));
	const nothingWaits = stateBefore?.status === 'idle' || stateBefore?.status === 'error';
	if (kind === 'decision' && nothingWaits) return NOTHING_TO_DECIDE_RESULT;
	if (run.remainingMs() <= 0) return timedOutResult('The run had not begun');
	const runWithState = { ...run, stateBefore };
	const sent = await sendAndWait(runWithState);
	if (sent.ok) return await resultOfAnswer(runWithState, sent.answer.content);
	const { failure, mayBeDone } = sent;
	if (!mayBeDone) return await resultOfFailedStart(run, failure);
	return await pollForResult(runWithState, arrivalUnknownResult(kind, failure));
}

/** Sends the request that starts the run and waits for its answer (E4). */
async function sendAndWait({ stateBefore, ...run }: RunWithStateBefore) {
	// The body of a message names its assistant. A decision or a retry gets the assistant of the thread.
	const isMessage = run.intent.kind === 'message';
	const assistant = isMessage ? {} : { assistant_id: stateBefore?.metadata?.assistant_id };
	return await call(run, {
		method: 'POST',
		path: buildPath(START_AND_WAIT_PATH, { threadId: run.threadId }),
		body: JSON.stringify({ ...assistant, ...run.body }),
		timeoutMs: run.remainingMs(),
		schema: runAnswerSchema,
		repeatable: false,
		maxTries: START_TRIES,
	});
}

/**
 * Waits until the thread is idle, if `whenBusy` is `wait`.
 *
 * @returns the state of the thread as `stateBefore`, or why the run must not start
 */
async function stateBeforeOrBusyResult(
	run: Run,
): Promise<{ stateBefore?: ThreadState } | UnsuccessfulResult> {
	const mayWait = run.whenBusy === 'wait';
	const read = async () => await readStateBefore(run);
	const isDone = ({ status }: Awaited<ReturnType<typeof read>>) => !mayWait || status !== 'busy';
	const { stateBefore, failure, status } = await repeatUntil(run, read, isDone);
	if (failure) return { status: 'failed', failure };
	if (status !== 'busy' || run.whenBusy === 'run') return { stateBefore };
	return mayWait ? busyAtDeadlineResult() : busyResult();
}

/** Reads the state of the thread before the run. If the server shows no state, reads the status from the conversation. */
async function readStateBefore(run: Run) {
	const { answer: stateBefore, failure } = await readThread(run, run.threadId);
	// The server may fail to read a thread before its first run, or shortly after a run starts.
	if (failure && mayMeanNoRecord(failure)) {
		const { status, failure: unread } = await readRunConversation(run);
		return { stateBefore, status, failure: unread };
	}
	return { stateBefore, status: stateBefore?.status, failure };
}

const UNVERIFIED_REASON = 'The server answered, but what became of the run is not known';

/** Returns the result of the run from the server's answer. Compares the answer with the thread. */
async function resultOfAnswer(run: RunWithStateBefore, content: unknown): Promise<RunResult> {
	const { output, parts: otherParts } = parseReply(content);
	const isEmpty = !hasAnswer({ output, otherParts });
	// `state` is undefined if the thread was busy until the deadline, or if the last read failed.
	const { state, failure } = await readSettledThread(run, isEmpty);
	if (!state) return { ...failedResult(UNVERIFIED_REASON), failure, unverified: output };
	if (isEmpty) return await resultOfEmptyAnswer(run, state);
	const shown = state.status === 'busy' ? undefined : await resultOnThread(run, state);
	if (shown && (shown.status !== 'completed' || shown.rejected)) return shown;
	// `output` contains all texts of the run. `shown.output` contains only the last text, which is the answer.
	if (shown?.output && output.endsWith(shown.output)) return shown;
	// Otherwise, the thread is busy, or shows no result, no text or another text. Then the server's answer is used.
	// It replaces the text and `otherParts` of a result that the thread shows. Other fields, e.g. `parts`, are kept.
	run.facts.conversationId ??= state.metadata?.id;
	const answer = { parts: [], ...shown, status: 'completed' as const, output, otherParts };
	return threadLacksAnswer(run, state, output) ? { ...answer, remembered: false } : answer;
}

/** Returns the result of the run if the server's answer is empty: only the thread shows what became of the run. */
async function resultOfEmptyAnswer(
	run: RunWithStateBefore,
	state: ThreadState,
): Promise<RunResult> {
	// Without a status, the thread does not show the run yet.
	if (!state.status) return await pollForResult(run, failedResult(UNVERIFIED_REASON));
	return (await resultOnThread(run, state)) ?? NO_ANSWER_RESULT;
}

/**
 * Reads the thread until it is idle. With "Run Anyway", another run may keep the thread busy, so only an empty answer
 * needs an idle thread.
 *
 * @returns `state`; `failure` if the last read failed; neither if the thread was busy until the deadline
 */
async function readSettledThread(run: RunWithStateBefore, isEmpty: boolean) {
	const mayBeBusy = run.whenBusy === 'run' && !isEmpty;
	const isSettled = (state?: ThreadState) =>
		state !== undefined && (mayBeBusy || state.status !== 'busy');
	const read = async () => await readThread(run, run.threadId);
	const last = await repeatUntil(run, read, ({ answer }) => isSettled(answer));
	return { state: isSettled(last.answer) ? last.answer : undefined, failure: last.failure };
}

/** Whether the thread certainly does not contain the answer, so that the assistant will not remember it. */
function threadLacksAnswer(run: RunWithStateBefore, state: ThreadState, output: string): boolean {
	// No other run can overwrite an answer on a new thread.
	if (run.isThreadNew) return false;
	// Without a status, or while a run is active, the thread may not show the answer yet.
	if (!state.status || state.status === 'busy') return false;
	const reply = lastReply(repliesOfRun(run, state));
	return !(reply?.output && output.endsWith(reply.output));
}

/** How many times the node looks for a result on an idle thread. The run may start after the first read. */
const MAX_IDLE_READS = 2;

/**
 * Polls the thread for the result after the server's answer was lost or empty. Gives up if the thread stays idle.
 * After a decision, gives up only at the deadline, or when the execution is stopped.
 *
 * @param otherwise the result if the thread stays idle
 * @returns the result on the thread, or `otherwise`. At the deadline: `RUNNING_AT_DEADLINE_RESULT` if the thread is
 * busy, else `otherwise` with the status `timedOut`
 */
async function pollForResult(
	run: RunWithStateBefore,
	otherwise: UnsuccessfulResult,
): Promise<RunResult> {
	let idleReads = 0;
	const look = async () => {
		const { answer: state, failure: unread } = await readThread(run, run.threadId, 1);
		const isBusy = state?.status === 'busy';
		// The server may fail like this to read a thread before its first run. So such a failure counts as idle.
		const isIdle = unread ? mayMeanNoRecord(unread) : !isBusy;
		// The thread looks idle while the server carries out a decision. So do not count idle reads for a decision.
		idleReads = isIdle && run.intent.kind !== 'decision' ? idleReads + 1 : 0;
		const hasChanged = !isEqual(snapshotOf(run.stateBefore), snapshotOf(state));
		const mayShowResult = state && !isBusy && hasChanged;
		return { isBusy, result: mayShowResult ? await resultOnThread(run, state) : undefined };
	};
	const isDone = ({ result }: { result?: RunResult }) =>
		result !== undefined || idleReads >= MAX_IDLE_READS;
	await run.wait(FIRST_PAUSE_MS);
	const { isBusy, result } = await repeatUntil(run, look, isDone);
	if (result) return result;
	if (isBusy) return RUNNING_AT_DEADLINE_RESULT;
	return idleReads >= MAX_IDLE_READS ? otherwise : { ...otherwise, status: 'timedOut' };
}

/** What a run changes on a thread. */
const snapshotOf = (state?: ThreadState) => [state?.status, state?.updated_at, messagesOf(state)];

/**
 * Reads the result of the run from a thread that is not busy. Returns undefined if the thread contains no result of
 * this run; a failed result if the conversation is needed and cannot be read.
 */
async function resultOnThread(
	run: RunWithStateBefore,
	state: ThreadState,
): Promise<RunResult | undefined> {
	const messages = repliesOfRun(run, state);
	const transcript = transcriptFromThread(state, messages);
	run.facts.conversationId ??= state.metadata?.id;
	const { status } = state;
	if (status === 'error' || status === 'interrupted') {
		if (hasOtherInput(run, state)) return undefined;
		const conversation = await readRunConversation(run);
		if (conversation.failure)
			return { ...failedResult(UNVERIFIED_REASON), failure: conversation.failure };
		// Without messages of this run, the waiting tasks belong to the run that sent the newest user message.
		if (messages.length === 0 && waitsForPerson(conversation)) return undefined;
		transcript.end = { ...conversation, status };
	}
	// With any other status, `end` is still unset. Then the result is `completed`, even if there is no reply.
	const result = resultFromTranscript(transcript);
	if (result.status !== 'completed') return result;
	if (run.intent.rejects && endsWithCall(messages))
		return { ...result, output: '', rejected: true };
	return lastReply(messages) && result;
}

/**
 * Whether another run has started with another message. Then the status of the thread belongs to that run. A failed or
 * cancelled run leaves no messages on the thread, but its input. Recorded in `test/recordings/runs.json`.
 */
function hasOtherInput({ intent, stateBefore }: RunWithStateBefore, { values }: ThreadState) {
	// A run that is cancelled before its first step leaves the input of the previous run.
	const known = [intent.text, stateBefore?.values?.input];
	return isString(values?.input) && !known.includes(values.input);
}

/**
 * Returns the messages after the newest question. A run that sent a message gets an empty list if another run sent the
 * newest question.
 */
function repliesOfRun(
	{ intent, stateBefore }: RunWithStateBefore,
	state: ThreadState,
): ThreadMessage[] {
	const { kind, text = '' } = intent;
	const question = messagesOf(state).findLast(isFromUser);
	if (!question) return [];
	const answers = afterLastUserMessage(messagesOf(state));
	if (kind !== 'message') return answers;
	const wasThereBefore = messagesOf(stateBefore).some(
		({ id }) => id !== undefined && id === question.id,
	);
	// With attached files, `question` contains more than the text that was sent. `values.input` is only the sent text.
	const hasOwnText = [state.values?.input, textOfContent(question.content)].includes(text);
	return hasOwnText && !wasThereBefore ? answers : [];
}
