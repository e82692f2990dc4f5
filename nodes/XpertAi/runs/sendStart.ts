import { differenceBy } from 'lodash';

import { isUnasked } from '../threads/conversation';
import {
	listRuns,
	newestOf,
	readRun,
	type RunIds,
	type RunRecord,
	START_TRIES,
	startedRuns,
	startRun,
} from '../threads/runsApi';
import { readThread } from '../threads/thread';
import { certainlyNotDone, type Failure, mayMeanNoRoute, isTransient } from '../transport/failure';
import { failureMessage } from '../transport/failureText';
import { cancelIfGivenUp } from './cancelRun';
import { type Client, repeatUntil } from './client';
import { explainFailedStart } from './explainFailedStart';
import type { FollowOptions } from './followRun';
import type { Plan } from './planStart';
import { executionStopped, failed, mayHaveArrived, type NoAnswer } from './result';
import { readRunConversation, type Run } from './run';
import { messageMarkOf } from './runBody';
import { START_MS, type TurnLock } from './turnLock';

/**
 * Sends the request. If the server's answer is lost, searches for the started run.
 *
 * @param lock the lock of the thread, if any. It is given back before a run is cancelled.
 * @param mayRepeat whether the caller tries again if the request certainly started no run
 */
export async function sendStart(
	run: Run,
	plan: Plan,
	lock: TurnLock | undefined,
	mayRepeat: boolean,
): Promise<SentRun | NoAnswer | NotStarted> {
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
		const { run_id: streamId, thread_id: threadId = run.threadId } = sent.answer;
		return { threadId, runId: waitingRun?.run_id ?? streamId, streamId, decided };
	}
	const { failure, mayBeDone } = sent;
	if (mayMeanNoRoute(failure)) return recordMissingRoutes(run, failure);
	if (mayRepeat && isTransient(failure) && certainlyNotDone(failure)) return { failure };
	if (!mayBeDone && failure.kind !== 'cancelled') {
		const explained = await explainFailedStart(run, failure);
		return waitingRun ? { advice: DECIDE_AGAIN, ...explained } : explained;
	}
	const isDone = (found: string | undefined, waitedMs: number) =>
		found !== undefined || waitedMs >= LOST_START_SEARCH_MS;
	const find = async (client: Client) => {
		const asked = { ...run, ...client };
		return await repeatUntil(
			asked,
			async () => await findLostRun(asked, plan),
			isDone,
			FIRST_POLL_MS,
		);
	};
	const runId = await find({ ...run, ...lock?.afterStart });
	if (runId !== undefined) return { threadId: run.threadId, runId, streamId: runId, decided };
	const notArrived = `The decision did not reach the assistant. ${failureMessage(failure)}`;
	const lost = waitingRun
		? { ...failed(notArrived, DECIDE_AGAIN), failure }
		: mayHaveArrived(kind, failure);
	const status = run.remaining() <= 0 ? 'timedOut' : 'failed';
	const isStopped = run.signal?.aborted;
	const result: NoAnswer = isStopped ? executionStopped(failure) : { ...lost, status };
	await lock?.giveBack();
	return await cancelIfGivenUp(run, result, find);
}

const DECIDE_AGAIN = 'Decide again: what waits still waits.';

/** Time limit of the search for a run after a lost answer. The thread shows the message mark after about a second. */
const LOST_START_SEARCH_MS = 6_000;

/** Finds the ID of the started run after a lost answer. Returns undefined if no run or several runs match. */
async function findLostRun(run: Run, plan: Plan): Promise<string | undefined> {
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
		: await isUnasked(run, await readRunConversation(run), newestOf(before)?.updated_at);
	return isOurs ? found.run_id : undefined;
}

/** A run that the server has started, and the ID of the stream to read (`streamId`). */
export type SentRun = RunIds & FollowOptions & Required<Pick<FollowOptions, 'streamId'>>;

/** Why a run was not started now, although it may start later. */
export interface NotStarted {
	/** The run that is active on the thread. */
	blocking?: RunRecord;
	/** Why a request failed. No request has started a run. */
	failure?: Failure;
}

/** First pause after a failed attempt, and in the search for a run after a lost answer. */
export const FIRST_POLL_MS = 500;

/** Returns the result of a run on a server without the routes for background runs. */
export function recordMissingRoutes({ routes }: Run, failure: Failure): NoAnswer {
	// Remember a missing route only if the API itself reports it. A proxy may send a 404 while the server is down.
	routes.areMissing ||= failure.missing === 'route';
	const advice = 'Use Thread: Ask and Wait, which works on every server.';
	const result = failed('This server starts no runs in the background', advice);
	return { ...result, failure, lacksRoutes: true };
}
