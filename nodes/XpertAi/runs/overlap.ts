import { newestAnswers } from '../threads/conversation';
import { eventsOn } from '../threads/runEvents';
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
 * - Adds `earlier` if the answer links to passages of an earlier run.
 */
export async function compareResultWithThread<State extends RunState>(
	run: RunClient,
	result: State,
	others?: OtherRuns,
): Promise<State> {
	if (result.status !== 'completed' || result.rejected) return result;
	const hasOverlap = await overlapsOthers(run, others);
	const cited = sourcesOf(result.parts).list(new Set());
	const linksBack = cited.some(({ documentName }) => !documentName);
	if (!hasOverlap && !linksBack) return result;
	let idleReads = 0;
	const read = async () => await readThread(run, run.threadId);
	const { answer: state } = await repeatUntil(run, read, ({ answer }) => {
		if (!answer || !hasOverlap) return true;
		idleReads = answer.status === 'busy' ? 0 : idleReads + 1;
		return containsAnswer(answer, result) || idleReads >= IDLE_READS;
	});
	if (!state) return result;
	const isLost = hasOverlap && state.status !== 'busy' && !containsAnswer(state, result);
	const earlier = linksBack ? eventsOn(state, messagesOf(state)).parts : undefined;
	return { ...result, ...(earlier && { earlier }), ...(isLost && { remembered: false }) };
}

/** What is known about the other runs of a thread when a run starts. */
export interface OtherRuns {
	/** Whether another run was active. */
	isActive: boolean;
	/** IDs of the runs that had ended, at most the last `LAST_RUNS`. */
	lastIds: string[];
}

/** How many answers the node reads to find another run that started beside a run. */
export const LAST_RUNS = 3;

/**
 * Whether the run overlapped with another run on the thread. Reads the newest answers, because a list of runs grows with
 * the thread. Lists the runs if the answers do not show it. Returns false if the runs cannot be listed.
 *
 * @param others the other runs when the run started, if known
 */
export async function overlapsOthers(run: RunClient, others?: OtherRuns) {
	if (others?.isActive) return true;
	return (others && (await overlapsByAnswers(run, others))) ?? (await overlapsByRuns(run));
}

async function overlapsByAnswers(run: RunClient, { lastIds }: OtherRuns) {
	const { conversationId } = run.facts;
	if (!conversationId) return undefined;
	const { answer: newest = [] } = await newestAnswers(run, conversationId, LAST_RUNS);
	const own = newest.find(({ executionId }) => executionId === run.runId);
	const isBeside = ({ executionId, createdAt }: (typeof newest)[number]) =>
		!lastIds.includes(executionId ?? run.runId) && (createdAt ?? '') <= (own?.updatedAt ?? '~');
	return own && newest.some((one) => one !== own && isBeside(one));
}

async function overlapsByRuns(run: RunClient) {
	const { answer = [] } = await listRuns(run, run.threadId);
	return overlappingRuns(answer, run.runId).length > 0;
}

/** Returns the other runs of a list that overlapped with a run. */
export function overlappingRuns(list: RunRecord[], runId: string): RunRecord[] {
	const runs = startedRuns(list);
	const own = runs.find((one) => one.run_id === runId);
	if (!own) return [];
	const endOf = (one: RunRecord) => (stageOf(one) === 'goesOn' ? '~' : (one.updated_at ?? ''));
	const overlaps = (one: RunRecord) => endOf(one) >= own.created_at && endOf(own) >= one.created_at;
	return runs.filter((one) => one !== own && overlaps(one));
}

/** Whether the thread contains the answer. Always true for an empty answer. */
function containsAnswer(state: ThreadState, { answerId, output }: Completed) {
	const isAnswer = ({ id, content }: ThreadMessage) =>
		answerId === undefined ? textOf(content) === output : id === answerId;
	return output === '' || messagesOf(state).some(isAnswer);
}
