import type { RunRecord } from '../threads/runsApi';
import type { Failure } from '../transport/failure';

/** Maximum number of attempts to start a run: more than for other calls, but few enough to report an outage soon. */
export const START_TRIES = 5;

/** What earlier attempts to start the run have shown. */
export interface AttemptHistory {
	/** How many attempts have failed without an active run on the thread. */
	failedCount: number;
	/** Whether the node has waited for another run. */
	hasWaitedForRun: boolean;
	/** Whether this node has received the lock at least once. If so, the address of the server is right. */
	hasReceivedLock: boolean;
}

/** Why a run was not started now: because of an active run on the thread, or of a failed attempt. */
export type NotStarted = { blockingRun: RunRecord } | FailedAttempt;

/** An attempt that has started no run. The caller tries again. */
export interface FailedAttempt {
	/** Why a request failed. Undefined if the requests under the lock took too long. */
	failure: Failure | undefined;
}

/** First pause after a failed attempt, and in the search for a run after a lost answer. */
export const START_RETRY_PAUSE_MS = 500;
