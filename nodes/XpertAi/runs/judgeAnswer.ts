import { isSilence, lastReply, messagesOf, replyIn, textOf } from '../threads/messages';
import type { Reply } from '../threads/messages';
import type { ThreadState } from '../threads/state';
import { conversationOf, lookAtThread } from '../threads/thread';
import type { ThreadReading } from '../threads/thread';
import { answerMustBe, isJsonObject } from '../transport/answer';
import type { Failure } from '../transport/failure';
import { isTransient, mayMeanNoRecord } from '../transport/meaning';
import { FIRST_PAUSE_MS, longerPause } from '../transport/polling';
import { judgeNoAnswer, judgeThread, judgeTold } from './judge';
import { isKept, isRejected, isUnchanged, ownReplies } from './ours';
import { QUIET_LOOKS, recover } from './recover';
import { remaining, waitInTime } from './run';
import type { RunUnderWay } from './run';
import { failed, nothingToDecide, rejected, stillUndecided, timedOut } from './verdict';
import type { Verdict } from './verdict';

/** What E4 must answer (recorded); what it says is judged with the thread. */
export const runAnswer = answerMustBe(
	(answer) => isJsonObject(answer) && 'role' in answer && 'content' in answer,
	'it is not the answer of a run',
);

/** Looks that may fail at a thread whose answer says enough without it. */
const MAX_UNREAD = 3;

/**
 * The verdict of a run that E4 has answered. An answer may hide that the run failed, was cancelled or waits:
 * servers send an empty or an earlier text then, or the words that had come.
 */
export async function judgeAnswer(run: RunUnderWay, answer: unknown): Promise<Verdict> {
	const reading = replyIn(isJsonObject(answer) ? answer.content : undefined);
	const silence = isSilence(reading);
	const earlier = messagesOf(run.before).some((one) => textOf(one.content) === reading.output);
	const saysNothing = silence || earlier;
	const thread = await readAfterwards(run, saysNothing);
	const state = 'state' in thread ? thread.state : undefined;
	if (saysNothing && 'failure' in thread && isTransient(thread.failure))
		return timedOut('The answer could not be told from an earlier one', thread.failure);
	if (silence && state?.status === 'busy') return await recover(run);
	if (isUnchanged(run, state) && saysNothing) return nothingHappened(run, answer);
	const judged = await judgeThread(run, state);
	if (judged === 'under way') return await recover(run);
	if (judged) return judged;
	const told = judgeTold(answer);
	if (told) return { ...told, answer, conversationId: conversationOf(state), thread: state };
	return silence
		? await judgeSilence(run, state, answer)
		: await judgeReply(run, state, reading, answer);
}

/** The thread may hold what the answer left out, or prove that the assistant said nothing. */
async function judgeSilence(
	run: RunUnderWay,
	state: ThreadState | undefined,
	answer: unknown,
): Promise<Verdict> {
	const conversationId = conversationOf(state);
	if (isRejected(run, state)) return { ...rejected(), answer, conversationId, thread: state };
	const inThread = state && lastReply(ownReplies(run, state) ?? []);
	if (inThread === undefined) return await judgeNoAnswer(run, state);
	const recovered = !isSilence(inThread);
	const shown = recovered ? state : answer;
	const facts = { answer: shown, recovered, conversationId, thread: state };
	return { status: 'completed', ...inThread, ...facts };
}

async function judgeReply(
	run: RunUnderWay,
	state: ThreadState | undefined,
	{ output, parts }: Reply,
	answer: unknown,
): Promise<Verdict> {
	const conversationId = conversationOf(state);
	const last = state && lastReply(ownReplies(run, state) ?? []);
	const verdict: Verdict = {
		...{ status: 'completed', output: lastOf(output, last), parts, answer, conversationId },
		...{ thread: state, recovered: false },
	};
	const isLost = !run.isNew && state && (await isOverwritten(run, state, output));
	return isLost ? { ...verdict, remembered: false } : verdict;
}

/**
 * E4 joins all words of a run, also those before a call of a tool and those of helpers; the thread shows the last
 * ones, which are the answer (recorded).
 */
function lastOf(joined: string, last: Reply | undefined): string {
	return last && last.output !== '' && joined.endsWith(last.output) ? last.output : joined;
}

/**
 * Whether a thread that others may use does not hold what was said, once no run is on it: two runs at once
 * are both answered, and one pair of messages is lost (recorded).
 */
async function isOverwritten(
	run: RunUnderWay,
	first: ThreadState,
	reply: string,
): Promise<boolean> {
	let thread: ThreadReading = { state: first };
	let quiet = 0;
	for (let pause = FIRST_PAUSE_MS; ; pause = longerPause(pause)) {
		if ('failure' in thread) {
			if (!isTransient(thread.failure)) return false;
			// What it holds while another run goes on may be overwritten when that ends.
		} else if (thread.state.status !== 'busy') {
			if (isKept(run, thread.state, reply)) return false;
			if (++quiet >= QUIET_LOOKS) return true;
		}
		if (remaining(run) <= 0) return false;
		await waitInTime(run, pause);
		thread = await lookAtThread(run, run.threadId);
	}
}

/**
 * Reads the thread once the answer is there: again while it fails, as long as the answer says nothing
 * without it, and once more where it shows nothing of the run yet.
 */
async function readAfterwards(run: RunUnderWay, isNeeded: boolean): Promise<ThreadReading> {
	let hasWaited = false;
	for (let [pause, looks] = [FIRST_PAUSE_MS, 1]; ; pause = longerPause(pause), looks++) {
		const thread = await lookAtThread(run, run.threadId);
		const isEnough =
			'failure' in thread
				? isUnreadable(thread.failure, isNeeded, looks)
				: hasWaited || !isNeeded || !isUnchanged(run, thread.state);
		if (isEnough || remaining(run) <= 0) return thread;
		hasWaited ||= 'state' in thread;
		await waitInTime(run, pause);
	}
}

/** Whether to look no more at a thread that cannot be read; one that has just run is there, unless it was cancelled at once. */
function isUnreadable(failure: Failure, isNeeded: boolean, looks: number): boolean {
	if (isTransient(failure)) return !isNeeded && looks >= MAX_UNREAD;
	return !mayMeanNoRecord(failure) || looks >= MAX_UNREAD;
}

/** An answer of nothing, or an earlier one, from a thread that is as it was before. */
function nothingHappened({ asked, waiting }: RunUnderWay, answer: unknown): Verdict {
	if (asked.kind === 'decision')
		return { ...(waiting.length > 0 ? stillUndecided() : nothingToDecide()), answer };
	const reason = 'The server answered, but its thread shows nothing of this run';
	return { ...failed(undefined, reason), answer };
}
