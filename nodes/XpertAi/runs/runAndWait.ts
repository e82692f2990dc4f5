import type { ThreadState } from '../payloads/run';
import { answerMustBe } from '../transport/answer';
import type { Failure } from '../transport/failure';
import { buildPath } from '../transport/api';
import {
	certainlyNotDone,
	isTransient,
	mayGoOnBehind,
	mayMeanNoRecord,
} from '../transport/meaning';
import { FIRST_PAUSE_MS, longerPause } from '../transport/polling';
import { sendWithRetries } from '../transport/sendWithRetries';
import { readRunAnswer } from './answer';
import { readConversation } from './conversation';
import { askedBy } from './input';
import { isUnchanged, judgeNoAnswer, judgeThread, nothingToDecide, ownReplies } from './judge';
import { isSilence, lastReply, messagesOf, textOf } from './messages';
import { recover } from './recover';
import { RUN_PATH, remaining, sendInTime, waitInTime } from './run';
import type { Run, RunUnderWay } from './run';
import { conversationOf, readThread } from './thread';
import { busy, cancelled, failed, stillBusy, timedOut } from './verdict';
import type { Verdict } from './verdict';

/** Tries while the server certainly has not begun; a server that is down is reported soon. */
const MAX_TRIES = 5;

/** E4 answers with something; what it says is judged with the thread. */
const anything = answerMustBe(() => true, '');

/**
 * Runs a thread and waits for the answer (E4). Comes to exactly one verdict. E4 is sent a second time
 * only when it certainly did not arrive; a wait that breaks is taken up again by reading the thread
 * (E15), because the run goes on without us.
 */
export async function runAndWait(run: Run): Promise<Verdict> {
	const verdict = await conclude({ ...run, send: sendInTime(run) });
	return run.signal?.aborted ? cancelled(verdict.failure) : verdict;
}

async function conclude(given: Run): Promise<Verdict> {
	const free = given.isNew ? {} : await untilFree(given);
	if ('verdict' in free) return free.verdict;
	const run: RunUnderWay = { ...given, asked: askedBy(given.body), before: free.state };
	const verdict = await sendAndJudge(run);
	return { ...verdict, conversationId: verdict.conversationId ?? conversationOf(run.before) };
}

async function sendAndJudge(run: RunUnderWay): Promise<Verdict> {
	const { status } = run.before ?? {};
	if (run.asked.kind === 'decision' && (status === 'idle' || status === 'error'))
		return nothingToDecide();
	if (remaining(run) <= 0) return timedOut('The run had not begun');

	const { outcome, mayBeDone } = await sendWithRetries(run.send, {
		request: {
			method: 'POST',
			path: buildPath(RUN_PATH, { threadId: run.threadId }),
			body: run.body,
			timeoutMs: remaining(run),
			checkAnswer: anything,
		},
		limits: { maxTries: MAX_TRIES, maxElapsedMs: remaining(run) },
		repeatable: false,
		clock: run.clock,
		signal: run.signal,
	});
	if (outcome.ok) return await judgeAnswer(run, outcome.answer);
	const { failure } = outcome;
	if (failure.kind === 'cancelled') return cancelled(failure);
	if (certainlyNotDone(failure)) return failed(failure);
	if (mayBeDone || isTransient(failure) || mayGoOnBehind(failure))
		return await recover(run, failure);
	return await judgeRefusal(run, failure);
}

/** Waits until no other run is on the thread; the state it is in then, if it has ever run. */
async function untilFree(run: Run): Promise<{ state?: ThreadState } | { verdict: Verdict }> {
	let unread = 0;
	for (let pause = FIRST_PAUSE_MS; ; pause = longerPause(pause)) {
		const reading = await readThread(run.send, run.threadId);
		if ('failure' in reading) {
			// A thread that has never run cannot be read; E4 will say what is wrong with any other.
			if (!isTransient(reading.failure)) return {};
			if (++unread >= MAX_TRIES || remaining(run) <= 0) return { verdict: failed(reading.failure) };
		} else {
			const isBusy = reading.state.status === 'busy';
			if (!isBusy || run.whenBusy === 'run') return { state: reading.state };
			if (run.whenBusy === 'fail') return { verdict: busy() };
			if (remaining(run) <= 0) return { verdict: stillBusy() };
		}
		await waitInTime(run, pause);
	}
}

/** A refusal of the server; what it does not explain may be a thread that nobody knows. */
async function judgeRefusal(run: RunUnderWay, failure: Failure): Promise<Verdict> {
	if (!mayMeanNoRecord(failure) || run.before || run.isNew) return failed(failure);
	const { failure: unknown, conversationId } = await readConversation(run, run.threadId);
	if (unknown || conversationId) return { ...failed(failure), conversationId };
	const reason = 'There is no conversation with this thread';
	const advice =
		'Check "Thread": it takes the threadId that Conversation: Create or an earlier run gave, of the same token.';
	return failed(failure, reason, advice);
}

/** An answer may hide that the run failed, was cancelled or waits: servers send an empty or an earlier text then. */
async function judgeAnswer(run: RunUnderWay, answer: unknown): Promise<Verdict> {
	const reading = readRunAnswer(answer);
	if (reading.kind === 'failed') return { ...failed(undefined, reading.reason), answer };
	if (reading.kind === 'interrupted')
		return { status: 'interrupted', interrupt: reading.interrupt, answer, recovered: false };
	const { reply, parts } = reading;
	const silence = isSilence(reading);
	const earlier = messagesOf(run.before).some((one) => textOf(one.content) === reply);
	const thread = await readAfterwards(run, silence || earlier);
	const state = 'state' in thread ? thread.state : undefined;
	if ((silence || earlier) && 'failure' in thread && isTransient(thread.failure))
		return timedOut('The answer could not be told from an earlier one', thread.failure);
	if (silence && state?.status === 'busy') return await recover(run);
	if (isUnchanged(run, state) && (silence || earlier)) return nothingHappened(run, answer);
	const judged = await judgeThread(run, state);
	if (judged) return judged;
	const conversationId = conversationOf(state);
	if (!silence)
		return { status: 'completed', reply, parts, answer, recovered: false, conversationId };
	// The thread may hold what the answer left out, or prove that the assistant said nothing.
	const inThread = state && lastReply(ownReplies(run, state) ?? []);
	if (inThread === undefined) return await judgeNoAnswer(run, state);
	const recovered = !isSilence(inThread);
	const shown = recovered ? state : answer;
	return { status: 'completed', ...inThread, answer: shown, recovered, conversationId };
}

/** Reads the thread once the answer is there; again and again where the answer says nothing without it. */
async function readAfterwards(run: RunUnderWay, needed: boolean) {
	let thread = await readThread(run.send, run.threadId);
	for (let pause = FIRST_PAUSE_MS; needed; pause = longerPause(pause)) {
		const again = 'failure' in thread && isTransient(thread.failure) && remaining(run) > 0;
		if (!again) break;
		await waitInTime(run, pause);
		thread = await readThread(run.send, run.threadId);
	}
	return thread;
}

/** An answer of nothing, or an earlier one, from a thread that is as it was before. */
function nothingHappened({ asked }: RunUnderWay, answer: unknown): Verdict {
	if (asked.kind === 'decision') return { ...nothingToDecide(), answer };
	const reason = 'The server answered, but its thread shows nothing of this run';
	return { ...failed(undefined, reason), answer };
}
