import { differenceBy } from 'lodash';

import { hasNoQuestionSince } from '../threads/conversation';
import {
	listRuns,
	newestRun,
	readRun,
	type RunIds,
	type RunRecord,
	startedRuns,
	startRun,
} from '../threads/runsApi';
import { type FailedAttempt, START_RETRY_PAUSE_MS, START_TRIES } from './attempts';
import { readThread } from '../threads/thread';
import { certainlyNotDone, type Failure, isTransient, mayMeanNoRoute } from '../transport/failure';
import { failureMessage } from '../transport/failureText';
import { cancelIfGivenUp } from './cancelRun';
import { type Client, repeatUntil } from './client';
import { resultOfFailedStart } from './failedStart';
import type { FollowOptions } from './followRun';
import type { Plan } from './planStart';
import {
	arrivalUnknownResult,
	executionStoppedResult,
	failedResult,
	type UnsuccessfulResult,
} from './result';
import { readRunConversation, type Run } from './run';
import { newestMessageMarkOf } from './runBody';
import { START_TIMEOUT_MS, type TurnLock } from './turnLock';

/**
 * Sends the request that starts the run. If the server's answer is lost, searches for the started run.
 *
 * @param lock the lock of the thread, if any. It is given back before a run is cancelled.
 * @param callerRepeats whether the caller tries again after a temporary failure that certainly started no run
 * @returns the started run; with `callerRepeats`, the failure if the caller shall try again; otherwise the final result
 */
export async function sendStart(
	run: Run,
	plan: Plan,
	lock: TurnLock | undefined,
	callerRepeats: boolean,
): Promise<SentRun | UnsuccessfulResult | FailedAttempt> {
	const { waitingRun, decidedTasks } = plan;
	const limits = lock
		? {
				maxTries: 2,
				timeoutMs: START_TIMEOUT_MS,
				// Repeat only a 404 for the route here, to confirm it. The lock must be given back in time.
				shouldStopRetrying: ({ missing }: Failure) => missing !== 'route' || !lock.mayBegin,
			}
		: { maxTries: START_TRIES };
	const sent = await startRun(run, run.threadId, plan.body, limits);
	if (sent.ok) {
		// A decision continues the waiting run under that run's ID. The ID in the answer may name only the stream.
		const { run_id: streamId, thread_id: threadId = run.threadId } = sent.answer;
		return { threadId, runId: waitingRun?.run_id ?? streamId, streamId, decidedTasks };
	}
	const { failure, mayBeDone } = sent;
	if (mayMeanNoRoute(failure)) return resultOfMissingRoutes(run, failure);
	if (callerRepeats && isTransient(failure) && certainlyNotDone(failure)) return { failure };
	// `mayBeDone` does not cover a cancelled request (see `isOutcomeUnknown`).
	const mayHaveStarted = mayBeDone || failure.kind === 'cancelled';
	if (mayHaveStarted) return await searchLostRun(run, plan, failure, lock);
	const explained = await resultOfFailedStart(run, failure);
	return waitingRun ? { advice: DECIDE_AGAIN_ADVICE, ...explained } : explained;
}

/**
 * Searches for the started run after a lost answer. If the search finds no run, gives the lock back. If the node has
 * given the run up and the user wants it cancelled, searches once more, and cancels the run if it is found now (see
 * `cancelIfGivenUp`).
 */
async function searchLostRun(
	run: Run,
	plan: Plan,
	failure: Failure,
	lock?: TurnLock,
): Promise<SentRun | UnsuccessfulResult> {
	const isDone = (found: string | undefined, waitedMs: number) =>
		found !== undefined || waitedMs >= LOST_START_SEARCH_MS;
	// The first search uses the client of the lock, if any. `cancelIfGivenUp` searches with a deadline of its own.
	const findRunId = async (client: Client) => {
		const runWithClient = { ...run, ...client };
		const find = async () => await findLostRunId(runWithClient, plan);
		return await repeatUntil(runWithClient, find, isDone, START_RETRY_PAUSE_MS);
	};
	const runId = await findRunId({ ...run, ...lock?.clientAfterStart });
	const { threadId } = run;
	if (runId !== undefined)
		return { threadId, runId, streamId: runId, decidedTasks: plan.decidedTasks };
	const result = resultOfLostStart(run, plan, failure);
	await lock?.giveBack();
	return await cancelIfGivenUp(run, result, findRunId);
}

/** Returns the result if no run was found after a lost answer. */
function resultOfLostStart(run: Run, { waitingRun }: Plan, failure: Failure): UnsuccessfulResult {
	if (run.signal?.aborted) return executionStoppedResult(failure);
	const status = run.remainingMs() <= 0 ? 'timedOut' : 'failed';
	if (!waitingRun) return { ...arrivalUnknownResult(run.intent.kind, failure), status };
	const reason = `The decision did not reach the assistant. ${failureMessage(failure)}`;
	return { status, reason, advice: DECIDE_AGAIN_ADVICE, failure };
}

const DECIDE_AGAIN_ADVICE = 'Decide again: what waits still waits.';

/** Time limit of the search for a run after a lost answer. The thread shows the message mark after about a second. */
const LOST_START_SEARCH_MS = 6_000;

/**
 * Finds the ID of the started run after a lost answer. Undefined if no run matches.
 *
 * - For a decision: the waiting run, once it was decided.
 * - On a new thread: the newest run.
 * - On an existing thread: the only new run. For a message, the thread must show its message mark. For a retry, nobody
 *   may have sent a message since the last update of the newest run in `runsBefore`.
 */
async function findLostRunId(run: Run, plan: Plan): Promise<string | undefined> {
	const { messageMark, waitingRun, runsBefore } = plan;
	if (waitingRun) return (await wasDecided(run, waitingRun)) ? waitingRun.run_id : undefined;
	const { answer: runs } = await listRuns(run, run.threadId);
	const fresh = differenceBy(startedRuns(runs ?? []), runsBefore, 'run_id');
	if (run.isThreadNew) return newestRun(fresh)?.run_id;
	const [found, ...others] = fresh;
	// The thread shows only the message mark of its newest question. This mark cannot identify one of several new runs.
	if (!found || others.length > 0) return undefined;
	if (messageMark) {
		const { answer: state } = await readThread(run, run.threadId, 1);
		return newestMessageMarkOf(state) === messageMark ? found.run_id : undefined;
	}
	// A retry has no mark. The new run is the retry unless somebody has asked a question since.
	const conversation = await readRunConversation(run);
	const lastUpdate = newestRun(runsBefore)?.updated_at;
	return (await hasNoQuestionSince(run, conversation, lastUpdate)) ? found.run_id : undefined;
}

/** Whether a decision has reached the waiting run. A decision changes the record of the run at once. */
async function wasDecided(run: Run, waitingRun: RunRecord): Promise<boolean> {
	const { answer: now } = await readRun({ ...run, runId: waitingRun.run_id });
	if (!now) return false;
	return now.status !== 'interrupted' || now.updated_at !== waitingRun.updated_at;
}

/** A run that the server has started, and the ID of the stream to read (`streamId`). */
export type SentRun = RunIds & FollowOptions & Required<Pick<FollowOptions, 'streamId'>>;

/** Stores that the server lacks the routes for background runs, if this is certain. Returns the result of the run. */
export function resultOfMissingRoutes(
	{ backgroundRoutes }: Run,
	failure: Failure,
): UnsuccessfulResult {
	// Remember a missing route only if the API itself reports it. A proxy may send a 404 while the server is down.
	backgroundRoutes.areMissing ||= failure.missing === 'route';
	const advice = 'Use Thread: Ask and Wait, which works on every server.';
	const result = failedResult('This server starts no runs in the background', advice);
	return { ...result, failure, lacksRoutes: true };
}
