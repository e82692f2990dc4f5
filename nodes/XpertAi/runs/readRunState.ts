import { type ConversationFacts, findAnswer } from '../threads/conversation';
import { RunEvents } from '../threads/runEvents';
import {
	joinRun,
	listRuns,
	newestOf,
	readRun,
	type RunRecord,
	SETTLING_MS,
	stageOf,
} from '../threads/runsApi';
import { mayBeLeftOver, waitsForPerson } from '../threads/tasks';
import { endsWithCall, messagesOf, readThread } from '../threads/thread';
import { FIRST_PAUSE_MS } from '../transport/clock';
import { isTransient } from '../transport/failure';
import { repeatUntil, UNREACHABLE_MS } from './client';
import { overlappingRuns } from './overlap';
import {
	completedFrom,
	failed,
	resultFromEvents,
	runCancelled,
	runFailed,
	type Running,
	type RunState,
	WITHOUT_ANSWER,
} from './result';
import { readRunConversation, type RunClient } from './run';

const SETTLING: Running = { status: 'running', isSettling: true };

/**
 * Reads the state of a run from its record. If the run has ended, reads the answer from the conversation. If the
 * conversation does not contain the answer, reads the stream. Never throws.
 */
export async function readRunState(run: RunClient): Promise<RunState> {
	const { answer: record, failure: unread } = await readRun(run);
	if (unread) return { status: 'unread', failure: unread };
	const stage = stageOf(record);
	if (stage !== 'ended' && record.assistant_id) return { status: 'running' };
	const facts = await readRunConversation(run);
	if (facts.failure) return { status: 'unread', failure: facts.failure, hasRecord: true };
	return stage === 'ended'
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
	const { answer: again, failure } = await readRun(run);
	if (failure) return { status: 'unread', failure, hasRecord: true };
	const hasBegun = again.assistant_id || stageOf(again) === 'ended';
	if (hasBegun || mayRun(await readRunConversation(run))) return { status: 'running' };
	return failed(
		'Nothing runs under this run ID',
		'Such an ID is left over of a decision, or of a message that was refused. Take the runId of the run itself.',
	);
}

/** Returns the result of an ended run from its message in the conversation. */
async function readEndedRun(
	run: RunClient,
	{ status }: RunRecord,
	facts: ConversationFacts,
): Promise<RunState> {
	if (status === 'interrupted') return await readInterruptedRun(run, facts);
	const { message, failure } = await findAnswer(run, facts, run.runId);
	if (failure) return { status: 'unread', failure, hasRecord: true };
	if (message?.status === 'thinking') return SETTLING;
	// If the run has another owner, the server hides the conversation, but not the stream.
	const replayed = message ? undefined : await replayEndedRun(run);
	if (replayed) return resultFromEvents(replayed);
	if (status === 'timeout') return runFailed(message?.error ?? TOOK_TOO_LONG);
	if (status !== 'success') return runFailed(message?.error ?? (await errorOfLast(run, facts)));
	if (!message) return WITHOUT_ANSWER;
	const events = new RunEvents(run.runId);
	events.readContent(message.content);
	const result = resultFromEvents(events);
	if (result.status !== 'completed' || result.output !== '') return result;
	const { answer: state } = await readThread(run, run.threadId);
	if (state?.status === 'busy') return SETTLING;
	return endsWithCall(messagesOf(state)) ? { ...result, rejected: true } : result;
}

const TOOK_TOO_LONG = 'it took longer than the server allows';

/** Returns the error of the conversation, if it belongs to this run: if no later run has started. */
async function errorOfLast(run: RunClient, { error }: ConversationFacts) {
	if (!error) return undefined;
	const { answer: runs } = await listRuns(run, run.threadId);
	return newestOf(runs ?? [])?.run_id === run.runId ? error : undefined;
}

/**
 * Returns the result of an `interrupted` run. The run waits for a person, waited earlier, or was cancelled. Only the
 * last run of a thread can wait.
 */
async function readInterruptedRun(run: RunClient, facts: ConversationFacts): Promise<RunState> {
	const { answer: runs, failure } = await listRuns(run, run.threadId);
	if (failure) return { status: 'unread', failure, hasRecord: true };
	const isLast = newestOf(runs)?.run_id === run.runId;
	const others = overlappingRuns(runs, run.runId);
	// While another run is active, the tasks and the error of the conversation may belong to that run.
	const isSettled = facts.status !== 'busy' && !others.some((one) => stageOf(one) === 'goesOn');
	if (isLast && isSettled && waitsForPerson(facts)) {
		const parts = { output: '', otherParts: [], parts: [] };
		return { status: 'interrupted', interrupt: facts.tasks, ...parts };
	}
	// Somebody may have cancelled the run after its end. The stream still shows the original result.
	const events = await replayEndedRun(run);
	const replayed = events && resultFromEvents(events);
	if (replayed?.status === 'failed') return replayed;
	if (events && replayed?.status === 'completed' && provesCompletion(events)) return replayed;
	if (isLast && others.length === 0 && replayed?.status === 'interrupted' && !isSettled)
		return replayed;
	if (!isSettled && (isLast || others.length > 0)) return SETTLING;
	// The tasks of the stream are gone, although nobody has decided them. So the run had nothing to wait for.
	const isOvertaken = replayed?.status === 'interrupted' && others.length > 0;
	if (events && isOvertaken && replayed.interrupt.every(mayBeLeftOver))
		return completedFrom(events);
	if (isLast && !isOvertaken) return runCancelled(facts.error);
	return failed('The run was cancelled, or the thread has gone on without a decision');
}

/**
 * Whether an ended stream shows that the run completed, although its record says `interrupted`. The stream of a run that
 * was cancelled before its first words can look like the stream of a completed run with an empty answer.
 */
export const provesCompletion = ({ end, output, otherParts }: RunEvents) =>
	end.agentStatus === 'success' || output !== '' || otherParts.length > 0;

/** Time limit for reading the stream of an ended run. If the stream is no longer stored, the request never ends. */
const REPLAY_MS = 5_000;

/**
 * Reads the stream of an ended run. Never throws.
 *
 * @returns undefined if the whole stream cannot be read, e.g. because it is no longer stored
 */
export async function replayEndedRun(run: RunClient): Promise<RunEvents | undefined> {
	const events = new RunEvents(run.runId);
	const abort = new AbortController();
	run.clock.later(REPLAY_MS, () => abort.abort());
	await run.send(joinRun(run, events, abort.signal));
	run.facts.conversationId ??= events.conversationId;
	return events.isComplete && events.isWhole ? events : undefined;
}

/** How long a run without a deadline is read again while its record contradicts what else the server shows. */
const SETTLE_LIMIT_MS = 10_000;

/** Reads the state of a run. Reads it again for a while if the server contradicts itself. Never throws. */
export const readSettled = async (run: RunClient) =>
	await repeatUntil(
		run,
		async () => await readRunState(run),
		(state, waitedMs) => !isSettling(state) || waitedMs >= SETTLE_LIMIT_MS,
		SETTLING_MS,
	);

/** Reads the state of a run. Reads it again for `UNREACHABLE_MS` if the server cannot be reached. Never throws. */
export const readReachable = async (run: RunClient) =>
	await repeatUntil(
		run,
		async () => await readRunState(run),
		(state, waitedMs) => !isUnreachable(state) || waitedMs >= UNREACHABLE_MS,
	);

const isSettling = (state: RunState) => state.status === 'running' && state.isSettling === true;

/** Whether the server could not be asked for the run, which a later read may change. */
const isUnreachable = (state: RunState) =>
	state.status === 'unread' && !state.hasRecord && isTransient(state.failure);
