import { readConversation } from '../threads/conversation';
import { assistantOn, conversationOf } from '../threads/thread';
import type { Failure } from '../transport/failure';
import { buildPath } from '../transport/api';
import { certainlyNotDone, isRouteMissing, mayMeanNoRecord } from '../transport/meaning';
import type { Send } from '../transport/request';
import { sendWithRetries } from '../transport/sendWithRetries';
import type { RetriedOutcome } from '../transport/sendWithRetries';
import { askedBy, withTarget } from './input';
import { withChanges } from './changedArguments';
import { whenLeft } from './leaving';
import { isOwn, numberDecided, numberOf } from './numbers';
import { judgeAnswer, runAnswer } from './judgeAnswer';
import { messagesOfRun, questionOf } from './ours';
import { recover } from './recover';
import { RUN_PATH, remaining, sendInTime } from './run';
import type { Run, RunUnderWay } from './run';
import { followOwn, runInTurn } from './runInTurn';
import { streaming } from './streamed';
import { untilFree } from './untilFree';
import { whyUnreadable } from './unknownThread';
import { cancelled, failed, nothingToDecide, timedOut } from './verdict';
import type { Verdict } from './verdict';

/** Tries while the server certainly has not begun; a server that is down is reported soon. */
const MAX_TRIES = 5;

/**
 * Runs a thread and waits for the answer (E4). Comes to exactly one verdict. E4 is sent a second time
 * only when it certainly did not arrive; a wait that breaks is taken up again by reading the thread
 * (E15), because the run goes on without us.
 */
export async function runAndWait(run: Run): Promise<Verdict> {
	const verdict = await conclude({ ...run, send: sendInTime(run) }, run.send);
	return run.signal?.aborted ? cancelled(verdict.failure) : verdict;
}

/** @param sendUnlimited sends also what the deadline and Stop hold back */
async function conclude(given: Run, sendUnlimited: Send): Promise<Verdict> {
	const free = given.isNew ? {} : await untilFree(given);
	if ('verdict' in free) return free.verdict;
	const { state: before } = free;
	const asked = askedBy(given.body);
	const isMessage = asked.kind === 'message';
	// What nothing was said on refuses to go on, and is then busy for ever (recorded).
	if (!isMessage && !before) return await whyUnreadable(given, { ...given, asked });
	// A thread that waits for a person may show the same tasks while it goes on.
	const facts =
		before?.status === 'interrupted' ? await readConversation(given, given.threadId) : undefined;
	if (facts?.failure) return failed(facts.failure);
	const ownId = asked.kind === 'decision' ? await numberDecided(given, facts) : undefined;
	const named = { assistant_id: assistantOn(before), ...withTarget(given.body, ownId) };
	const run: RunUnderWay = {
		...{ ...given, sendUnlimited, asked, before, ownId },
		body: isMessage ? given.body : named,
		question: questionOf(asked, before),
		waiting: facts?.tasks ?? [],
	};
	const judged = await withChanges(run, sendAndJudge);
	const { conversationId = conversationOf(before), ...verdict } = judged;
	const messages = messagesOfRun(run, verdict.thread);
	return { ...verdict, conversationId, assistantId: run.body.assistant_id, messages };
}

async function sendAndJudge(run: RunUnderWay): Promise<Verdict> {
	const { status } = run.before ?? {};
	if (run.asked.kind === 'decision' && (status === 'idle' || status === 'error'))
		return nothingToDecide();
	if (remaining(run) <= 0) return timedOut('The run had not begun');
	const verdict = await sendAndFollow(run);
	const { threadId, sendUnlimited: send } = run;
	return await whenLeft({ ...run, send }, threadId, verdict, async (late) =>
		ownNumber({ ...run, ...late, signal: undefined }, verdict),
	);
}

/** The number of what is to be cancelled, unless it may be another's. */
async function ownNumber(
	run: RunUnderWay,
	{ runId }: Verdict,
): Promise<string | { isOthers: true } | undefined> {
	const number = runId ?? (await numberOf(run));
	return number === undefined || (await isOwn(run)) ? number : { isOthers: true };
}

async function sendAndFollow(run: RunUnderWay): Promise<Verdict> {
	const isMessage = run.asked.kind === 'message';
	return (isMessage ? await runInTurn(run) : undefined) ?? (await sendToEnd(run));
}

/** Sends a run to E4, or to where it is heard, and follows it to its end. */
async function sendToEnd(run: RunUnderWay): Promise<Verdict> {
	const { outcome, mayBeDone } = await sendRun(run);
	if (outcome.ok) {
		const judging = [judgeAnswer(run, outcome.answer), numberOf(run)] as const;
		const [verdict, runId] = await Promise.all(judging);
		return { ...verdict, runId };
	}
	const { failure } = outcome;
	if (failure.kind === 'cancelled') return cancelled(failure);
	if (certainlyNotDone(failure)) return failed(failure);
	if (mayBeDone) return await recovered(run, failure);
	return await judgeRefusal(run, failure);
}

/** Follows a run whose answer did not come: by its number where that is known, else by its thread. */
async function recovered(run: RunUnderWay, failure: Failure): Promise<Verdict> {
	// What runs on a thread that others may use may be theirs.
	const runId = run.isNew ? await numberOf(run) : undefined;
	if (runId === undefined) return { ...(await recover(run, failure)), runId: await numberOf(run) };
	const verdict = await followOwn(run, runId);
	if (verdict.status === 'timedOut')
		return { ...verdict, failure: verdict.failure ?? failure, runId };
	return { ...verdict, recovered: verdict.failure === undefined, runId };
}

/**
 * Sends a run where it can be heard while it goes on, if somebody wants to hear it, else to E4: a decision is not
 * heard before it has been carried out (recorded).
 */
async function sendRun(run: RunUnderWay): Promise<RetriedOutcome> {
	const { listener, asked } = run;
	if (!listener || asked.kind === 'decision') return await sendOnce(run, run.send);
	const streamed = await sendOnce(run, streaming(run, listener));
	const { outcome } = streamed;
	const isMissing = !outcome.ok && isRouteMissing(outcome.failure);
	return isMissing ? await sendOnce(run, run.send) : streamed;
}

async function sendOnce(run: RunUnderWay, send: Send): Promise<RetriedOutcome> {
	return await sendWithRetries(send, {
		request: {
			method: 'POST',
			path: buildPath(RUN_PATH, { threadId: run.threadId }),
			body: JSON.stringify(run.body),
			timeoutMs: remaining(run),
			checkAnswer: runAnswer,
		},
		limits: { maxTries: MAX_TRIES, maxElapsedMs: remaining(run) },
		repeatable: false,
		clock: run.clock,
		signal: run.signal,
	});
}

/** A refusal of the server; what it does not explain may be a thread that nobody knows. */
async function judgeRefusal(run: RunUnderWay, failure: Failure): Promise<Verdict> {
	if (!mayMeanNoRecord(failure) || run.before || run.isNew) return failed(failure);
	return await whyUnreadable(run, run, failure);
}
