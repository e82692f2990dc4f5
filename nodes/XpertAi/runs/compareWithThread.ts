import { transcriptFromThread } from '../threads/runTranscript';
import { sourcesOf } from '../threads/sources';
import {
	messagesOf,
	readThread,
	textOfContent,
	type ThreadMessage,
	type ThreadState,
} from '../threads/thread';
import { repeatUntil } from './client';
import { type OtherRunsSummary, overlapsOthers } from './overlap';
import type { CompletedResult, RunState } from './result';
import type { RunClient } from './run';

/**
 * How many times the node looks for an answer on an idle thread before the answer counts as lost. The server may store
 * the answer after the first read.
 */
const MAX_IDLE_READS = 2;

/**
 * Compares a completed result with the thread. Never throws.
 *
 * - Adds `remembered: false` if the answer is missing on the thread because another run overlapped.
 * - Adds `threadParts` if the answer links to passages of an earlier run.
 *
 * @param others the other runs when the run started, if known
 */
export async function withThreadFindings<State extends RunState>(
	run: RunClient,
	result: State,
	others?: OtherRunsSummary,
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
	const threadParts = citesEarlier
		? transcriptFromThread(state, messagesOf(state)).parts
		: undefined;
	return { ...result, ...(threadParts && { threadParts }), ...(isLost && { remembered: false }) };
}

/** Whether an answer links to a passage that its own run did not find. Such a passage has no document name. */
const citesEarlierRun = ({ parts }: CompletedResult) =>
	sourcesOf(parts)
		.list()
		.some(({ documentName }) => !documentName);

/** Whether the thread contains the answer: by its ID, or by its text if the ID is unknown. True for an empty answer. */
function containsAnswer(state: ThreadState, { answerId, output }: CompletedResult) {
	const isAnswer = ({ id, content }: ThreadMessage) =>
		answerId === undefined ? textOfContent(content) === output : id === answerId;
	return output === '' || messagesOf(state).some(isAnswer);
}

/** Reads the thread until it contains the answer, or is idle without the answer. Gives up if the thread is unreadable. */
async function readUntilStored(run: RunClient, completed: CompletedResult) {
	let idleReads = 0;
	const read = async () => await readThread(run, run.threadId);
	return await repeatUntil(run, read, ({ answer: state }) => {
		if (!state) return true;
		idleReads = state.status === 'busy' ? 0 : idleReads + 1;
		return containsAnswer(state, completed) || idleReads >= MAX_IDLE_READS;
	});
}
