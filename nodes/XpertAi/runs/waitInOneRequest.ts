import get from 'lodash/get';
import isEqual from 'lodash/isEqual';

import { eachTasks, readConversation } from '../threads/conversation';
import {
	afterLastPerson,
	callsTool,
	isFromPerson,
	isSilence,
	lastReply,
	messagesOf,
	replyIn,
	says,
	textOf,
} from '../threads/messages';
import { partsOf, usageIn } from '../threads/runEvents';
import type { ThreadMessage, ThreadState } from '../threads/thread';
import {
	assistantOn,
	conversationOf,
	lastAsked,
	lookAtThread,
	readThreadWithRetries,
} from '../threads/thread';
import { answerMustBe, isJsonObject } from '../transport/answer';
import { buildPath } from '../transport/api';
import type { Failure } from '../transport/failure';
import { certainlyNotDone, mayMeanNoRecord } from '../transport/classifyFailure';
import { FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import { sendWithRetries } from '../transport/sendWithRetries';
import { askedBy } from './input';
import type { Asked } from './input';
import { refused, whyUnreadable } from './openConversation';
import {
	busy,
	cancelled,
	cancelledRun,
	failed,
	failedRun,
	mayHaveArrived,
	noAnswer,
	nothingToDecide,
	nothingToGoOnWith,
	stillBusy,
	stillUndecided,
	timedOut,
	waiting,
} from './result';
import type { RunResult } from './result';
import { remaining, waitInTime } from './run';
import type { Run } from './run';
import { WAIT_PATH } from '../threads/runsApi';

/*
 * A run in one request (E4), where the server knows nothing but the contract. Its answer is held against the thread
 * once: servers answer a run that failed, was cancelled or waits for a person as one that went well (recorded). A wait
 * that breaks is followed by reading the thread until it is at rest. What these do not tell is not known.
 */

/** Tries while the server certainly has not begun; a server that is down is reported soon. */
const MAX_TRIES = 5;

/** Looks in a row that must find a thread at rest without a word of ours: a run may begin between two. */
const QUIET_LOOKS = 2;

/** A run, and how its thread was before it. */
interface Waited {
	run: Run;
	asked: Asked;
	/** Nothing where it had never run. */
	before?: ThreadState;
	/** What waited for a person then. */
	tasks: unknown[];
}

/** What E4 must answer (recorded). */
const runAnswer = answerMustBe(
	(answer) => isJsonObject(answer) && 'role' in answer && 'content' in answer,
	'it is not the answer of a run',
);

/** Runs a thread and waits for the answer in one request. It is sent again only where it certainly did not arrive. Never throws. */
export async function waitInOneRequest(run: Run): Promise<RunResult> {
	const free = run.isNew ? {} : await untilFree(run);
	if ('result' in free) return free.result;
	const { state: before } = free;
	const asked = askedBy(run.body);
	const isMessage = asked.kind === 'message';
	// What nothing was said on refuses to go on, and is then busy for ever (recorded).
	if (!isMessage && !before)
		return await whyUnreadable(run, run.threadId, nothingToGoOnWith(asked.kind));
	const facts =
		before?.status === 'interrupted' ? await readConversation(run, run.threadId) : undefined;
	if (facts?.failure) return failed(facts.failure);
	const isAtRest = before?.status === 'idle' || before?.status === 'error';
	if (asked.kind === 'decision' && isAtRest) return nothingToDecide();
	if (remaining(run) <= 0) return timedOut('The run had not begun');
	const body = isMessage ? run.body : { assistant_id: assistantOn(before), ...run.body };
	const waited = { run, asked, before, tasks: facts?.tasks ?? [] };
	const result = await send(waited, body);
	const conversationId = result.conversationId ?? conversationOf(before);
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
	if (outcome.ok) return await holdAgainstThread(waited, get(outcome.answer, 'content'));
	const { failure } = outcome;
	if (failure.kind === 'cancelled') return cancelled(failure);
	if (certainlyNotDone(failure)) return failed(failure);
	if (mayBeDone) return await untilAtRest(waited, failure);
	return await refused(run, failure);
}

/** Waits until no other run is on the thread; the state it is in then, if it has ever run. */
async function untilFree(run: Run): Promise<{ state?: ThreadState } | { result: RunResult }> {
	for (let pause = FIRST_PAUSE_MS; ; pause = longerPause(pause)) {
		const reading = await readThreadWithRetries(run, run.threadId);
		const state = 'state' in reading ? reading.state : undefined;
		const isMissing = 'failure' in reading && mayMeanNoRecord(reading.failure);
		// One in the first moments of its first run cannot be read, as one that has never run (recorded).
		const { status, failure } = isMissing
			? await readConversation(run, run.threadId)
			: { status: state?.status, failure: 'failure' in reading ? reading.failure : undefined };
		if (run.signal?.aborted) return { result: cancelled(failure) };
		if (failure) return { result: failed(failure) };
		if (status !== 'busy' || run.whenBusy === 'run') return { state };
		if (run.whenBusy === 'fail') return { result: busy() };
		if (remaining(run) <= 0) return { result: stillBusy() };
		await waitInTime(run, pause);
	}
}

/** The result of a run that E4 has answered. */
async function holdAgainstThread(waited: Waited, content: unknown): Promise<RunResult> {
	const { run, asked, before, tasks } = waited;
	const { output: said, parts: otherParts } = replyIn(content);
	const isSilent = isSilence({ output: said, parts: otherParts });
	const answer: RunResult = { status: 'completed', output: said, otherParts, recovered: false };
	const reading = await readThreadWithRetries(run, run.threadId);
	if ('failure' in reading) return isSilent ? noAnswer(reading.failure) : answer;
	const { state } = reading;
	// It may be another's run that goes on, and a status that is null is not known.
	if (!state.status || state.status === 'busy')
		return isSilent ? await untilAtRest(waited) : answer;
	if (isSilent && isUnchanged(before, state)) {
		const undecided = tasks.length > 0 ? stillUndecided() : nothingToDecide();
		return asked.kind === 'decision' ? undecided : noAnswer();
	}
	const shown = (await endedBadly(waited, state)) ?? (isSilent ? saidOn(waited, state) : undefined);
	if (shown) return { ...shown, recovered: isSilent && Boolean(shown.output) };
	if (isSilent) return noAnswer();
	const own = messagesOfRun(waited, state);
	const last = lastReply(own ?? [])?.output ?? '';
	// E4 joins all texts of a run; the thread has the last one, which is the answer (recorded).
	const isLast = last !== '' && said.endsWith(last);
	const isLost = !run.isNew && !isLast;
	const output = isLast ? last : said;
	return { ...answer, ...factsOf(own, state), output, ...(isLost && { remembered: false }) };
}

/** Reads the thread after a broken wait until no run is on it, and it shows what became of ours, or does not. */
async function untilAtRest(waited: Waited, failure?: Failure): Promise<RunResult> {
	const { run, asked, before } = waited;
	const unknown = mayHaveArrived(asked.kind, failure);
	for (let [pause, quiet] = [FIRST_PAUSE_MS, 0]; ; pause = longerPause(pause)) {
		await waitInTime(run, pause);
		const isLast = remaining(run) <= 0;
		const reading = await lookAtThread(run, run.threadId);
		if (run.signal?.aborted) return cancelled(failure);
		const state = 'state' in reading ? reading.state : undefined;
		const isBusy = state?.status === 'busy';
		if (state && !isBusy && !isUnchanged(before, state)) {
			const shown = (await endedBadly(waited, state)) ?? saidOn(waited, state);
			if (shown) return { ...shown, recovered: true };
		}
		// While a decision is carried out, the thread stays as it was (recorded).
		const isQuiet = 'failure' in reading ? mayMeanNoRecord(reading.failure) : !isBusy;
		quiet = isQuiet && asked.kind !== 'decision' ? quiet + 1 : 0;
		if (isLast && isBusy) return timedOut('The run was still going on', failure, GOES_ON);
		if (isLast || quiet >= QUIET_LOOKS)
			return isLast ? { ...unknown, status: 'timedOut' } : unknown;
	}
}

const GOES_ON =
	'Raise "Deadline (Minutes)", or read the thread later: the run goes on. If its server was restarted, set "When the Thread Is Busy" to "Run Anyway".';

/** Whether the run failed, was cancelled, or waits for a person: its conversation says which. */
async function endedBadly(waited: Waited, state: ThreadState): Promise<RunResult | undefined> {
	if (state.status !== 'error' && state.status !== 'interrupted') return undefined;
	const { run, tasks: before } = waited;
	const { error, tasks } = await readConversation(run, run.threadId);
	const isWaiting = tasks.length > 0 && !error;
	if (isWaiting && isEqual(eachTasks('id', tasks), eachTasks('id', before))) return undefined;
	const interrupted = isWaiting ? waiting(tasks) : cancelledRun(error);
	const ended = state.status === 'error' ? failedRun(error) : interrupted;
	return { ...ended, ...factsOf(messagesOfRun(waited, state), state) };
}

/** What a thread at rest shows of our run; nothing where that may be another's, or is not there. */
function saidOn(waited: Waited, state: ThreadState): RunResult | undefined {
	const own = messagesOfRun(waited, state);
	const last = own?.at(-1);
	const isRejected = waited.asked.rejects && last !== undefined && callsTool(last);
	const reply = isRejected ? { output: '', parts: [] } : lastReply(own ?? []);
	if (!reply) return undefined;
	const said = { output: reply.output, otherParts: reply.parts, ...factsOf(own, state) };
	const rejected = isRejected ? ({ rejected: true } as const) : {};
	return { status: 'completed', recovered: true, ...said, ...rejected };
}

function factsOf(own: ThreadMessage[] = [], state: ThreadState): Partial<RunResult> {
	const conversationId = conversationOf(state);
	return { parts: partsOf(state, own), usage: usageIn(own), conversationId };
}

/** The messages after our question, where that is the last one and was not there before. */
function messagesOfRun(
	{ asked: { kind, text = '' }, before }: Waited,
	state: ThreadState,
): ThreadMessage[] | undefined {
	const messages = messagesOf(state);
	const question = messages.findLast(isFromPerson);
	if (!question || isUnchanged(before, state)) return undefined;
	const isKnown = messagesOf(before).some(({ id }) => id !== undefined && id === question.id);
	// With files, the server keeps the text among others.
	const isAmong = lastAsked(state) === text && textOf(question.content).includes(text);
	const isOurs = kind !== 'message' || (!isKnown && (isAmong || says(question, text)));
	return isOurs ? afterLastPerson(messages) : undefined;
}

/** Whether a thread is as it was before the run, in what tells of runs. */
function isUnchanged(before: ThreadState | undefined, state: ThreadState): boolean {
	return before !== undefined && isEqual(tracesOf(before), tracesOf(state));
}

const tracesOf = (state: ThreadState) => [state.status, state.updated_at, messagesOf(state)];
