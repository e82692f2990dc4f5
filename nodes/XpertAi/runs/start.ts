import { difference, map, sortBy } from 'lodash';

import {
	listRuns,
	newestRun,
	type RunRecord,
	runSortKey,
	stageOf,
	startedRuns,
} from '../threads/runsApi';
import {
	type AttemptHistory,
	type FailedAttempt,
	type NotStarted,
	START_RETRY_PAUSE_MS,
	START_TRIES,
} from './attempts';
import { type Failure, isOutage, isTransient, mayMeanNoRoute } from '../transport/failure';
import { BlockingRunWatch } from './blockingRun';
import { repeatUntil, UNREACHABLE_MS } from './client';
import { COMPARED_RUN_COUNT, type OtherRunsSummary } from './overlap';
import { planStart } from './planStart';
import {
	busyAtDeadlineResult,
	busyResult,
	executionStoppedResult,
	resultOfFailure,
	timedOutResult,
	type UnsuccessfulResult,
} from './result';
import type { Run } from './run';
import { resultOfMissingRoutes, sendStart, type SentRun } from './sendStart';
import { takeTurnLock, type TurnLock } from './turnLock';

/*
 * How a run starts. Two concurrent runs on one thread would lose messages. So on a thread that others may use:
 *
 * 1. Take the lock of the thread (see `turnLock.ts`).
 * 2. List the runs of the thread. If a run is active, give the lock back, wait for the end of that run, and begin again.
 * 3. Start the new run, and give the lock back.
 *
 * Without a lock, two processes can start a run at the same moment. A person in the server's own chat can do the same,
 * because the chat takes no lock. If the thread then loses an answer, the output contains `remembered: false`.
 */

/** A run that the server has started, and what to know about its thread. */
export interface StartedRun extends SentRun {
	/** Whether another run of the thread was active when this run started, and which had ended. */
	othersAtStart: OtherRunsSummary;
	/** Resolves when the lock was given back. */
	untilLockGivenBack?: Promise<void>;
}

/** How long a run with `whenBusy: 'fail'` waits for the lock. Others hold the lock only for a moment. */
const LOCK_WAIT_LIMIT_MS = 5_000;

/**
 * Starts a run in the three steps that are described above. If `whenBusy` is `wait`, waits for the end of each run that
 * blocks the thread, and cancels it if it stays silent for `cancelSilentMs` (see `BlockingRunWatch`). Never throws.
 *
 * @returns the IDs of the started run, or why no run was started
 */
export async function startInTurn(run: Run): Promise<StartedRun | UnsuccessfulResult> {
	const attempts = { failedCount: 0, hasWaitedForRun: false, hasReceivedLock: false };
	let watch: BlockingRunWatch | undefined;
	try {
		for (;;) {
			const tried = await lockAndStart(run, attempts);
			if ('status' in tried || 'runId' in tried) return tried;
			if (!('blockingRun' in tried)) {
				const finalResult = await waitForNextAttempt(run, attempts, tried.failure);
				if (finalResult) return finalResult;
				continue;
			}
			const { blockingRun } = tried;
			if (run.whenBusy === 'fail') return busyResult(blockingRun);
			if (watch?.runId !== blockingRun.run_id) {
				watch?.closeStream();
				watch = new BlockingRunWatch(run, blockingRun);
			}
			await watch.waitForEnd();
			if (run.signal?.aborted) return executionStoppedResult();
			const { cancelledRun } = run.facts;
			if (run.remainingMs() <= 0)
				return busyAtDeadlineResult(blockingRun, watch.silentMs(), cancelledRun);
			attempts.hasWaitedForRun = true;
		}
	} finally {
		watch?.closeStream();
	}
}

/**
 * Counts a failed attempt. Waits, at least as long as the server asks for, and then until the server answers again.
 *
 * @returns undefined if the start can be tried again, otherwise the result
 */
async function waitForNextAttempt(
	run: Run,
	attempts: AttemptHistory,
	failure: Failure | undefined,
) {
	attempts.failedCount++;
	await run.wait(Math.max(attempts.failedCount * START_RETRY_PAUSE_MS, failure?.retryAfterMs ?? 0));
	const { failure: unread } = await listRunsWithRetries(run, attempts);
	return unread && resultOfListFailure(run, unread, attempts);
}

/**
 * Takes the lock, starts the run, and gives the lock back. Takes no lock if the thread is new, if `whenBusy` is `run`,
 * or after `START_TRIES` failed attempts. Starts without a lock if the server does not support or rejects locks, or if
 * another process holds the lock for too long and `whenBusy` is `fail`.
 *
 * @returns the started run, the final result, or why no run was started now
 */
async function lockAndStart(
	run: Run,
	attempts: AttemptHistory,
): Promise<StartedRun | UnsuccessfulResult | NotStarted> {
	const { isThreadNew, whenBusy, lockSupport, threadId, signal } = run;
	const needsLock = !isThreadNew && whenBusy !== 'run' && attempts.failedCount < START_TRIES;
	const maxWaitMs = whenBusy === 'fail' ? LOCK_WAIT_LIMIT_MS : Infinity;
	const taken = needsLock ? await takeTurnLock(run, lockSupport, threadId, maxWaitMs) : {};
	const { lock, failure, hasStoppedWaiting } = taken;
	attempts.hasReceivedLock ||= lock !== undefined;
	if (!lock && signal?.aborted) return executionStoppedResult();
	// With `whenBusy: 'wait'`, only the deadline ends the wait. With `fail`, goes on without the lock: the list of runs
	// shows whether the thread is busy.
	if (hasStoppedWaiting && whenBusy === 'wait') return busyAtDeadlineResult();
	// After an outage, the caller tries again, because the server may support locks.
	if (failure && isOutage(failure)) return { failure };
	// The next request would fail in the same way, e.g. because n8n blocks the address.
	if (failure && failure.kind !== 'status') return resultOfFailure(failure);
	// `lock` can be undefined here. The comment of this function lists the cases.
	const tried = await startUnlessBusy(run, attempts, lock);
	// Only a started run has `othersAtStart`. Do not wait here: the caller awaits `untilLockGivenBack` later.
	if ('othersAtStart' in tried) return { ...tried, untilLockGivenBack: lock?.giveBack() };
	await lock?.giveBack();
	return tried;
}

/**
 * Starts the run if no other run is active, or if `whenBusy` is `run`. Stores the IDs of the started run in `facts`. Under
 * a lock, requests are not repeated, except that a missing route is confirmed once (see `sendStart`).
 *
 * @returns the started run; `blockingRun` if another run is active; `failure` if the caller shall try again; otherwise the
 * result of the run
 */
async function startUnlessBusy(
	run: Run,
	attempts: AttemptHistory,
	lock?: TurnLock,
): Promise<StartedRun | UnsuccessfulResult | NotStarted> {
	const client = { ...run, ...lock?.clientBeforeStart };
	const listed = await listRunsBefore(client, attempts, lock);
	if (!('runs' in listed)) return listed;
	const { runs: runsBefore } = listed;
	const active = runsBefore.filter((one) => stageOf(one) === 'goesOn');
	const blockingRun = newestRun(active);
	if (blockingRun && run.whenBusy !== 'run') return { blockingRun };
	const plan = await planStart(client, runsBefore, attempts);
	// The requests above may have failed, or taken too long to start a run under this lock.
	if (lock && !lock.mayBegin) return { failure: lock.failure };
	if ('status' in plan) return plan;
	if (run.signal?.aborted) return executionStoppedResult();
	if (run.remainingMs() <= 0) return timedOutResult('The run had not begun');
	// Under a lock, the caller repeats the whole attempt if no run was started. After the last attempt, `sendStart` returns
	// the final result.
	const callerRepeats = lock !== undefined && attempts.failedCount + 1 < START_TRIES;
	const started = await sendStart(run, { ...plan, runsBefore }, lock, callerRepeats);
	if (!('streamId' in started)) return started;
	const { threadId, runId } = started;
	Object.assign(run.facts, { threadId, runId });
	const ended = sortBy(difference(startedRuns(runsBefore), active), runSortKey);
	const endedIds = map(ended.slice(-COMPARED_RUN_COUNT), 'run_id');
	return { ...started, othersAtStart: { hasActiveRun: blockingRun !== undefined, endedIds } };
}

/**
 * Lists the runs of the thread before the start.
 *
 * @returns the runs. If they cannot be listed: under a lock, the failed attempt; without a lock, the final result.
 */
async function listRunsBefore(
	run: Run,
	attempts: AttemptHistory,
	lock?: TurnLock,
): Promise<{ runs: RunRecord[] } | FailedAttempt | UnsuccessfulResult> {
	if (run.isThreadNew) return { runs: [] };
	const { answer: runs, failure } = lock
		? await listRuns(run, run.threadId)
		: await listRunsWithRetries(run, attempts);
	if (runs) return { runs };
	return lock ? { failure } : resultOfListFailure(run, failure, attempts);
}

/**
 * Returns the result if the runs of the thread could not be listed. If the server lacks the routes, stores this fact (see
 * `resultOfMissingRoutes`).
 */
function resultOfListFailure(
	run: Run,
	failure: Failure,
	{ hasWaitedForRun }: AttemptHistory,
): UnsuccessfulResult {
	if (run.signal?.aborted) return executionStoppedResult();
	// After a successful read, a 404 does not mean a missing route. It comes from a proxy whose server is down.
	if (!hasWaitedForRun && mayMeanNoRoute(failure)) return resultOfMissingRoutes(run, failure);
	return { status: 'failed', failure };
}

/** Whether the server moved the run to another thread. */
export const isOnOtherThread = (run: Run, started: Pick<StartedRun, 'threadId'>) =>
	started.threadId.toLowerCase() !== run.threadId.toLowerCase();

/**
 * Lists the runs of a thread. Retries temporary failures: until the deadline if the node has waited for another run,
 * otherwise for at most `UNREACHABLE_MS`. In the second case, does not retry a 404 of a proxy, nor a failed connection if
 * the server has given no lock before.
 */
async function listRunsWithRetries(run: Run, { hasWaitedForRun, hasReceivedLock }: AttemptHistory) {
	const list = async () => await listRuns(run, run.threadId);
	return await repeatUntil(run, list, ({ failure }, waitedMs) => {
		if (!failure || !isTransient(failure)) return true;
		// The server has answered before, so it will answer again.
		if (hasWaitedForRun) return false;
		const mayBeWrongAddress = failure.kind === 'network' && !hasReceivedLock;
		return mayBeWrongAddress || mayMeanNoRoute(failure) || waitedMs >= UNREACHABLE_MS;
	});
}
