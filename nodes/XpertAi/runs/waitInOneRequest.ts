import isEqual from 'lodash/isEqual';
import { z } from 'zod';

import { readConversation, waitsForPerson } from '../threads/conversation';
import {
	afterLastUserMessage,
	callsTool,
	isFromUser,
	lastReply,
	messagesOf,
	parseReply,
	textOf,
	readThread,
} from '../threads/thread';
import { eventsOn } from '../threads/runEvents';
import { START_TRIES, WAIT_PATH } from '../threads/runsApi';
import type { ThreadMessage, ThreadState } from '../threads/thread';
import { buildPath } from '../transport/api';
import { call } from '../transport/call';
import { mayMeanNoRecord } from '../transport/classifyFailure';
import { FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import type { Failure } from '../transport/failure';
import { explainRefusal, explainUnreadable } from './openConversation';
import { readThreadPatiently, repeated, type Run } from './run';
import {
	busy,
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
 * A run in one request (E4), for servers with the contract only. The answer is compared with the thread at rest:
 * servers answer a run that failed, was cancelled or waits for a person like a completed one (recorded). If the wait
 * breaks, the thread is polled until it is at rest.
 */

/** A run, and its thread before it; undefined if the thread had never run. */
type Waited = Run & { before?: ThreadState };

/** What E4 must answer (recorded). */
const runAnswer = z
	.record(z.unknown())
	.refine((answer) => 'role' in answer && 'content' in answer, 'it is not the answer of a run');

/** Runs a thread and waits in one request, which is repeated only if it certainly did not arrive. Never throws. */
export async function waitInOneRequest(run: Run): Promise<RunResult> {
	const { kind } = run.intent;
	const free = run.isNew ? {} : await waitUntilIdle(run);
	if ('status' in free) return free;
	const { before } = free;
	// A thread without a question refuses a decision or a retry, and is then busy for ever (recorded).
	if (kind !== 'message' && !before) return await explainUnreadable(run, neverRan(kind));
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
	const result = sent.ok
		? await compareWithThread(waited, sent.answer.content)
		: await (sent.mayBeDone
				? pollUntilIdle(waited, sent.failure)
				: explainRefusal(run, sent.failure));
	const { conversationId = before?.metadata?.id } = result;
	return withFacts(result, { conversationId });
}

/** Waits until no other run is on the thread. @returns the state of the thread, if it has ever run */
async function waitUntilIdle(run: Run): Promise<{ before?: ThreadState } | NoAnswer> {
	for (let pause = FIRST_PAUSE_MS; ; pause = longerPause(pause)) {
		const { answer: before, failure: unread } = await readThread(run, run.threadId);
		// The thread of a run that has just started may be unreadable, like one that has never run (recorded).
		const { status, failure } =
			unread && mayMeanNoRecord(unread)
				? await readConversation(run, run.threadId)
				: { status: before?.status, failure: unread };
		if (failure) return { status: 'failed', failure };
		if (status !== 'busy' || run.whenBusy === 'run') return { before };
		if (run.whenBusy === 'fail') return busy();
		if (run.remaining() <= 0 || run.signal?.aborted) return stillBusy();
		await run.wait(pause);
	}
}

/** The result of a run that E4 answered. */
async function compareWithThread(run: Waited, content: unknown): Promise<RunResult> {
	const { output, parts: otherParts } = parseReply(content);
	const isEmpty = output === '' && otherParts.length === 0;
	const { answer: state, failure } = await readThreadAtRest(run, isEmpty);
	if (failure) return { ...failed(UNVERIFIED, undefined, failure), unverified: output };
	// Another run may keep the thread busy only where this one did not wait for it.
	if (!isEmpty && state.status === 'busy' && run.whenBusy !== 'run')
		return { ...failed(UNVERIFIED), unverified: output };
	// A null status means unknown.
	const isAtRest = Boolean(state.status) && state.status !== 'busy';
	if (isEmpty && !isAtRest) return await pollUntilIdle(run);
	const shown = isAtRest ? await resultOnThread(run, state) : undefined;
	if (isEmpty) return shown ?? noAnswer();
	if (shown && (shown.status !== 'completed' || shown.rejected)) return shown;
	// E4 joins all texts of a run. The last one, which the thread has, is the answer (recorded).
	if (shown?.output && output.endsWith(shown.output)) return shown;
	return {
		parts: [],
		...shown,
		status: 'completed',
		output,
		otherParts,
		conversationId: state.metadata?.id,
		...(isAtRest && !run.isNew && { remembered: false }),
	};
}

/** Reads the thread until the server shows it and, if other runs are waited for, it is not busy any more. */
async function readThreadAtRest(run: Waited, isEmpty: boolean) {
	if (isEmpty || run.whenBusy === 'run') return await readThreadPatiently(run);
	const read = async () => await readThread(run, run.threadId);
	return await repeated(run, read, ({ answer }) => Boolean(answer) && answer?.status !== 'busy');
}

const UNVERIFIED = 'The server answered, but what became of the run is not known';

/** Reads in a row that must find the thread idle without the run: it may start between two. */
const IDLE_READS = 2;

/** Polls the thread after a broken wait until it is idle and shows the result of the run, or does not. */
async function pollUntilIdle(run: Waited, failure?: Failure): Promise<RunResult> {
	const { kind } = run.intent;
	const unknown = mayHaveArrived(kind, failure);
	for (let [pause, idleReads] = [FIRST_PAUSE_MS, 0]; ; pause = longerPause(pause)) {
		await run.wait(pause);
		const isLast = run.remaining() <= 0 || run.signal?.aborted;
		const { answer: state, failure: unread } = await readThread(run, run.threadId, 1);
		const isBusy = state?.status === 'busy';
		const isChanged = state && !isBusy && !isEqual(tracesOf(run.before), tracesOf(state));
		const shown = isChanged ? await resultOnThread(run, state) : undefined;
		if (shown) return shown;
		if (isLast) return isBusy ? GOES_ON : { ...unknown, status: 'timedOut' };
		// While a decision is carried out, the thread does not change (recorded).
		const isIdle = unread ? mayMeanNoRecord(unread) : !isBusy;
		idleReads = isIdle && kind !== 'decision' ? idleReads + 1 : 0;
		if (idleReads >= IDLE_READS) return unknown;
	}
}

const GOES_ON = timedOut(
	'The run was still going on',
	'Raise "Deadline (Minutes)", or read the thread later: the run goes on. If its server was restarted, set "When the Thread Is Busy" to "Run Anyway".',
);

const tracesOf = (state?: ThreadState) => [state?.status, state?.updated_at, messagesOf(state)];

/** The result of the run on a thread at rest; undefined if the thread does not show it. */
async function resultOnThread(run: Waited, state: ThreadState): Promise<RunResult | undefined> {
	const own = messagesOfRun(run, state);
	const events = eventsOn(state, own);
	const { status } = state;
	if (status === 'error' || status === 'interrupted') {
		const facts = await readConversation(run, run.threadId);
		if (facts.failure) return failed(UNVERIFIED, undefined, facts.failure);
		if (own.length === 0 && waitsForPerson(facts)) return undefined;
		events.end = { ...facts, status };
	}
	const result = resultFromEvents(events);
	if (result.status !== 'completed') return result;
	const last = own.at(-1);
	const isRejected = run.intent.rejects && last && callsTool(last);
	if (isRejected) return { ...result, output: '', rejected: true };
	return lastReply(own) && result;
}

/** The messages after the question of this run, if it is the newest and was not there before. */
function messagesOfRun({ intent, before }: Waited, state: ThreadState): ThreadMessage[] {
	const { kind, text = '' } = intent;
	const question = messagesOf(state).findLast(isFromUser);
	if (!question) return [];
	const isKnown = messagesOf(before).some(({ id }) => id !== undefined && id === question.id);
	// With files, the server adds their content to the text.
	const isAsked = [state.values?.input, textOf(question.content)].includes(text);
	return kind !== 'message' || (isAsked && !isKnown) ? afterLastUserMessage(messagesOf(state)) : [];
}
