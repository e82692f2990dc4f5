import { isEqual, pick } from 'lodash';

import { findAnswer } from '../threads/conversation';
import { RunTranscript } from '../threads/runTranscript';
import { readRun, SETTLING_MS, stageOf, streamRequest } from '../threads/runsApi';
import { sourcesOf } from '../threads/sources';
import { fieldOfEachTask } from '../threads/tasks';
import { FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import { isTransient } from '../transport/failure';
import type { RequestOutcome } from '../transport/request';
import { repeatUntil } from './client';
import { overlapsOthers } from './overlap';
import { provesCompletion, readRunState } from './readRunState';
import {
	type CompletedResult,
	executionStoppedResult,
	failureIn,
	hasAnswer,
	type InterruptedResult,
	isResult,
	resultFromTranscript,
	RUNNING_AT_DEADLINE_RESULT,
	type RunResult,
	timedOutResult,
} from './result';
import { readRunConversation, type Run, type RunClient } from './run';

/** How to follow a run. */
export interface FollowOptions {
	/** ID of the stream to read. The stream of a decision can have a different ID than the run. */
	streamId?: string;
	/** For a decision: the tasks that waited for it. */
	decidedTasks?: unknown[];
}

/**
 * Follows a run until it ends or waits for a person. Stops early at the deadline, or when the execution is stopped.
 * Reconnects if the stream breaks. Reads the run record if the stream gives no result. Stores the conversation ID in
 * `facts`. Never throws.
 */
export async function waitForRunResult(
	run: RunClient & Pick<Run, 'listener'>,
	{ streamId = run.runId, decidedTasks }: FollowOptions = {},
): Promise<RunResult> {
	const { facts, listener } = run;
	// The stream of a decision can begin with events from before the decision. The listener must not get these events.
	const transcript = new RunTranscript(run.runId, decidedTasks ? undefined : listener);
	if (decidedTasks) transcript.addTaskCalls(decidedTasks);
	/** Whether the parts from before the decision are missing. True until the stream has shown them. */
	let lacksEarlierParts = decidedTasks !== undefined;
	for (let pause = FIRST_PAUSE_MS; ; ) {
		const { lastId } = transcript;
		await followStream(run, streamId, transcript);
		facts.conversationId ??= transcript.conversationId;
		if (
			transcript.isComplete &&
			decidedTasks &&
			(await endsBeforeDecision(run, transcript, decidedTasks))
		) {
			// The stream has shown the parts from before the decision. Read on without a pause.
			transcript.prepareForNextAnswer(listener);
			lacksEarlierParts = false;
			continue;
		}
		// Take the result only from a stream with the ID of this run. A stream with another ID may belong to another run:
		// its end only shows that it is time to read the record.
		if (transcript.isComplete && transcript.hasBeginning && streamId === run.runId) {
			// `planStart` asks which run was followed last (see `lastFollowedRun`).
			lastFollowedRun.runId = run.runId;
			const result = await resultOfStream(run, transcript);
			return lacksEarlierParts ? await withStoredParts(run, result) : result;
		}
		const state = await readRunState(run);
		if (run.signal?.aborted) return executionStoppedResult(failureIn(state));
		if (isResult(state)) return state;
		if (run.remainingMs() <= 0) return { ...RUNNING_AT_DEADLINE_RESULT, failure: failureIn(state) };
		const hasNewEvents = transcript.lastId !== lastId;
		pause = hasNewEvents ? FIRST_PAUSE_MS : longerPause(pause);
		await run.wait(pause);
	}
}

/**
 * Returns the result of a complete stream.
 *
 * - If the stream ends with an interruption that may come from another run, reads the state of this run until it is a
 *   result.
 * - Does the same if the answer is empty and the run may have been cancelled before its first words.
 * - If the answer is empty for another reason, reads the stored message of the run. The status of the result is
 *   `timedOut` if the message cannot be read.
 */
async function resultOfStream(run: RunClient, transcript: RunTranscript): Promise<RunResult> {
	const result = resultFromTranscript(transcript);
	if (result.status === 'interrupted')
		return (await overlapsOthers(run)) ? await waitForSettledResult(run, result) : result;
	if (result.status !== 'completed' || hasAnswer(result)) return result;
	if (!provesCompletion(transcript)) {
		// The stream of a run that was cancelled before its first words looks the same.
		const { answer: record } = await readRun(run);
		if (record && record.status !== 'success') return await waitForSettledResult(run, result);
	}
	return await withStoredAnswer(run, result);
}

/** Reads the answer of a completed run from its stored message. Tries again until the deadline. */
async function withStoredAnswer(run: RunClient, result: CompletedResult): Promise<RunResult> {
	const read = async () => await findAnswer(run, await readRunConversation(run), run.runId);
	const { message, failure } = await repeatUntil(run, read, (found) => !found.failure);
	if (failure)
		return { ...timedOutResult('The run has ended, but its answer could not be read'), failure };
	const stored = new RunTranscript(run.runId);
	stored.addStoredContent(message?.content);
	return { ...result, ...pick(stored, ['output', 'otherParts', 'answerId']) };
}

/**
 * Reads the state of an ended run until it is a result.
 *
 * @param streamed the result that the stream of the run shows
 * @returns the result; `streamed` if it is an interruption and the run waits for a person; if there is no result, the
 * reason
 */
async function waitForSettledResult(
	run: RunClient,
	streamed: InterruptedResult | CompletedResult,
): Promise<RunResult> {
	const read = async () => await readRunState(run);
	const state = await repeatUntil(run, read, isResult, SETTLING_MS);
	// Only the stream has the answer from before the interruption.
	if (state.status === 'interrupted' && streamed.status === 'interrupted') return streamed;
	if (isResult(state)) return state;
	const failure = failureIn(state);
	if (run.signal?.aborted) return executionStoppedResult(failure);
	return { ...timedOutResult('What became of the run was not yet known'), failure };
}

/**
 * Takes the parts of an answer from the stored message, if the answer has sources. The stored message also has the
 * parts from before a decision, so the sources keep their numbers. Returns the result unchanged if it has no sources, if
 * no stored message is found, or if the stored text differs.
 */
async function withStoredParts(run: RunClient, result: RunResult): Promise<RunResult> {
	if (!('parts' in result) || sourcesOf(result.parts).list().length === 0) return result;
	const { message } = await findAnswer(run, await readRunConversation(run), run.runId);
	if (!message) return result;
	const stored = new RunTranscript(run.runId);
	stored.addStoredContent(message.content);
	return stored.output === result.output ? { ...result, parts: stored.parts } : result;
}

/**
 * Whether the stream has only reached the interruption that the decision is about, or one that no longer waits. If so, the
 * stream sends more events.
 *
 * @param decidedTasks the tasks that waited for the decision
 */
async function endsBeforeDecision(run: RunClient, { end }: RunTranscript, decidedTasks: unknown[]) {
	if (end.status !== 'interrupted') return false;
	if (isEqual(fieldOfEachTask('id', end.tasks), fieldOfEachTask('id', decidedTasks))) return true;
	// The run may have been interrupted several times. Only the last interruption still waits.
	const state = await readRunState(run);
	const interrupt = 'interrupt' in state ? state.interrupt : [];
	return !isEqual(fieldOfEachTask('id', end.tasks), fieldOfEachTask('id', interrupt));
}

/** The first pause before the node reads the run record. Later pauses are longer. */
const SILENT_STREAM_MS = 10_000;

/**
 * Reads the stream of a run until the stream ends or breaks. While no events arrive, polls the run record. Stops if the
 * record shows that the run has ended. Also stops after a permanent failure to read the record. Never throws.
 */
async function followStream(
	run: RunClient,
	streamId: string,
	transcript: RunTranscript,
): Promise<RequestOutcome> {
	const closeStream = new AbortController();
	const streamEnded = new AbortController();
	void closeStreamWhenRunEnds(run, transcript, streamEnded.signal, closeStream);
	const ids = { ...run, runId: streamId };
	const outcome = await run.send(streamRequest(ids, transcript, closeStream.signal));
	streamEnded.abort();
	return outcome;
}

/**
 * Polls the run record while no events arrive. Closes the stream if the record shows that the run has ended, or cannot be
 * read for a permanent reason.
 */
async function closeStreamWhenRunEnds(
	run: RunClient,
	transcript: RunTranscript,
	streamEnded: AbortSignal,
	closeStream: AbortController,
): Promise<void> {
	for (let pause = SILENT_STREAM_MS; ; pause = longerPause(pause)) {
		const { lastId } = transcript;
		await run.clock.sleep(pause, streamEnded);
		if (streamEnded.aborted) return;
		if (transcript.lastId !== lastId) continue;
		const { answer: record, failure } = await readRun(run);
		const goesOn = failure ? isTransient(failure) : stageOf(record) !== 'ended';
		if (goesOn) continue;
		// The stream may still end by itself.
		await run.clock.sleep(SETTLING_MS, streamEnded);
		return closeStream.abort();
	}
}

/**
 * The last run whose stream this process read to the end. The server stores an answer before it ends the stream. So
 * the node does not wait for this answer to be stored.
 */
export const lastFollowedRun: { runId?: string } = {};
