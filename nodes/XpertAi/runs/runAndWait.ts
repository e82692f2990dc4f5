import type { ThreadState } from '../payloads/run';
import type { Clock } from '../transport/clock';
import { failureMessage } from '../transport/failure';
import type { Failure } from '../transport/failure';
import { buildPath } from '../transport/request';
import type { Send } from '../transport/request';
import { certainlyNotDone, isTransient } from '../transport/retryPolicy';
import { sendWithRetries } from '../transport/sendWithRetries';
import { readRunAnswer } from './answer';
import { isFromPerson, lastReply, messagesOf } from './messages';
import { readConversation, readThread } from './thread';

const FIRST_POLL_MS = 2_000;
const LONGEST_POLL_MS = 15_000;

/** Tries while the server certainly has not begun; a server that is down is reported soon. */
const MAX_TRIES = 5;

/** Answers of a gateway that gave up while the run may go on behind it. */
const GATEWAY_STATUS = new Set([408, 502, 503, 504, 524]);

/** What ends a run. */
export interface Verdict {
	status: 'completed' | 'interrupted' | 'failed' | 'timedOut' | 'cancelled';
	reply?: string;
	/** The server's answer: of E4, or of E15 when the run was recovered. */
	answer?: unknown;
	interrupt?: unknown;
	/** Why there is no answer, in words for the user; the failure says it where this is missing. */
	reason?: string;
	/** The request that failed, when one did. */
	failure?: Failure;
	/** Whether the wait broke and the answer was taken from the thread. */
	recovered: boolean;
	conversationId?: string;
}

/** A run and what it needs from outside. */
export interface Run {
	send: Send;
	threadId: string;
	/** JSON text of the body of E4. */
	body: string;
	/** Whether the thread was made for this run, so that nothing else can be on it. */
	isNew: boolean;
	/** Wait for another run on the thread to end, or fail at once. */
	whenBusy: 'wait' | 'fail';
	/** Milliseconds since the epoch. */
	deadline: number;
	clock: Clock;
	signal?: AbortSignal;
}

/**
 * Runs a thread and waits for the answer (E4). Comes to exactly one verdict. E4 is sent a second time
 * only when it certainly did not arrive; a wait that breaks is taken up again by reading the thread
 * (E15), because the run goes on without us.
 */
export async function runAndWait(run: Run): Promise<Verdict> {
	const before = run.isNew ? undefined : await untilFree(run);
	if (before && 'verdict' in before) return before.verdict;
	const known = messagesOf(before?.state).length;

	const { outcome, mayBeDone } = await sendWithRetries(run.send, {
		request: {
			method: 'POST',
			path: buildPath('/threads/{threadId}/runs/wait', { threadId: run.threadId }),
			body: run.body,
			timeoutMs: remaining(run),
		},
		limits: { maxTries: MAX_TRIES, maxElapsedMs: remaining(run) },
		repeatable: false,
		clock: run.clock,
		signal: run.signal,
	});
	if (outcome.ok) return await judgeAnswer(run, outcome.answer, known);
	const { failure } = outcome;
	if (failure.kind === 'cancelled' || run.signal?.aborted) return cancelled(failure);
	if (failure.status === 422 && (await isBusy(run))) return await runWhenFree(run, failure);
	if (mayBeDone || isTransient(failure) || GATEWAY_STATUS.has(failure.status ?? 0)) {
		return certainlyNotDone(failure) ? failed(failure) : await recover(run, known, failure);
	}
	return failed(failure);
}

/** Waits until no other run is on the thread; the state it is in then, if it has ever run. */
async function untilFree(run: Run): Promise<{ state?: ThreadState } | { verdict: Verdict }> {
	for (let pause = FIRST_POLL_MS; ; pause = longer(pause)) {
		const reading = await readThread(run.send, run.threadId);
		if (run.signal?.aborted) return { verdict: cancelled() };
		// A thread that has never run cannot be read (404, or 500 on Xpert); E4 will say what is wrong.
		if ('failure' in reading) return {};
		if (reading.state.status !== 'busy') return { state: reading.state };
		if (run.whenBusy === 'fail') {
			return { verdict: { status: 'failed', recovered: false, reason: BUSY } };
		}
		if (remaining(run) <= 0)
			return { verdict: timedOut('Another run was still going on on the thread') };
		await run.clock.sleep(Math.min(pause, remaining(run)), run.signal);
	}
}

const BUSY = 'Another run is going on on this thread';

async function isBusy({ send, threadId }: Run): Promise<boolean> {
	const reading = await readThread(send, threadId);
	return 'state' in reading && reading.state.status === 'busy';
}

/** The server refused the run because another one is on the thread: it was not started. */
async function runWhenFree(run: Run, failure: Failure): Promise<Verdict> {
	if (run.whenBusy === 'fail') return { ...failed(failure), reason: BUSY };
	return await runAndWait({ ...run, isNew: false });
}

/** An answer may hide that the run failed: Xpert answers an empty or an earlier text then. */
async function judgeAnswer(run: Run, answer: unknown, known: number): Promise<Verdict> {
	const reading = readRunAnswer(answer);
	if (reading.kind === 'failed')
		return { status: 'failed', reason: reading.reason, answer, recovered: false };
	if (reading.kind === 'interrupted') {
		return { status: 'interrupted', interrupt: reading.interrupt, answer, recovered: false };
	}
	const thread = await readThread(run.send, run.threadId);
	const state = 'state' in thread ? thread.state : undefined;
	const empty = reading.reply === '';
	if (empty && state?.status === 'busy') return await recover(run, known);
	const verdict = await judgeState(run, state, empty);
	return verdict ?? { status: 'completed', reply: reading.reply, answer, recovered: false };
}

/** The verdict of a thread's state, where it is not simply done. */
async function judgeState(
	run: Run,
	state: ThreadState | undefined,
	doubtful: boolean,
): Promise<Verdict | undefined> {
	if (state?.status === 'interrupted') {
		return {
			status: 'interrupted',
			interrupt: interruptOf(state),
			answer: state,
			recovered: false,
		};
	}
	if (state?.status !== 'error' && !doubtful) return undefined;
	const { error, conversationId } = await readConversation(run.send, run.threadId);
	if (state?.status !== 'error' && !error) return undefined;
	const reason = error ?? 'the server gave no reason';
	return {
		status: 'failed',
		reason: `The run failed: ${reason}`,
		answer: state,
		recovered: false,
		conversationId,
	};
}

/** Follows a run whose answer did not come, by reading the thread until it is no longer busy. */
async function recover(run: Run, known: number, failure?: Failure): Promise<Verdict> {
	let quiet = 0;
	for (let pause = FIRST_POLL_MS; ; pause = longer(pause)) {
		if (run.signal?.aborted) return cancelled(failure);
		if (remaining(run) <= 0) return timedOut('The run was still going on', failure);
		await run.clock.sleep(Math.min(pause, remaining(run)), run.signal);
		if (run.signal?.aborted) return cancelled(failure);
		const reading = await readThread(run.send, run.threadId);
		if ('failure' in reading) {
			if (isTransient(reading.failure)) continue;
			// 404, or 500 on Xpert: the thread has never run, so our request has not arrived.
			if (++quiet < 2) continue;
			return notArrived(failure ?? reading.failure);
		}
		if (reading.state.status === 'busy') continue;
		const verdict = await judgeState(run, reading.state, false);
		if (verdict) return { ...verdict, recovered: true };
		const fresh = messagesOf(reading.state).slice(known);
		const reply = lastReply(fresh.slice(fresh.findIndex(isFromPerson) + 1));
		if (reply !== undefined)
			return { status: 'completed', reply, answer: reading.state, recovered: true };
		// It may not have begun yet; a second look decides.
		if (++quiet >= 2) return fresh.length > 0 ? emptyRecovery(reading.state) : notArrived(failure);
	}
}

function emptyRecovery(answer: ThreadState): Verdict {
	return { status: 'completed', reply: '', answer, recovered: true };
}

function interruptOf(state: ThreadState): unknown {
	return state.interrupts ?? state.values?.__interrupt__ ?? null;
}

function failed(failure: Failure): Verdict {
	return { status: 'failed', failure, recovered: false };
}

function cancelled(failure?: Failure): Verdict {
	return { status: 'cancelled', reason: 'The execution was canceled', failure, recovered: false };
}

function timedOut(what: string, failure?: Failure): Verdict {
	return {
		status: 'timedOut',
		reason: `${what} when the deadline came`,
		failure,
		recovered: false,
	};
}

function notArrived(failure?: Failure): Verdict {
	const why = failure ? `. ${failureMessage(failure)}` : '';
	return {
		status: 'failed',
		reason: `The message did not reach the assistant${why}`,
		failure,
		recovered: false,
	};
}

function remaining({ deadline, clock }: Run): number {
	return Math.max(0, deadline - clock.now());
}

function longer(pause: number): number {
	return Math.min(LONGEST_POLL_MS, pause * 1.5);
}
