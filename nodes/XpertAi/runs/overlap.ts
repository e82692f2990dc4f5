import { readNewestAnswers } from '../threads/conversation';
import { listRuns, type RunRecord, stageOf, startedRuns } from '../threads/runsApi';
import type { RunClient } from './run';

/** What is known about the other runs of a thread when a run starts. */
export interface OtherRunsSummary {
	/** Whether another run was active. */
	hasActiveRun: boolean;
	/** IDs of the runs that had ended, at most the last `COMPARED_RUN_COUNT`. */
	endedIds: string[];
}

/** How many of the newest answers, and of the runs that had ended before the start, are compared to find an overlap. */
export const COMPARED_RUN_COUNT = 3;

/**
 * Whether the run overlapped with another run on the thread. If `others` is known, reads the newest answers first,
 * because a list of runs grows with the thread. Lists the runs if `others` is unknown, or if the newest answers do not
 * tell. Returns false if the runs cannot be listed.
 *
 * @param others the other runs when the run started, if known
 */
export async function overlapsOthers(run: RunClient, others?: OtherRunsSummary) {
	if (others?.hasActiveRun) return true;
	const byAnswers = others && (await overlapsByAnswers(run, others));
	return byAnswers ?? (await overlapsByRuns(run));
}

/**
 * Whether one of the newest answers comes from a run beside this run: a run that had not ended at the start, and was
 * answered before this run ended.
 *
 * @returns undefined if the newest answers do not contain the answer of this run
 */
async function overlapsByAnswers(run: RunClient, { endedIds }: OtherRunsSummary) {
	const { conversationId } = run.facts;
	if (!conversationId) return undefined;
	const { answer: newest = [] } = await readNewestAnswers(run, conversationId, COMPARED_RUN_COUNT);
	const own = newest.find(({ executionId }) => executionId === run.runId);
	if (!own) return undefined;
	// A decision continues the interrupted run under the same ID. That run counts as ended, so `endedIds` contains the ID.
	const followsDecision = endedIds.includes(run.runId);
	const isBeside = ({ executionId, createdAt }: (typeof newest)[number]) => {
		// An answer without a run ID may come from any run. It counts as beside this run, except after a decision.
		const hadEnded = executionId ? endedIds.includes(executionId) : followsDecision;
		return !hadEnded && (createdAt ?? '') <= (own.updatedAt ?? AFTER_ALL_TIMES);
	};
	return newest.some((one) => one !== own && isBeside(one));
}

/** Sorts after every time of the server. */
const AFTER_ALL_TIMES = '~';

async function overlapsByRuns(run: RunClient) {
	const { answer = [] } = await listRuns(run, run.threadId);
	return overlappingRuns(answer, run.runId).length > 0;
}

/** Returns the other runs of a list that overlapped with a run. Empty if the list does not contain the run. */
export function overlappingRuns(list: RunRecord[], runId: string): RunRecord[] {
	const runs = startedRuns(list);
	const own = runs.find((one) => one.run_id === runId);
	if (!own) return [];
	const endOf = (one: RunRecord) =>
		stageOf(one) === 'goesOn' ? AFTER_ALL_TIMES : (one.updated_at ?? '');
	const overlaps = (one: RunRecord) => endOf(one) >= own.created_at && endOf(own) >= one.created_at;
	return runs.filter((one) => one !== own && overlaps(one));
}
