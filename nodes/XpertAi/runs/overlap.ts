import { newestAnswers } from '../threads/conversation';
import { eventsFromThread } from '../threads/runEvents';
import { listRuns, type RunRecord, stageOf, startedRuns } from '../threads/runsApi';
import { sourcesOf } from '../threads/sources';
import {
	messagesOf,
	readThread,
	textOf,
	type ThreadMessage,
	type ThreadState,
} from '../threads/thread';
import { repeatUntil } from './client';
import type { Completed, RunState } from './result';
import type { RunClient } from './run';

/**
 * How many times the node looks for an answer on an idle thread before the answer counts as lost. The server may store
 * the answer after the first read.
 */
const IDLE_READS = 2;

/**
 * Compares a completed result with the thread. Never throws.
 *
 * - Adds `remembered: false` if the answer is missing on the thread because another run overlapped.
 * - Adds `threadParts` if the answer links to passages of an earlier run.
 *
 * @param others the other runs when the run started, if known
 */
export async function compareResultWithThread<State extends RunState>(
	run: RunClient,
	result: State,
	others?: OtherRuns,
): Promise<State> {
	if (result.status !== 'completed' || result.rejected) return result;
	const hasOverlap = await overlapsOthers(run, others);
	const citesEarlier = citesEarlierRun(result);
	if (!hasOverlap && !citesEarlier) return result;
	const { answer: state } = hasOverlap
		? await readUntilStored(run, result)
		: await readThread(run, run.threadId);
	if (!state) return result;
	const isLost = hasOverlap && state.status !== 'busy' && !containsAnswer(state, result);
	const threadParts = citesEarlier ? eventsFromThread(state, messagesOf(state)).parts : undefined;
	return { ...result, ...(threadParts && { threadParts }), ...(isLost && { remembered: false }) };
}

/** Whether an answer links to a passage that its own run did not find. Such a passage has no document name. */
const citesEarlierRun = ({ parts }: Completed) =>
	sourcesOf(parts)
		.list()
		.some(({ documentName }) => !documentName);

/** Reads the thread until it contains the answer, or is idle without the answer. Gives up if the thread is unreadable. */
async function readUntilStored(run: RunClient, completed: Completed) {
	let idleReads = 0;
	const read = async () => await readThread(run, run.threadId);
	return await repeatUntil(run, read, ({ answer: state }) => {
		if (!state) return true;
		idleReads = state.status === 'busy' ? 0 : idleReads + 1;
		return containsAnswer(state, completed) || idleReads >= IDLE_READS;
	});
}

/** What is known about the other runs of a thread when a run starts. */
export interface OtherRuns {
	/** Whether another run was active. */
	isActive: boolean;
	/** IDs of the runs that had ended, at most the last `COMPARED_RUNS`. */
	endedIds: string[];
}

/** How many of the newest answers, and of the runs that had ended before the start, are compared to find an overlap. */
export const COMPARED_RUNS = 3;

/**
 * Whether the run overlapped with another run on the thread. If `others` is known, reads the newest answers first,
 * because a list of runs grows with the thread. Lists the runs if `others` is unknown, or if the newest answers do not
 * tell. Returns false if the runs cannot be listed.
 *
 * @param others the other runs when the run started, if known
 */
export async function overlapsOthers(run: RunClient, others?: OtherRuns) {
	if (others?.isActive) return true;
	const byAnswers = others && (await overlapsByAnswers(run, others));
	return byAnswers ?? (await overlapsByRuns(run));
}

/**
 * Whether one of the newest answers comes from a run beside this run: a run that had not ended at the start, and was
 * answered before this run ended.
 *
 * @returns undefined if the newest answers do not contain the answer of this run
 */
async function overlapsByAnswers(run: RunClient, { endedIds }: OtherRuns) {
	const { conversationId } = run.facts;
	if (!conversationId) return undefined;
	const { answer: newest = [] } = await newestAnswers(run, conversationId, COMPARED_RUNS);
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

/** Whether the thread contains the answer: by its ID, or by its text if the ID is unknown. True for an empty answer. */
function containsAnswer(state: ThreadState, { answerId, output }: Completed) {
	const isAnswer = ({ id, content }: ThreadMessage) =>
		answerId === undefined ? textOf(content) === output : id === answerId;
	return output === '' || messagesOf(state).some(isAnswer);
}
