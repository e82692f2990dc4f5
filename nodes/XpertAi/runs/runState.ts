import { findAnswer, readConversation, waitsForPerson } from '../threads/conversation';
import type { ConversationFacts } from '../threads/conversation';
import { afterLastUserMessage, callsTool, messagesOf, readThread } from '../threads/thread';
import { RunEvents } from '../threads/runEvents';
import {
	joinRun,
	listRuns,
	newestRun,
	readRun,
	readUsage,
	requestCancel,
	stageOf,
} from '../threads/runsApi';
import type { RunRecord } from '../threads/runsApi';
import { isTransient } from '../transport/classifyFailure';
import { failureMessage } from '../transport/failure';
import type { Send } from '../transport/request';
import { withDeadline, type Client, type Run, type RunClient } from './run';
import { failed, noAnswer, resultFromEvents, runCancelled, withFacts } from './runResult';
import type { Blocker, NoAnswer, RunResult, RunState } from './runResult';

/* A run that is known by its ID: its state, its cancellation, and whether it is silent. */

/**
 * Reads the state of a run from its record and, if it has ended, from its conversation and message. Never
 * throws.
 */
export async function readRunState(run: RunClient): Promise<RunState> {
	const { answer: record, failure } = await readRun(run);
	if (failure) return { status: 'unread', failure };
	const stage = stageOf(record);
	if (stage !== 'ended' && record.assistant_id) return { status: 'running' };
	const facts = await readConversation(run, run.threadId);
	if (facts.failure) return { status: 'unread', failure: facts.failure, isThere: true };
	const state = await (stage === 'ended'
		? readEnded(run, record, facts)
		: readUnassigned(run, facts));
	const { conversationId = state.conversationId } = facts;
	return withFacts({ ...state, isThere: true }, { conversationId });
}

/**
 * The state of a run that is `running` without an assistant: it carries out a decision or has just started, and its
 * conversation is busy; or it is left over and never ends (recorded).
 */
async function readUnassigned(run: RunClient, facts: ConversationFacts): Promise<RunState> {
	const { status, conversationId } = facts;
	// Without a conversation, the token belongs to another owner and nothing more is known.
	if (status === 'busy' || conversationId === undefined) return { status: 'running' };
	// The run may have started and ended while the conversation was read.
	const { answer: again, failure } = await readRun(run);
	if (failure) return { status: 'unread', failure };
	if (again.assistant_id) return { status: 'running' };
	return failed(
		'Nothing runs under this run ID',
		'Such an ID is left over of a decision, or of a message that was refused. Take the runId of the run itself.',
	);
}

/** The result of a run that has ended, once the server has stored its message. */
async function readEnded(
	run: RunClient,
	{ status }: RunRecord,
	facts: ConversationFacts,
): Promise<RunState> {
	if (status === 'interrupted') return await readInterrupted(run, facts);
	const { message, failure } = await findAnswer(run, facts.conversationIds, run.runId);
	if (failure) return { status: 'unread', failure };
	// The server hides the conversation of another owner, but not its runs.
	if (!message) return (await replay(run)) ?? noAnswer();
	if (message.status === 'thinking') return { status: 'running' };
	const events = new RunEvents(run.runId);
	events.readContent(message.content);
	const error = status === 'timeout' ? 'it took longer than the server allows' : undefined;
	const ended = status === 'timeout' ? 'error' : status;
	events.end = { status: ended, error: message.error ?? error, tasks: [] };
	if (ended === 'error') return resultFromEvents(events);
	events.usage = await readUsage(run);
	const result = resultFromEvents(events);
	const isRejected = events.answer === '' && (await endsWithCall(run));
	return result.status === 'completed' && isRejected ? { ...result, rejected: true } : result;
}

/** Whether the last message of a thread is a tool call, as after a rejection (recorded). */
async function endsWithCall(run: RunClient): Promise<boolean> {
	const { answer: state } = await readThread(run, run.threadId);
	const last = afterLastUserMessage(messagesOf(state)).at(-1);
	return last !== undefined && callsTool(last);
}

/**
 * An interrupted run waits for a person, was cancelled, or had ended before it was cancelled. Only the last run of a
 * thread can wait; the stream tells the other two apart (recorded).
 */
async function readInterrupted(run: RunClient, facts: ConversationFacts): Promise<RunState> {
	const { answer: runs, failure } = await listRuns(run, run.threadId);
	if (failure) return { status: 'unread', failure };
	const isLast = newestRun(runs)?.run_id === run.runId;
	if (isLast && waitsForPerson(facts)) {
		const parts = { output: '', otherParts: [], parts: [] };
		return { status: 'interrupted', interrupt: facts.tasks, ...parts };
	}
	const replayed = await replay(run);
	if (replayed && replayed.status !== 'interrupted') return replayed;
	if (isLast) return runCancelled(facts.error);
	return failed('The run was cancelled, or the thread has gone on without a decision');
}

/** Limit for the replay of a stream: a stream that is no longer stored stays open and silent. */
const REPLAY_MS = 5_000;

/** The result of an ended run from its stream; undefined if the stream is no longer stored. Never throws. */
export async function replay(run: RunClient): Promise<RunResult | undefined> {
	const events = new RunEvents(run.runId);
	const abort = new AbortController();
	run.clock.later(REPLAY_MS, () => abort.abort());
	await run.send(joinRun(run, events, abort.signal));
	return events.isComplete && events.isWhole ? resultFromEvents(events) : undefined;
}

/** Limit for all requests that cancel an abandoned run. */
const CANCEL_LIMIT_MS = 10_000;

/**
 * Cancels a run only if it is running: the server also marks a finished run as cancelled (recorded). If the run ends
 * meanwhile, its stream gives the result. Never throws.
 *
 * @returns the status `cancelled` if the run was cancelled, otherwise its state
 */
export async function cancelRunById(run: RunClient): Promise<RunState> {
	const { answer: record, failure } = await readRun(run);
	if (failure) return { status: 'unread', failure };
	if (stageOf(record) === 'ended') return await readRunState(run);
	return (await cancelRunning(run)) ?? { status: 'cancelled' };
}

/** Cancels a running run. @returns its result if it completed before the cancellation, or why it was not cancelled */
export async function cancelRunning(run: RunClient): Promise<RunState | undefined> {
	const { failure } = await requestCancel(run);
	if (failure) {
		const after = isTransient(failure) ? await readRun(run) : undefined;
		if (after?.answer?.status !== 'interrupted') return { status: 'unread', failure };
	}
	const replayed = await replay(run);
	return replayed?.status === 'completed' ? replayed : undefined;
}

/**
 * Cancels a run that nobody waits for any more, if the user wants that; the result says so. Never throws.
 *
 * @param find looks the run up, if it may have started although no run ID was answered
 */
export async function abandonRun(
	run: Client & Pick<Run, 'threadId' | 'whenGivenUp'>,
	result: RunState,
	find?: (client: Client) => Promise<string | undefined>,
): Promise<RunState> {
	const { clock, signal, sendUnlimited, threadId, whenGivenUp } = run;
	const isGivenUp = signal?.aborted || result.status === 'timedOut';
	if (!isGivenUp || whenGivenUp !== 'cancel') return result;
	const send: Send = async (request) => await sendUnlimited({ ...request, afterStop: true });
	const deadline = clock.now() + CANCEL_LIMIT_MS;
	const late = withDeadline({ send, clock, deadline, signal: undefined });
	const runId = result.runId ?? (await find?.(late));
	if (runId === undefined) return result;
	const advice = cancelAdvice(await cancelRunById({ ...late, threadId, runId }));
	return { ...result, runId, advice } as NoAnswer;
}

function cancelAdvice(state: RunState): string {
	if (state.status === 'cancelled') return 'It was cancelled on the server.';
	if (state.status !== 'unread') return 'It had ended by then: read the thread.';
	return `It could not be cancelled, and goes on: ${failureMessage(state.failure)}. Read the thread later.`;
}

/** A run is cancelled only if it started at least this many silence limits ago. */
const MIN_AGE_FACTOR = 3;

/** Failures of a stream that was open, or may have been. */
const STREAM_BREAKS = new Set(['network', 'timeout', 'cancelled']);

/**
 * Watches the run that blocks a thread. A run whose server was killed stays `running` and its stream sends only
 * heartbeats, as while a model thinks (recorded). Only the time since the last event tells them apart.
 */
export class SilenceWatch {
	/** ID of the run that was cancelled. */
	cancelledRun?: string;
	private watched?: { run: RunRecord; events: RunEvents; lastEventAt: number; refusedAt: number };
	/** Ends the stream that is open. */
	private abort?: AbortController;

	constructor(private readonly run: Run) {}

	/** Joins the stream of this run, unless it is open. A stream that broke goes on where it broke. */
	watch(run: RunRecord): void {
		const { clock, send, threadId } = this.run;
		if (this.watched?.run.run_id !== run.run_id) {
			this.end();
			const events = new RunEvents(run.run_id);
			this.watched = { run, events, lastEventAt: clock.now(), refusedAt: 0 };
		}
		if (this.abort) return;
		const { watched } = this;
		const abort = new AbortController();
		this.abort = abort;
		const ids = { threadId, runId: run.run_id };
		const onEvent: RunEvents['addEvent'] = (event) => {
			const { lastId } = watched.events;
			watched.events.addEvent(event);
			if (watched.events.lastId !== lastId) watched.lastEventAt = clock.now();
		};
		void send(joinRun(ids, watched.events, abort.signal, onEvent)).then(({ failure }) => {
			if (this.abort === abort) this.abort = undefined;
			if (failure && !STREAM_BREAKS.has(failure.kind)) watched.refusedAt = clock.now();
		});
	}

	/** The watched run and the time since its last event. */
	get blocker(): Blocker | undefined {
		if (!this.watched) return undefined;
		const { run, lastEventAt } = this.watched;
		return { run, silentMs: this.run.clock.now() - lastEventAt };
	}

	/** Cancels the watched run if it exceeds the silence limit and is not inside a tool call. */
	async cancelSilent(): Promise<void> {
		const { cancelSilentMs: limit, clock } = this.run;
		const { watched } = this;
		if (limit === 0 || !watched || watched.events.isInToolCall) return;
		// Where the stream cannot be had, the run may speak unheard.
		if (clock.now() - Math.max(watched.lastEventAt, watched.refusedAt) < limit) return;
		const { run_id: runId, created_at: startedAt } = watched.run;
		const isYoung = clock.now() - Date.parse(startedAt) < MIN_AGE_FACTOR * limit;
		if (isYoung || runId === this.cancelledRun) return;
		const { status } = await cancelRunById({ ...this.run, runId });
		if (status === 'cancelled') this.cancelledRun = runId;
	}

	/** Stops watching. */
	end(): void {
		this.abort?.abort();
		this.abort = undefined;
	}
}
