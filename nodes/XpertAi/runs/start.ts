import { difference, differenceBy, map, sortBy } from 'lodash';

import {
	isUnasked,
	listRuns,
	newestOf,
	readRun,
	readThread,
	runSortKey,
	stageOf,
	START_TRIES,
	startedRuns,
	startRun,
} from '../threads/thread';
import type { RunIds, RunRecord } from '../threads/thread';
import { certainlyNotDone, failureMessage, isNoRoute, isTransient } from '../transport/failure';
import type { Failure } from '../transport/failure';
import { watchRun } from './blockingRun';
import { conversationOf } from './run';
import { abandonRun } from './cancelRun';
import { LAST_RUNS } from './overlap';
import {
	busy,
	executionStopped,
	failed,
	failedBy,
	mayHaveArrived,
	stillBusy,
	timedOut,
} from './result';
import { messageMarkOf } from './runBody';
import { repeated, UNREACHABLE_MS } from './client';
import type { Run } from './run';
import type { Following } from './followRun';
import type { OtherRuns } from './overlap';
import type { NoAnswer } from './result';
import type { Client } from './client';
import { START_MS, takeTurnLock, type TurnLock } from './turnLock';
import { explainRefusal } from './explainRefusal';
import { planFor, Plan } from './planStart';

/*
 * How a run starts. Two concurrent runs on one thread would lose messages. So on a thread that others may use:
 *
 * 1. Take the lock of the thread (see `turnLock.ts`).
 * 2. List the runs of the thread. If a run is active, give the lock back, wait for the end of that run, and begin again.
 * 3. Start the new run, and give the lock back.
 *
 * Without a lock, two processes can start a run at the same moment. The same can happen beside a person in the server's
 * own chat, which takes no lock. If the thread loses an answer then, the output contains `remembered: false`.
 */

/** A run that the server has started. */
type SentRun = RunIds & Following & Required<Pick<Following, 'joinId'>>;

export interface StartedRun extends SentRun {
	/** The other runs of the thread when this run started. */
	others: OtherRuns;
	/** Resolves when the lock was given back. */
	givenBack?: Promise<void>;
}

/** Why a run was not started now, although it may start later. */
interface NotYet {
	/** The run that is active on the thread. */
	blocking?: RunRecord;
	/** Why a request failed. No request has started a run. */
	failure?: Failure;
}

/** What earlier attempts to start the run have shown. */
export interface Attempts {
	/** How many attempts under the lock have failed. */
	failed: number;
	/** Whether the node has waited for another run. */
	hasWaited: boolean;
	/** Whether the server has given the lock. Then its address is right. */
	wasReached: boolean;
}

/** How long a run with `whenBusy: 'fail'` waits for the lock. */
const FAIL_WAIT_MS = 5_000;

/** First pause after a failed attempt, and in the search for a run after a lost answer. */
const FIRST_POLL_MS = 500;

/**
 * Starts a run in the three steps that are described above. Never throws.
 *
 * @returns the IDs of the started run, or why no run was started
 */
export async function startInTurn(run: Run): Promise<StartedRun | NoAnswer> {
	const attempts = { failed: 0, hasWaited: false, wasReached: false };
	let watch: ReturnType<typeof watchRun> | undefined;
	try {
		for (;;) {
			const tried = await attemptStart(run, attempts);
			if ('status' in tried || 'runId' in tried) return tried;
			const { blocking, failure } = tried;
			if (!blocking) {
				attempts.failed++;
				await run.wait(Math.max(attempts.failed * FIRST_POLL_MS, failure?.retryAfterMs ?? 0));
				const { failure: unread } = await listWithRetries(run, attempts);
				if (unread) return unlisted(run, unread, attempts);
				continue;
			}
			if (run.whenBusy === 'fail') return busy(blocking);
			if (watch?.runId !== blocking.run_id) {
				watch?.end();
				watch = watchRun(run, blocking);
			}
			await watch.untilEnded();
			if (run.signal?.aborted) return executionStopped();
			const { cancelledRun } = run.facts;
			if (run.remaining() <= 0) return stillBusy(blocking, watch.silentMs(), cancelledRun);
			attempts.hasWaited = true;
		}
	} finally {
		watch?.end();
	}
}

/**
 * Takes the lock if others may use the thread, starts the run, and gives the lock back. If the lock fails again and
 * again, starts the run without it.
 */
async function attemptStart(run: Run, attempts: Attempts): Promise<StartedRun | NoAnswer | NotYet> {
	const { isNew, whenBusy, locks, threadId, signal } = run;
	const needsNone = isNew || whenBusy === 'run' || attempts.failed >= START_TRIES;
	const maxWaitMs = whenBusy === 'fail' ? FAIL_WAIT_MS : Infinity;
	const taken = needsNone ? {} : await takeTurnLock(run, locks, threadId, maxWaitMs);
	const { lock, failure, isHeld } = taken;
	attempts.wasReached ||= lock !== undefined;
	if (!lock && signal?.aborted) return executionStopped();
	if (isHeld && whenBusy === 'wait') return stillBusy();
	if (failure && mayPass(failure)) return { failure };
	// The next request would fail in the same way, e.g. because n8n blocks the address.
	if (failure && failure.kind !== 'status') return failedBy(failure);
	const tried = await tryStart(run, attempts, lock);
	if ('others' in tried) return { ...tried, givenBack: lock?.giveBack() };
	await lock?.giveBack();
	return tried;
}

/** Whether the server may support locks although it did not answer this request. */
const mayPass = (failure: Failure) => isTransient(failure) || (failure.status ?? 0) >= 500;

/** Starts the run if no other run is active. Under a lock, each request is sent once. */
async function tryStart(
	run: Run,
	attempts: Attempts,
	lock?: TurnLock,
): Promise<StartedRun | NoAnswer | NotYet> {
	const client = { ...run, ...lock?.beforeStart };
	const before = await runsBefore(client, attempts, lock);
	if (!Array.isArray(before)) return before;
	const active = before.filter((one) => stageOf(one) === 'goesOn');
	const blocking = newestOf(active);
	if (blocking && run.whenBusy !== 'run') return { blocking };
	const plan = await planFor(client, before, attempts);
	if (lock && !lock.mayBegin) return { failure: lock.failure };
	if ('status' in plan) return plan;
	if (run.signal?.aborted) return executionStopped();
	if (run.remaining() <= 0) return timedOut('The run had not begun');
	const mayRepeat = lock !== undefined && attempts.failed + 1 < START_TRIES;
	const started = await sendOnce(run, { ...plan, before }, lock, mayRepeat);
	if (!('joinId' in started)) return started;
	const { threadId, runId } = started;
	Object.assign(run.facts, { threadId, runId });
	const ended = sortBy(difference(startedRuns(before), active), runSortKey);
	const others = {
		isActive: blocking !== undefined,
		lastIds: map(ended.slice(-LAST_RUNS), 'run_id'),
	};
	return { ...started, others };
}

/** Lists the runs of the thread before the start. */
async function runsBefore(run: Run, attempts: Attempts, lock?: TurnLock) {
	if (run.isNew) return [];
	const { answer, failure } = lock
		? await listRuns(run, run.threadId)
		: await listWithRetries(run, attempts);
	if (answer) return answer;
	return lock ? { failure } : unlisted(run, failure, attempts);
}

/** Returns the result of a run whose thread has no readable list of runs. */
function unlisted(run: Run, failure: Failure, { hasWaited }: Attempts): NoAnswer {
	if (run.signal?.aborted) return executionStopped();
	// After a successful read, a 404 does not mean a missing route. It comes from a proxy whose server is down.
	if (!hasWaited && isNoRoute(failure)) return withoutRoutes(run, failure);
	return { status: 'failed', failure };
}

/** Whether the server moved the run to another thread. */
export const isElsewhere = (run: Run, started: Pick<StartedRun, 'threadId'>) =>
	started.threadId.toLowerCase() !== run.threadId.toLowerCase();

/**
 * Lists the runs of a thread. Retries temporary failures until the deadline if an earlier read succeeded, otherwise for
 * at most `UNREACHABLE_MS`. Does not retry a failed connection if no earlier request reached the server.
 */
async function listWithRetries(run: Run, { hasWaited, wasReached }: Attempts) {
	const list = async () => await listRuns(run, run.threadId);
	return await repeated(run, list, ({ failure }, waitedMs) => {
		if (!failure || !isTransient(failure)) return true;
		const longestMs = failure.kind === 'network' && !wasReached ? 0 : UNREACHABLE_MS;
		return !hasWaited && (waitedMs >= longestMs || isNoRoute(failure));
	});
}

/** Returns the result of a run on a server without the routes for background runs. */
function withoutRoutes({ routes }: Run, failure: Failure): NoAnswer {
	// Remember a missing route only if the API itself reports it. A proxy may send a 404 while the server is down.
	routes.areMissing ||= failure.missing === 'route';
	const advice = 'Use Thread: Ask and Wait, which works on every server.';
	const result = failed('This server starts no runs in the background', advice);
	return { ...result, failure, lacksRoutes: true };
}

/**
 * Sends the request. If the server's answer is lost, searches for the started run.
 *
 * @param lock the lock of the thread, if any. It is given back before a run is cancelled.
 * @param mayRepeat whether the caller tries again if the request certainly started no run
 */
async function sendOnce(
	run: Run,
	plan: Plan,
	lock: TurnLock | undefined,
	mayRepeat: boolean,
): Promise<SentRun | NoAnswer | NotYet> {
	const { waitingRun, decided } = plan;
	const { kind } = run.intent;
	const limits = lock
		? {
				maxTries: 2,
				timeoutMs: START_MS,
				// Only a missing route is asked for again here, because the lock must be given back in time.
				stopRetrying: ({ missing }: Failure) => missing !== 'route' || !lock.mayBegin,
			}
		: { maxTries: START_TRIES };
	const sent = await startRun(run, run.threadId, plan.body, limits);
	if (sent.ok) {
		const { run_id: joinId, thread_id: threadId = run.threadId } = sent.answer;
		return { threadId, runId: waitingRun?.run_id ?? joinId, joinId, decided };
	}
	const { failure, mayBeDone } = sent;
	if (isNoRoute(failure)) return withoutRoutes(run, failure);
	if (mayRepeat && isTransient(failure) && certainlyNotDone(failure)) return { failure };
	if (!mayBeDone && failure.kind !== 'cancelled') {
		const refused = await explainRefusal(run, failure);
		return waitingRun ? { advice: DECIDE_AGAIN, ...refused } : refused;
	}
	const isDone = (found: string | undefined, waitedMs: number) =>
		found !== undefined || waitedMs >= SEARCH_MS;
	const find = async (client: Client) => {
		const asked = { ...run, ...client };
		return await repeated(asked, async () => await findLost(asked, plan), isDone, FIRST_POLL_MS);
	};
	const runId = await find({ ...run, ...lock?.afterStart });
	if (runId !== undefined) return { threadId: run.threadId, runId, joinId: runId, decided };
	const notArrived = `The decision did not reach the assistant. ${failureMessage(failure)}`;
	const lost = waitingRun
		? { ...failed(notArrived, DECIDE_AGAIN), failure }
		: mayHaveArrived(kind, failure);
	const status = run.remaining() <= 0 ? 'timedOut' : 'failed';
	const isStopped = run.signal?.aborted;
	const result: NoAnswer = isStopped ? executionStopped(failure) : { ...lost, status };
	await lock?.giveBack();
	return await abandonRun(run, result, find);
}

const DECIDE_AGAIN = 'Decide again: what waits still waits.';

/** Time limit of the search for a run after a lost answer. The thread shows the message mark after about a second. */
const SEARCH_MS = 6_000;

/** Finds the ID of the started run after a lost answer. Returns undefined if no run or several runs match. */
async function findLost(run: Run, plan: Plan): Promise<string | undefined> {
	const { messageMark, waitingRun, before } = plan;
	if (waitingRun) {
		// A decision changes the record of the waiting run at once. An unchanged record shows that no decision arrived.
		const runId = waitingRun.run_id;
		const { answer: now = waitingRun } = await readRun({ ...run, runId });
		const isDecided = now.status !== 'interrupted' || now.updated_at !== waitingRun.updated_at;
		return isDecided ? runId : undefined;
	}
	const { answer: runs } = await listRuns(run, run.threadId);
	const fresh = differenceBy(startedRuns(runs ?? []), before, 'run_id');
	if (run.isNew) return newestOf(fresh)?.run_id;
	// The thread shows only the message mark of its newest question. This mark cannot identify one of several new runs.
	const [found, ...others] = fresh;
	if (!found || others.length > 0) return undefined;
	// A retry has no mark. The new run is the retry unless somebody has asked a question since.
	const isOurs = messageMark
		? messageMarkOf((await readThread(run, run.threadId, 1)).answer) === messageMark
		: await isUnasked(run, await conversationOf(run), newestOf(before)?.updated_at);
	return isOurs ? found.run_id : undefined;
}
