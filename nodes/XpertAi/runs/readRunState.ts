import { type ConversationFacts, findAnswer } from '../threads/conversation';
import { RunTranscript } from '../threads/runTranscript';
import {
	listRuns,
	newestRun,
	readRun,
	type RunRecord,
	SETTLING_MS,
	stageOf,
	streamRequest,
} from '../threads/runsApi';
import { mayBeLeftOver, waitsForPerson } from '../threads/tasks';
import { endsWithCall, messagesOf, readThread } from '../threads/thread';
import { FIRST_PAUSE_MS } from '../transport/clock';
import { isTransient } from '../transport/failure';
import { repeatUntil, UNREACHABLE_MS } from './client';
import { overlappingRuns } from './overlap';
import {
	cancelledOnServerResult,
	completedFrom,
	failedOnServerResult,
	failedResult,
	hasAnswer,
	NO_ANSWER_RESULT,
	resultFromTranscript,
	type RunningState,
	type RunState,
} from './result';
import { readRunConversation, type RunClient } from './run';

/** The state of a run whose end the server has not stored everywhere yet. */
const SETTLING_STATE: RunningState = { status: 'running', isSettling: true };

/**
 * Reads the state of a run from its record. If the run has ended, reads the answer from the conversation, or from the
 * stream if the conversation does not contain the answer. Never throws.
 *
 * @returns the result; `running` also while the server stores the result; `unread` if a request failed
 */
export async function readRunState(run: RunClient): Promise<RunState> {
	const { answer: record, failure: unread } = await readRun(run);
	if (unread) return { status: 'unread', failure: unread };
	const hasEnded = stageOf(record) === 'ended';
	if (!hasEnded && record.assistant_id) return { status: 'running' };
	const facts = await readRunConversation(run);
	if (facts.failure) return { status: 'unread', failure: facts.failure, hasRecord: true };
	return hasEnded
		? await readEndedRun(run, record, facts)
		: await readRunWithoutAssistant(run, facts);
}

/**
 * Returns the state of a run that has not ended and has no assistant. While such a run starts or carries out a
 * decision, its conversation is busy. Otherwise, the record is left over and never ends.
 */
async function readRunWithoutAssistant(
	run: RunClient,
	facts: ConversationFacts,
): Promise<RunState> {
	// Without a status, nothing has run in the conversation yet, or the server hides the conversation.
	const mayRun = ({ status }: ConversationFacts) => !status || status === 'busy';
	if (mayRun(facts)) return { status: 'running' };
	// The record and the conversation show the start of a run with a delay.
	await run.wait(FIRST_PAUSE_MS);
	const { answer: laterRecord, failure } = await readRun(run);
	if (failure) return { status: 'unread', failure, hasRecord: true };
	// A run that has ended meanwhile counts as running, too: a later read returns its result.
	const hasBegun = laterRecord.assistant_id || stageOf(laterRecord) === 'ended';
	if (hasBegun || mayRun(await readRunConversation(run))) return { status: 'running' };
	return failedResult(
		'Nothing runs under this run ID',
		'Such an ID is left over of a decision, or of a message that was refused. Take the runId of the run itself.',
	);
}

/** Returns the result of an ended run: from its message in the conversation, or else from its stream or record. */
async function readEndedRun(
	run: RunClient,
	{ status }: RunRecord,
	facts: ConversationFacts,
): Promise<RunState> {
	if (status === 'interrupted') return await readInterruptedRun(run, facts);
	const { message, failure } = await findAnswer(run, facts, run.runId);
	if (failure) return { status: 'unread', failure, hasRecord: true };
	if (message?.status === 'thinking') return SETTLING_STATE;
	// If the run has another owner, the server hides the conversation, but not the stream.
	const replayed = message ? undefined : await readStreamOfEndedRun(run);
	if (replayed) return resultFromTranscript(replayed);
	if (status === 'timeout') return failedOnServerResult(message?.error ?? TOOK_TOO_LONG_REASON);
	if (status !== 'success')
		return failedOnServerResult(message?.error ?? (await readErrorIfLastRun(run, facts)));
	return message ? await readCompletedRun(run, message.content) : NO_ANSWER_RESULT;
}

/**
 * Returns the result of a successful run from the content of its message. If the text is empty, reads the thread: it ends
 * with a tool call if a person rejected the call. `SETTLING_STATE` if the thread is still busy.
 */
async function readCompletedRun(run: RunClient, content: unknown): Promise<RunState> {
	const transcript = new RunTranscript(run.runId);
	transcript.addStoredContent(content);
	const result = completedFrom(transcript);
	if (result.output !== '') return result;
	const { answer: state } = await readThread(run, run.threadId);
	if (state?.status === 'busy') return SETTLING_STATE;
	return endsWithCall(messagesOf(state)) ? { ...result, rejected: true } : result;
}

/** The reason if the server stopped a run after its time limit. */
const TOOK_TOO_LONG_REASON = 'it took longer than the server allows';

/** Returns the error of the conversation, which is that of the last run; undefined if this run is not the last. */
async function readErrorIfLastRun(run: RunClient, { error }: ConversationFacts) {
	if (!error) return undefined;
	const { answer: runs } = await listRuns(run, run.threadId);
	return newestRun(runs ?? [])?.run_id === run.runId ? error : undefined;
}

/**
 * Returns the state of an `interrupted` run. The run waits for a person, waited earlier, or was cancelled. Or it has
 * completed, and the cancellation of another run has set its record to `interrupted`. Only the last run of a thread can
 * wait.
 */
async function readInterruptedRun(run: RunClient, facts: ConversationFacts): Promise<RunState> {
	const { answer: runs, failure } = await listRuns(run, run.threadId);
	if (failure) return { status: 'unread', failure, hasRecord: true };
	const isLast = newestRun(runs)?.run_id === run.runId;
	const others = overlappingRuns(runs, run.runId);
	// While another run is active, the tasks and the error of the conversation may belong to that run.
	const isSettled = facts.status !== 'busy' && !others.some((one) => stageOf(one) === 'goesOn');
	if (isLast && isSettled && waitsForPerson(facts)) {
		const parts = { output: '', otherParts: [], parts: [] };
		return { status: 'interrupted', interrupt: facts.tasks, ...parts };
	}
	const hasOverlap = others.length > 0;
	// If this run is the last one, the conversation may not show yet whether it waits. An earlier run cannot wait. But after
	// an overlap, it may not be known yet to which run the tasks and the error belong.
	const mayChange = !isSettled && (isLast || hasOverlap);
	const shown = await stateFromStream(run, { hasOverlap, mayChange });
	return shown ?? (isLast ? cancelledOnServerResult(facts.error) : NO_LONGER_WAITING_RESULT);
}

/**
 * Returns the state of an `interrupted` run as its stream shows it. Somebody may have cancelled the run after its end, and
 * the stream still shows the original result.
 *
 * @param run a run that is not known to wait for a person
 * @param options `hasOverlap`: whether another run overlapped this run. `mayChange`: whether a later read may show another
 * state, e.g. that the run waits
 * @returns undefined if the stream does not show what became of the run; `SETTLING_STATE` instead if `mayChange` is true
 */
async function stateFromStream(
	run: RunClient,
	{ hasOverlap, mayChange }: Record<'hasOverlap' | 'mayChange', boolean>,
): Promise<RunState | undefined> {
	const transcript = await readStreamOfEndedRun(run);
	if (!transcript) return mayChange ? SETTLING_STATE : undefined;
	const replayed = resultFromTranscript(transcript);
	if (replayed.status === 'failed') return replayed;
	if (replayed.status === 'completed' && provesCompletion(transcript)) return replayed;
	const interruption = replayed.status === 'interrupted' ? replayed : undefined;
	// The conversation does not show yet whether the run waits. If no other run overlapped, the interruption in the stream
	// is that of this run.
	if (mayChange) return interruption && !hasOverlap ? interruption : SETTLING_STATE;
	// The run no longer waits. The stream does not show why if it has a completion without proof, or an interruption
	// without an overlap. So the caller decides.
	if (!interruption || !hasOverlap) return undefined;
	// The tasks of the stream no longer wait. If each of them may be a left-over step, no person had to decide, so the run
	// is complete.
	const hadNothingToWaitFor = interruption.interrupt.every(mayBeLeftOver);
	return hadNothingToWaitFor ? completedFrom(transcript) : NO_LONGER_WAITING_RESULT;
}

/** The result of an interrupted run that no longer waits, without a known cause. */
const NO_LONGER_WAITING_RESULT = failedResult(
	'The run was cancelled, or the thread has gone on without a decision',
);

/**
 * Whether a stream whose result is `completed` (see `resultFromTranscript`) proves that the run completed. The stream of a
 * run that was cancelled before its first words can look like the stream of a completed run with an empty answer.
 */
export const provesCompletion = (transcript: RunTranscript) =>
	transcript.end.agentStatus === 'success' || hasAnswer(transcript);

/** Time limit for reading the stream of an ended run. If the server no longer stores the stream, the request never ends. */
const REPLAY_LIMIT_MS = 5_000;

/**
 * Reads the stream of an ended run. Never throws.
 *
 * @returns undefined if the whole stream cannot be read, e.g. because it is no longer stored
 */
export async function readStreamOfEndedRun(run: RunClient): Promise<RunTranscript | undefined> {
	const transcript = new RunTranscript(run.runId);
	const abort = new AbortController();
	run.clock.later(REPLAY_LIMIT_MS, () => abort.abort());
	await run.send(streamRequest(run, transcript, abort.signal));
	run.facts.conversationId ??= transcript.conversationId;
	return transcript.isComplete && transcript.hasBeginning ? transcript : undefined;
}

/** How long the node reads a run again while its record contradicts the conversation or the thread. */
const SETTLE_LIMIT_MS = 10_000;

/** Reads the state of a run. Reads it again for `SETTLE_LIMIT_MS` while the server stores the result. Never throws. */
export const readSettledState = async (run: RunClient) =>
	await repeatUntil(
		run,
		async () => await readRunState(run),
		(state, waitedMs) => !isSettling(state) || waitedMs >= SETTLE_LIMIT_MS,
		SETTLING_MS,
	);

/** Reads the state of a run. Reads it again for `UNREACHABLE_MS` if the server cannot be reached. Never throws. */
export const readStateWithRetries = async (run: RunClient) =>
	await repeatUntil(
		run,
		async () => await readRunState(run),
		(state, waitedMs) => !isUnreachable(state) || waitedMs >= UNREACHABLE_MS,
	);

const isSettling = (state: RunState) => state.status === 'running' && state.isSettling === true;

/** Whether the record could not be read because of a temporary failure. */
const isUnreachable = (state: RunState) =>
	state.status === 'unread' && !state.hasRecord && isTransient(state.failure);
