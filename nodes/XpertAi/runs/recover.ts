import { readConversation } from '../threads/conversation';
import { isSilence, lastReply } from '../threads/messages';
import type { ThreadState } from '../threads/state';
import { conversationOf, lookAtThread } from '../threads/thread';
import type { Failure } from '../transport/failure';
import { isTransient, mayMeanNoRecord } from '../transport/meaning';
import { FIRST_PAUSE_MS, longerPause } from '../transport/polling';
import { readRun } from './byNumber';
import { judgeNoAnswer, judgeThread } from './judge';
import { isCarriedOut, isRejected, isUnchanged, ownReplies } from './ours';
import { remaining, waitInTime } from './run';
import type { RunUnderWay } from './run';
import {
	carriedOut,
	maybeArrived,
	notArrived,
	threadUnreadable,
	passedOver,
	rejected,
	stillRunning,
} from './verdict';
import type { Verdict } from './verdict';

/** Looks that must find nothing of our run before it counts as not arrived; it may begin between two. */
export const QUIET_LOOKS = 2;

/** What the looks at a thread have found until now. */
interface Looks {
	/** How often it was at rest, or had not run, without a word on our run. */
	quiet: number;
	/** Whether the last one that could be made has found a run going on. */
	isUnderWay: boolean;
}

/**
 * Follows a run whose answer did not come, by reading the thread (E15) until it is no longer busy; once more when
 * the deadline has come, as the run may have ended while a wait went on in vain.
 *
 * @param failure why the answer did not come, where a request failed
 */
export async function recover(run: RunUnderWay, failure?: Failure): Promise<Verdict> {
	const looks: Looks = { quiet: 0, isUnderWay: false };
	for (let pause = FIRST_PAUSE_MS; ; pause = longerPause(pause)) {
		await waitInTime(run, pause);
		const isLast = remaining(run) <= 0;
		const verdict = await look(run, looks, failure);
		if (verdict) return verdict;
		if (isLast)
			return looks.isUnderWay ? stillRunning(failure) : maybeArrived(nameOf(run), failure);
	}
}

/** Looks at the thread once; nothing where that does not tell what became of the run. */
async function look(
	run: RunUnderWay,
	looks: Looks,
	failure?: Failure,
): Promise<Verdict | undefined> {
	const reading = await lookAtThread(run, run.threadId);
	if ('failure' in reading) {
		if (isTransient(reading.failure)) return undefined;
		if (!mayMeanNoRecord(reading.failure)) return threadUnreadable(reading.failure);
		// A thread that has run before can be read; any other has never run, or is about to.
		if (run.before || ++looks.quiet < QUIET_LOOKS) return undefined;
		looks.quiet = 0;
		return await judgeUnread(run, failure ?? reading.failure);
	}
	const { state } = reading;
	looks.isUnderWay = state.status === 'busy';
	if (looks.isUnderWay) return undefined;
	if (isHidden(run) && isUnchanged(run, state)) return await judgeHidden(run, looks, failure);
	const verdict = await judgeEnded(run, state, ++looks.quiet < QUIET_LOOKS, failure);
	if (verdict !== 'under way') return verdict;
	Object.assign(looks, { quiet: 0, isUnderWay: true });
	return undefined;
}

/**
 * Whether the server shows nothing of our run, or little, until it has ended: so it is with a decision
 * (recorded), and nothing is known of answering again and of a message to a thread that waits for a decision.
 */
function isHidden({ asked, before }: RunUnderWay): boolean {
	return asked.kind !== 'message' || before?.status === 'interrupted';
}

/**
 * Of what the thread hides, its number tells, which only decisions have here: a run that is decided goes on under it at
 * once, and one that still waits has heard of no decision (recorded).
 */
async function judgeHidden(
	run: RunUnderWay,
	looks: Looks,
	failure?: Failure,
): Promise<Verdict | undefined> {
	const { threadId, ownId, numbers } = run;
	if (ownId === undefined || numbers.areMissing) return undefined;
	const reading = await readRun(run, { threadId, runId: ownId });
	const status = 'record' in reading ? reading.record.status : undefined;
	looks.isUnderWay = status === 'running';
	if (status !== 'interrupted' || ++looks.quiet < QUIET_LOOKS) return undefined;
	return notArrived(failure, nameOf(run));
}

function nameOf({ asked }: RunUnderWay): string {
	return { message: 'The message', decision: 'The decision', retry: 'The request' }[asked.kind];
}

/** A thread that cannot be read has never run, unless its conversation knows of a run; none while that is busy, or well. */
async function judgeUnread(run: RunUnderWay, failure: Failure): Promise<Verdict | undefined> {
	const { status, failure: unknown } = await readConversation(run, run.threadId);
	if (unknown || status === 'busy' || status === 'idle') return undefined;
	const judged = await judgeThread(run, undefined);
	return judged && judged !== 'under way' ? { ...judged, recovered: true } : notArrived(failure);
}

/**
 * The verdict of a thread that is not busy; none while another look is to decide.
 *
 * @param mayBeginYet whether another look is to decide where nothing of our run is to be seen
 */
async function judgeEnded(
	run: RunUnderWay,
	state: ThreadState,
	mayBeginYet: boolean,
	failure?: Failure,
): Promise<Verdict | 'under way' | undefined> {
	const judged = isUnchanged(run, state) ? undefined : await judgeThread(run, state);
	if (judged === 'under way') return judged;
	if (judged) return { ...judged, recovered: true };
	const conversationId = conversationOf(state);
	const found = { answer: state, recovered: true, conversationId, thread: state };
	if (isRejected(run, state)) return { ...rejected(), ...found };
	if (isCarriedOut(run, state)) return { ...carriedOut(), ...found };
	const replies = ownReplies(run, state);
	const reply = replies && lastReply(replies);
	// It may not have begun yet, or not have written all; another look decides.
	if ((!reply || isSilence(reply)) && mayBeginYet) return undefined;
	if (!replies) return isUnchanged(run, state) ? notArrived(failure) : passedOver(failure);
	if (reply === undefined) return { ...(await judgeNoAnswer(run, state)), recovered: true };
	return { status: 'completed', ...reply, ...found };
}
