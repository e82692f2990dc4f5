import isEqual from 'lodash/isEqual';

import type { ThreadState } from '../payloads/run';
import { answerThat } from '../transport/answer';
import type { Failure } from '../transport/failure';
import { buildPath } from '../transport/request';
import type { Send } from '../transport/request';
import { certainlyNotDone, isTransient } from '../transport/retryPolicy';
import { sendWithRetries } from '../transport/sendWithRetries';
import { readRunAnswer } from './answer';
import { saidIn } from './input';
import { judgeState, ownReplies } from './judgeState';
import { lastReply, messagesOf, repliesTo, textOf } from './messages';
import { recover } from './recover';
import { FIRST_POLL_MS, longer, remaining, waitInTime } from './run';
import type { Before, Run } from './run';
import { readThread } from './thread';
import { busy, cancelled, failed, timedOut } from './verdict';
import type { Verdict } from './verdict';

/** A last look at the thread may take so long after the deadline. */
const LAST_LOOK_MS = 1_000;

/** Tries while the server certainly has not begun; a server that is down is reported soon. */
const MAX_TRIES = 5;

/** Answers of a gateway that gave up while the run may go on behind it. */
const GATEWAY_STATUS = new Set([408, 502, 503, 504, 524]);

/** E4 answers with something; what it says is judged with the thread. */
const anything = answerThat(() => true, '');

/**
 * Runs a thread and waits for the answer (E4). Comes to exactly one verdict. E4 is sent a second time
 * only when it certainly did not arrive; a wait that breaks is taken up again by reading the thread
 * (E15), because the run goes on without us.
 */
export async function runAndWait(run: Run): Promise<Verdict> {
	const verdict = await conclude({ ...run, send: sendInTime(run) });
	return run.signal?.aborted ? cancelled(verdict.failure) : verdict;
}

/** Sends nothing once the execution is stopped, and lets no request outlast the deadline. */
function sendInTime(run: Run): Send {
	return async (request) => {
		if (run.signal?.aborted) {
			const { method, path } = request;
			return { ok: false, failure: { kind: 'cancelled', method, path: `/api/ai${path}` } };
		}
		const timeoutMs = Math.min(request.timeoutMs, Math.max(LAST_LOOK_MS, remaining(run)));
		return await run.send({ ...request, timeoutMs, wholeMs: timeoutMs });
	};
}

async function conclude(run: Run): Promise<Verdict> {
	const free = run.isNew ? {} : await untilFree(run);
	if ('verdict' in free) return free.verdict;
	const before = free.state;
	if (remaining(run) <= 0) return timedOut('The run had not begun');

	const { outcome, mayBeDone } = await sendWithRetries(run.send, {
		request: {
			method: 'POST',
			path: buildPath('/threads/{threadId}/runs/wait', { threadId: run.threadId }),
			body: run.body,
			timeoutMs: remaining(run),
			flawIn: anything,
		},
		limits: { maxTries: MAX_TRIES, maxElapsedMs: remaining(run) },
		repeatable: false,
		clock: run.clock,
		signal: run.signal,
	});
	if (outcome.ok) return await judgeAnswer(run, outcome.answer, before);
	const { failure } = outcome;
	if (failure.kind === 'cancelled') return cancelled(failure);
	if (failure.status === 422 && (await metAnother(run, before)))
		return await runWhenFree(run, failure);
	if (certainlyNotDone(failure)) return failed(failure);
	const broken = mayBeDone || isTransient(failure) || GATEWAY_STATUS.has(failure.status ?? 0);
	return broken ? await recover(run, before, failure) : failed(failure);
}

/** Waits until no other run is on the thread; the state it is in then, if it has ever run. */
async function untilFree(run: Run): Promise<{ state?: ThreadState } | { verdict: Verdict }> {
	let unread = 0;
	for (let pause = FIRST_POLL_MS; ; pause = longer(pause)) {
		const reading = await readThread(run.send, run.threadId);
		if ('failure' in reading) {
			// A thread that has never run cannot be read; E4 will say what is wrong with any other.
			if (!isTransient(reading.failure)) return {};
			if (++unread >= MAX_TRIES || remaining(run) <= 0) return { verdict: failed(reading.failure) };
		} else {
			if (reading.state.status !== 'busy') return { state: reading.state };
			if (run.whenBusy === 'fail') return { verdict: busy() };
			if (remaining(run) <= 0)
				return { verdict: timedOut('Another run was still going on on the thread') };
		}
		await waitInTime(run, pause);
	}
}

/** Whether another run is on the thread, or has changed it, not ours, and ended since we read it. */
async function metAnother({ send, threadId, body }: Run, before: Before): Promise<boolean> {
	const reading = await readThread(send, threadId);
	if ('failure' in reading) return false;
	const { state } = reading;
	if (state.status === 'busy') return true;
	const said = saidIn(body);
	if (said.length === 0 || isEqual(state, before)) return false;
	return repliesTo(said, messagesOf(state).slice(messagesOf(before).length), true) === undefined;
}

/** The server refused the run because another one is on the thread: it was not started. */
async function runWhenFree(run: Run, failure: Failure): Promise<Verdict> {
	if (run.whenBusy === 'fail') return busy(failure);
	await waitInTime(run, FIRST_POLL_MS);
	return await conclude({ ...run, isNew: false });
}

/** An answer may hide that the run failed: Xpert answers an empty or an earlier text then. */
async function judgeAnswer(run: Run, answer: unknown, before: Before): Promise<Verdict> {
	const reading = readRunAnswer(answer);
	if (reading.kind === 'failed')
		return { status: 'failed', reason: reading.reason, answer, recovered: false };
	if (reading.kind === 'interrupted') {
		return { status: 'interrupted', interrupt: reading.interrupt, answer, recovered: false };
	}
	const { reply } = reading;
	const empty = reply === '';
	const doubtful = empty || messagesOf(before).some((one) => textOf(one.content) === reply);
	let thread = await readThread(run.send, run.threadId);
	for (let pause = FIRST_POLL_MS; doubtful && mayReadAgain(run, thread); pause = longer(pause)) {
		await waitInTime(run, pause);
		thread = await readThread(run.send, run.threadId);
	}
	const state = 'state' in thread ? thread.state : undefined;
	if (doubtful && 'failure' in thread && isTransient(thread.failure))
		return timedOut('The answer could not be told from an earlier one', thread.failure);
	if (empty && state?.status === 'busy') return await recover(run, before);
	const verdict = await judgeState(run, state, empty || !state);
	if (verdict) return verdict;
	// The thread may hold what the answer left out.
	const inThread = empty && state ? lastReply(ownReplies(run, before, state) ?? []) : undefined;
	return inThread
		? { status: 'completed', reply: inThread, answer: state, recovered: true }
		: { status: 'completed', reply, answer, recovered: false };
}

function mayReadAgain(run: Run, reading: Awaited<ReturnType<typeof readThread>>): boolean {
	return 'failure' in reading && isTransient(reading.failure) && remaining(run) > 0;
}
