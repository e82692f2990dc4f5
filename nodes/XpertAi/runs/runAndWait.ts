import { readConversation } from '../threads/conversation';
import { assistantOn, conversationOf } from '../threads/thread';
import type { Failure } from '../transport/failure';
import { buildPath } from '../transport/api';
import {
	certainlyNotDone,
	isTransient,
	mayGoOnBehind,
	mayMeanNoRecord,
} from '../transport/meaning';
import { sendWithRetries } from '../transport/sendWithRetries';
import { askedBy } from './input';
import { judgeAnswer, runAnswer } from './judgeAnswer';
import { messagesOfRun, questionOf } from './ours';
import { recover } from './recover';
import { RUN_PATH, remaining, sendInTime } from './run';
import type { Run, RunUnderWay } from './run';
import { untilFree } from './untilFree';
import { cancelled, failed, nothingToDecide, nothingToGoOnWith, timedOut } from './verdict';
import type { Verdict } from './verdict';

/** Tries while the server certainly has not begun; a server that is down is reported soon. */
const MAX_TRIES = 5;

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
	const { state: before } = free;
	const asked = askedBy(given.body);
	const isMessage = asked.kind === 'message';
	// What nothing was said on refuses to go on, and is then busy for ever (recorded).
	if (!isMessage && !before) return nothingToGoOnWith(asked);
	const body = isMessage ? given.body : { assistant_id: assistantOn(before), ...given.body };
	// A thread that waits for a person may show the same tasks while it goes on.
	const facts =
		before?.status === 'interrupted' ? await readConversation(given, given.threadId) : undefined;
	if (facts?.failure) return failed(facts.failure);
	const question = questionOf(asked, before);
	const waiting = facts?.tasks ?? [];
	const run: RunUnderWay = { ...given, body, asked, question, before, waiting };
	const { conversationId = conversationOf(before), ...verdict } = await sendAndJudge(run);
	const messages = messagesOfRun(run, verdict.thread);
	return { ...verdict, conversationId, assistantId: body.assistant_id, messages };
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
			body: JSON.stringify(run.body),
			timeoutMs: remaining(run),
			checkAnswer: runAnswer,
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
