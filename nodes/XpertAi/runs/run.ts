import { cloneDeep, get, isEmpty, isEqual, map, omit, pick, set } from 'lodash';

import { eventsOn, type Listener, type Part, RunEvents, sourcesOf } from '../threads/runEvents';
import {
	endsWithCall,
	findAnswer,
	joinRun,
	listRuns,
	messagesOf,
	newestOf,
	readConversation,
	readRun,
	readThread,
	requestCancel,
	SETTLING_MS,
	stageOf,
	startedRuns,
	taskValues,
	textOf,
	waitsForPerson,
} from '../threads/thread';
import type {
	ConversationFacts,
	RunIds,
	RunRecord,
	ThreadMessage,
	ThreadState,
} from '../threads/thread';
import { API_ROOT } from '../transport/api';
import type { ApiClient } from '../transport/call';
import { FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import { type Failure, failureMessage, isTransient } from '../transport/failure';
import type { Outcome, Send } from '../transport/request';

/* The request that starts a run, and its deadline. */

/** An API client with a deadline for its requests and pauses. */
export interface Client extends ApiClient {
	/** When to give up, in milliseconds since the epoch. */
	deadline: number;
	/** Milliseconds until the deadline, at least 0. */
	remaining: () => number;
	/** Waits for the given milliseconds. Ends early at the deadline, or when the execution is stopped. */
	wait: (ms: number) => Promise<void>;
	/** Sends despite the deadline and `Retry-After`, to cancel a run after the deadline. */
	sendUnlimited: Send;
}

/** A client, with the IDs of one run and the facts about this run. */
export type RunClient = Client & RunIds & Pick<Run, 'facts'>;

/** A run to start, with its settings. */
export interface Run extends Client {
	threadId: string;
	/** Facts collected so far, for the output or the error. */
	facts: RunFacts;
	/** The request body. A message must name an assistant; a decision or a retry uses the assistant of the thread. */
	body: RunBody;
	intent: Intent;
	/** Whether the node created the thread for this run. If true, no other run uses the thread. */
	isNew: boolean;
	/** What to do if another run is active on the thread: wait for its end, fail at once, or run anyway. */
	whenBusy: 'wait' | 'fail' | 'run';
	/** The node cancels a run that blocks the thread after this many milliseconds without an event; 0 means never. */
	cancelSilentMs: number;
	/** Whether the server lacks the routes for background runs. All runs with the same connection share this object. */
	routes: { areMissing: boolean };
	/** Receives the answer in pieces, while the assistant writes it. */
	listener?: Listener;
	/** Whether to start the run and wait for it in one request (E4), for servers without background runs. */
	inOneRequest?: boolean;
	/** What to do with the run on the server when the execution is stopped or the deadline expires. */
	whenGivenUp?: 'leave' | 'cancel';
}

/**
 * The last run whose stream this process read to its end. The server stores the answer before it ends the stream
 * (recorded). So the next run can start at once.
 */
export const followedRun: { runId?: string } = {};

/** Minimum timeout of a request. It allows one last request at the deadline. */
const MIN_TIMEOUT_MS = 1_000;

/**
 * Adds a deadline to a client. Each request times out at the deadline, or after one second if less time is left. After
 * a `Retry-After`, the next request waits. If this wait would end after the deadline, the request fails at once. Sends
 * nothing after the execution was stopped.
 */
export function withDeadline({ send, ...limits }: ApiClient & { deadline: number }): Client {
	const { clock, deadline, signal } = limits;
	const remaining = () => Math.max(0, deadline - clock.now());
	const wait = async (ms: number) => await clock.sleep(Math.min(ms, remaining()), signal);
	/** The failure of the last request, and the earliest time for the next request (`Retry-After`). */
	let refusal: Failure | undefined;
	let earliest = 0;
	const sendInTime: Send = async (request) => {
		const { method, path, apiRoot = API_ROOT } = request;
		const isTooLate = earliest > Math.max(deadline, clock.now());
		const pause = earliest - clock.now();
		if (pause > 0 && !isTooLate) await wait(pause);
		const reason = signal?.aborted ? ({ kind: 'cancelled' } as const) : isTooLate && refusal;
		if (reason) return { ok: false, failure: { ...reason, method, path: apiRoot + path } };
		const totalMs = Math.max(MIN_TIMEOUT_MS, remaining());
		const timeoutMs = Math.min(request.timeoutMs, totalMs);
		const outcome = await send({ ...request, timeoutMs, totalMs });
		refusal = outcome.ok ? undefined : outcome.failure;
		earliest = clock.now() + (refusal?.retryAfterMs ?? 0);
		return outcome;
	};
	return { ...limits, remaining, wait, send: sendInTime, sendUnlimited: send };
}

/**
 * Repeats an attempt with growing pauses. Stops when `isDone` returns true, at the deadline, or when the execution is
 * stopped.
 *
 * @param isDone gets the result of an attempt, and the sum of all pauses so far in milliseconds
 */
export async function repeated<Result>(
	client: Pick<Client, 'remaining' | 'signal' | 'wait'>,
	attempt: () => Promise<Result>,
	isDone: (result: Result, waitedMs: number) => boolean,
	firstPauseMs = FIRST_PAUSE_MS,
): Promise<Result> {
	for (let [pause, waited] = [firstPauseMs, 0]; ; pause = longerPause(pause)) {
		const result = await attempt();
		const isOver = client.remaining() <= 0 || client.signal?.aborted;
		if (isOver || isDone(result, waited)) return result;
		await client.wait(pause);
		waited += pause;
	}
}

/** Reads the conversation of a run's thread. Adds a missing conversation ID to the facts. Never throws. */
export async function conversationOf(run: Client & Pick<Run, 'threadId' | 'facts'>) {
	const found = await readConversation(run, run.threadId);
	run.facts.conversationId ??= found.conversationId;
	return found;
}

/** The request body that starts a run (E4). */
export type RunBody = Record<string, unknown>;

/** What the node sends: a new message, a decision on a waiting run, or a request to answer the last message again. */
export type RunKind = 'message' | 'decision' | 'retry';

const FILES = ['input', 'message', 'input', 'files'];

const withValue = (body: RunBody, path: string[], value: unknown) =>
	set(cloneDeep(body), path, value);

/** Returns a copy of a message body, with file contexts (E12) appended to its files. */
export function withFileContexts(message: RunBody, ids: string[]): RunBody {
	const present: unknown = get(message, FILES) ?? [];
	return withValue(message, FILES, [present, ids.map((fileId) => ({ fileId }))].flat());
}

export interface Intent {
	kind: RunKind;
	/** The text of a message; undefined for a decision or a retry. */
	text?: string;
	rejects?: boolean;
	/** IDs of the tool calls whose arguments a decision changes; undefined if no arguments change. */
	changes?: unknown[];
}

/** Path of the changed arguments in a decision. */
const PATCH = ['input', 'patch'];

/**
 * Key of the mark, a random ID that the node adds to a message. If the server's answer is lost, the mark identifies the
 * run. Models do not get the mark. A thread shows only the mark of its newest message (recorded).
 */
const MARK = 'n8nMark';

/** Keys in the input of a message that do not hold filter values. */
export const MESSAGE_KEYS = ['input', 'files', 'references', 'clientMessageId', MARK];

/** Returns the filter values of a message body by key. */
export const filterValuesIn = (body: RunBody): object =>
	omit(get(body, ['input', 'message', 'input']) ?? {}, MESSAGE_KEYS);

export const withMessageMark = (message: RunBody, mark: string) =>
	withValue(message, ['input', 'message', 'input', MARK], mark);

/** Returns the mark that the node added to the newest user message on a thread, if any. */
export const messageMarkOf = (state: ThreadState | undefined): unknown =>
	get(state, `values.human.${MARK}`);

/** Returns a copy of a decision without the changed arguments. */
export const withoutChanges = (decision: RunBody) => withValue(decision, PATCH, undefined);

/** Returns a copy of a decision that targets the waiting run. The run then keeps its ID (recorded). */
export const withTarget = (decision: RunBody, runId: string) =>
	withValue(decision, ['input', 'target'], { executionId: runId });

export function intentOf(kind: RunKind, body: RunBody): Intent {
	const calls: unknown = get(body, [...PATCH, 'toolCalls']);
	return {
		kind,
		text: get(body, ['input', 'message', 'input', 'input']) as string | undefined,
		rejects: get(body, ['input', 'decision', 'type']) === 'reject',
		changes: isEmpty(calls) ? undefined : map(calls as unknown[], 'id'),
	};
}

/* The results of a run, with the messages for the user. */

type Answer = Pick<RunEvents, 'output' | 'otherParts' | 'parts' | 'usage'> & {
	/** ID of the assistant's last text. The thread's message with this text has the same ID. */
	answerId?: string;
	/** Parts of all runs on the thread. Set only if the answer links to passages that this run did not find. */
	earlier?: Part[];
};

/** The IDs of a run, and the tasks and runs that its start ended. */
export interface RunFacts {
	threadId?: string;
	conversationId?: string;
	runId?: string;
	/** Requests of waiting tasks that this message discarded, in the format of `requestOf`. */
	discarded?: unknown[];
	/** ID of a blocking run that the node cancelled after a time without events. */
	cancelledRun?: string;
}

export interface NoAnswer extends RunFacts {
	/** `cancelled` if the execution was stopped, or if `cancelRunById` cancelled the run. */
	status: 'failed' | 'timedOut' | 'cancelled';
	/** Message for the user; if unset, the message of `failure` is used. */
	reason?: string;
	/** What the user can do next. Default if `reason` is set: read the thread. */
	advice?: string;
	failure?: Failure;
	/** The answer text of E4, if the node could not compare it with the thread. */
	unverified?: string;
	/** Set if the server lacks the routes for background runs. */
	lacksRoutes?: true;
}

export interface Completed extends Answer, RunFacts {
	status: 'completed';
	/** Set if a decision rejected the waiting tool calls. */
	rejected?: true;
	/** Set if the thread lacks the answer. The assistant will not remember this answer. */
	remembered?: false;
}

export interface Interrupted extends Answer, RunFacts {
	status: 'interrupted';
	/** The tasks that wait for a decision. */
	interrupt: unknown[];
}

export type RunResult = Completed | Interrupted | NoAnswer;

/** The state of a run is unknown, because a request failed. `isThere` is true if the run certainly exists. */
interface Unread extends RunFacts {
	status: 'unread';
	failure: Failure;
	isThere?: boolean;
}

/** The result or state of a run. A run stays `running` until the server has stored its answer. */
export type RunState = RunResult | (RunFacts & { status: 'running' }) | Unread;

/** Returns the result of an ended run from its events. */
export function resultFromEvents(events: RunEvents): RunResult {
	const { status, error, tasks, agentStatus, isLeftOver } = events.end;
	const answer = pick(events, ['output', 'otherParts', 'parts', 'usage', 'answerId']);
	if (status === 'error') return runFailed(error);
	if (status !== 'interrupted') return { status: 'completed', ...answer };
	if (waitsForPerson(events.end)) return { status, interrupt: tasks, ...answer };
	// Another run on the thread may cause this status when it is cancelled (recorded). This run has completed if its
	// own agent succeeded, or if the only open task belongs to the cancelled run.
	const isDone = agentStatus === 'success' || (isLeftOver && !error);
	return isDone ? { status: 'completed', ...answer } : runCancelled(error);
}

/**
 * Returns the result of a failed run.
 *
 * @param reason why the run failed, as a message for the user
 * @param advice what the user can do next
 */
export function failed(reason: string, advice?: string): NoAnswer {
	return { status: 'failed', reason, advice };
}

/** Returns the result of a failed run, with the server's reason. */
export const runFailed = (error?: string | null) =>
	failed(`The run failed: ${error || 'the server gave no reason'}`);

/** Returns the result of a run that somebody cancelled on the server. */
export const runCancelled = (error = 'the server does not say why') =>
	failed(`The run was cancelled on the server: ${error}`);

export const WITHOUT_ANSWER = failed(
	'The run ended without an answer, and the server does not say why',
);

/** The result if the user stopped the execution. */
export const executionStopped = (failure?: Failure): NoAnswer => ({
	status: 'cancelled',
	reason: 'The execution was canceled',
	failure,
});

/** The result if no task waits for a decision. The server would answer a decision with an empty or old answer. */
export const NOTHING_TO_DECIDE = failed(
	'Nothing on this thread waits for a decision',
	'Only a run that comes out with the status "interrupted" can be decided, and only once.',
);

/** Returns the result for a thread without any run. */
export function neverRan(kind: RunKind): NoAnswer {
	if (kind === 'decision') return NOTHING_TO_DECIDE;
	const advice = 'Check "Thread", and say something on it with Thread: Ask and Wait first.';
	return failed('Nothing was said on this thread that could be answered again', advice);
}

const HANGING_ADVICE =
	'If its server was restarted, the run may never end: end it with Thread: Cancel Run, or set "When the Thread Is Busy" to "Run Anyway".';

/** Returns the result if the thread is busy and the user chose not to wait. */
export const busy = (blocking?: RunRecord) =>
	failed(`Another run is active on this thread${describe(blocking)}`, HANGING_ADVICE);

/**
 * Returns the result if another run was active on the thread until the deadline.
 *
 * @param blocking the other run, if known
 * @param silentMs milliseconds since the last event of the other run
 * @param cancelledRun ID of a silent run that the node cancelled
 */
export function stillBusy(blocking?: RunRecord, silentMs = 0, cancelledRun?: string): NoAnswer {
	const cancelled = cancelledRun ? `The silent run ${cancelledRun} was cancelled. ` : '';
	const silence = `, without a sign for ${Math.round(silentMs / 1000)} s`;
	const what = `Another run was still active on the thread${describe(blocking, silence)}`;
	return { ...timedOut(what, cancelled + HANGING_ADVICE), cancelledRun };
}

const describe = (run?: RunRecord, silence = ''): string =>
	run ? ` (${run.run_id}, since ${run.created_at}${silence})` : '';

export function timedOut(what: string, advice?: string): NoAnswer {
	return { ...failed(`${what} when the deadline came`, advice), status: 'timedOut' };
}

export const STILL_RUNNING = timedOut(
	'The run was still going on',
	`Raise "Deadline (Minutes)", or look later with Thread: Get Run or Get. ${HANGING_ADVICE}`,
);

/** Returns the result if it is unknown whether the request reached the assistant. */
export function mayHaveArrived(kind: RunKind, failure: Failure): NoAnswer {
	const advice = 'Read the thread before you send it again: the run may still start.';
	const what = kind === 'retry' ? 'request' : kind;
	const reason = `It is not known whether the ${what} has reached the assistant`;
	return { ...failed(`${reason}. ${failureMessage(failure)}`, advice), failure };
}

/* Operations on a run by its ID: read, follow and cancel. */

/**
 * Reads the state of a run from its record. For an ended run, also reads the answer from the conversation, or else from
 * the stream. Never throws.
 */
async function readRunState(run: RunClient): Promise<RunState> {
	const { answer: record, failure: unread } = await readRun(run);
	if (unread) return { status: 'unread', failure: unread };
	const { status } = record;
	if (stageOf(record) !== 'ended') return { status: 'running' };
	const facts = await conversationOf(run);
	if (facts.failure) return { status: 'unread', failure: facts.failure, isThere: true };
	if (status === 'interrupted') return await readInterrupted(run, facts);
	const { message, failure } = await findAnswer(run, facts, run.runId);
	if (failure) return { status: 'unread', failure, isThere: true };
	// The server hides the conversations of other owners, but not the streams of their runs.
	if (!message) return (await replay(run)) ?? WITHOUT_ANSWER;
	if (message.status === 'thinking') return { status: 'running' };
	if (status !== 'success') return runFailed(message.error ?? status);
	const events = new RunEvents(run.runId);
	events.readContent(message.content);
	const result = resultFromEvents(events);
	if (result.status !== 'completed' || result.output !== '') return result;
	const { answer: state } = await readThread(run, run.threadId);
	return endsWithCall(messagesOf(state)) ? { ...result, rejected: true } : result;
}

/**
 * Returns the result of an `interrupted` run, which waits for a person or was cancelled. Only the last run of a thread
 * can wait. If a run was cancelled after its end, its stream still shows the end (recorded).
 */
async function readInterrupted(run: RunClient, facts: ConversationFacts): Promise<RunState> {
	const { answer: runs, failure } = await listRuns(run, run.threadId);
	if (failure) return { status: 'unread', failure, isThere: true };
	const isLast = newestOf(runs)?.run_id === run.runId;
	if (isLast && waitsForPerson(facts)) {
		const parts = { output: '', otherParts: [], parts: [] };
		return { status: 'interrupted', interrupt: facts.tasks, ...parts };
	}
	const replayed = await replay(run);
	if (replayed && replayed.status !== 'interrupted') return replayed;
	if (isLast) return runCancelled(facts.error);
	return failed('The run was cancelled, or the thread has gone on without a decision');
}

/** Time limit for reading the stream of an ended run. A stream that is no longer stored stays open without events. */
const REPLAY_MS = 5_000;

/**
 * Reads the result of an ended run from its stream. Never throws.
 *
 * @returns undefined if the node cannot read the whole stream, e.g. because the server no longer stores it
 */
async function replay(run: RunClient): Promise<RunResult | undefined> {
	const events = new RunEvents(run.runId);
	const abort = new AbortController();
	run.clock.later(REPLAY_MS, () => abort.abort());
	await run.send(joinRun(run, events, abort.signal));
	run.facts.conversationId ??= events.conversationId;
	return events.isComplete && events.isWhole ? resultFromEvents(events) : undefined;
}

export interface Following {
	/** Run ID of the stream to read; default: the run's own ID. The server may give a decision a different run ID. */
	joinId?: string;
	/** The tasks that waited for the decision; undefined without a decision. */
	decided?: unknown[];
}

/**
 * Follows a run until it ends or waits for a person. Stops early at the deadline, or when the execution is stopped.
 * Reconnects if the stream breaks. Reads the run record if the stream gives no result. Never throws.
 */
export async function waitForRunResult(
	run: RunClient & Pick<Run, 'listener'>,
	{ joinId = run.runId, decided }: Following = {},
): Promise<RunResult> {
	const { facts, listener } = run;
	// After a decision, the stream may first repeat older events, which the listener must not get.
	const events = new RunEvents(run.runId, decided ? undefined : listener);
	if (decided) events.readTasks(decided);
	for (let pause = FIRST_PAUSE_MS; ; ) {
		const { lastId } = events;
		await join(run, joinId, events);
		facts.conversationId ??= events.conversationId;
		if (events.isComplete && decided && (await isBeforeDecision(run, events, decided))) {
			events.resume(listener);
			continue;
		}
		// A stream with a different ID may belong to another run, so read the run record instead.
		if (events.isComplete && events.isWhole && joinId === run.runId) {
			followedRun.runId = run.runId;
			return await resultOfStream(run, events);
		}
		const state = await readRunState(run);
		const failure = 'failure' in state ? state.failure : undefined;
		if (run.signal?.aborted) return executionStopped(failure);
		if (state.status !== 'running' && state.status !== 'unread') return state;
		if (run.remaining() <= 0) return { ...STILL_RUNNING, failure };
		pause = events.lastId === lastId ? longerPause(pause) : FIRST_PAUSE_MS;
		await run.wait(pause);
	}
}

/** Returns the result of a complete stream. If the stream contains no answer, reads the stored message of the run. */
async function resultOfStream(run: RunClient, events: RunEvents): Promise<RunResult> {
	const result = resultFromEvents(events);
	const isSilent = result.status === 'completed' && result.output === '';
	if (!isSilent || result.otherParts.length > 0) return result;
	const read = async () => await findAnswer(run, await conversationOf(run), run.runId);
	const { message, failure } = await repeated(run, read, (found) => !found.failure);
	if (failure)
		return { ...timedOut('The run has ended, but its answer could not be read'), failure };
	const stored = new RunEvents(run.runId);
	stored.readContent(message?.content);
	return { ...result, ...pick(stored, ['output', 'otherParts', 'answerId']) };
}

/**
 * Whether the events so far end at an interruption that already has its decision. A stream first repeats all earlier
 * interruptions of the run (recorded).
 */
async function isBeforeDecision(run: RunClient, { end }: RunEvents, decided: unknown[]) {
	if (end.status !== 'interrupted') return false;
	if (isEqual(taskValues('id', end.tasks), taskValues('id', decided))) return true;
	const state = await readRunState(run);
	const interrupt = 'interrupt' in state ? state.interrupt : [];
	return !isEqual(taskValues('id', end.tasks), taskValues('id', interrupt));
}

/** After this long without an event, the node reads the run record, because the run may have ended. */
const SILENT_STREAM_MS = 10_000;

/**
 * Reads the stream of a run until the stream ends or breaks. If the stream sends no events, checks the run record.
 * Stops if the run has ended, or if reading the record fails permanently. Never throws.
 */
async function join(run: RunClient, joinId: string, events: RunEvents): Promise<Outcome> {
	const [abort, done] = [new AbortController(), new AbortController()];
	const abortIfEnded = async () => {
		for (let pause = SILENT_STREAM_MS; ; pause = longerPause(pause)) {
			const lastId = events.lastId;
			await run.clock.sleep(pause, done.signal);
			if (done.signal.aborted) return;
			if (events.lastId !== lastId) continue;
			const { answer: record, failure } = await readRun(run);
			if (failure ? isTransient(failure) : stageOf(record) !== 'ended') continue;
			await run.clock.sleep(SETTLING_MS, done.signal);
			return abort.abort();
		}
	};
	void abortIfEnded();
	const outcome = await run.send(joinRun({ ...run, runId: joinId }, events, abort.signal));
	done.abort();
	return outcome;
}

/**
 * After this many consecutive reads of an idle thread without the answer, the answer counts as lost. One read is not
 * enough, because the server may not have stored the answer yet.
 */
const IDLE_READS = 2;

/**
 * Compares a completed result with the thread. Adds `remembered: false` if another run overlapped and the thread lacks
 * the answer. Adds `earlier` if the answer links to passages that this run did not find. Never throws.
 */
export async function withThread<State extends RunState>(
	run: RunClient,
	result: State,
): Promise<State> {
	if (result.status !== 'completed' || result.rejected) return result;
	const hasOverlap = await overlapsOthers(run);
	const cited = sourcesOf(result.parts).list(new Set());
	const linksBack = cited.some(({ documentName }) => !documentName);
	if (!hasOverlap && !linksBack) return result;
	let idleReads = 0;
	const read = async () => await readThread(run, run.threadId);
	const { answer: state } = await repeated(run, read, ({ answer }) => {
		if (!answer || !hasOverlap) return true;
		idleReads = answer.status === 'busy' ? 0 : idleReads + 1;
		return holdsAnswer(answer, result) || idleReads >= IDLE_READS;
	});
	if (!state) return result;
	const isLost = hasOverlap && state.status !== 'busy' && !holdsAnswer(state, result);
	const earlier = linksBack ? eventsOn(state, messagesOf(state)).parts : undefined;
	return { ...result, ...(earlier && { earlier }), ...(isLost && { remembered: false }) };
}

/** Whether another run was active on the thread at the same time; false if the runs cannot be listed. */
async function overlapsOthers(run: RunClient) {
	const { answer = [] } = await listRuns(run, run.threadId);
	const runs = startedRuns(answer);
	const own = runs.find((one) => one.run_id === run.runId);
	if (!own) return false;
	const endOf = (one: RunRecord) => (stageOf(one) === 'goesOn' ? '~' : (one.updated_at ?? ''));
	const overlaps = (one: RunRecord) => endOf(one) >= own.created_at && endOf(own) >= one.created_at;
	return runs.some((one) => one !== own && overlaps(one));
}

/**
 * Whether the thread contains the answer. Compares message IDs or, if the answer has no ID, texts. An empty answer
 * counts as contained.
 */
function holdsAnswer(state: ThreadState, { answerId, output }: Completed) {
	const isAnswer = ({ id, content }: ThreadMessage) =>
		answerId === undefined ? textOf(content) === output : id === answerId;
	return output === '' || messagesOf(state).some(isAnswer);
}

/**
 * Reads the state of a run by its ID. If `waits` is true, follows the run to its end. Does not follow a run if its
 * record cannot be read, because the ID may be wrong. Never throws.
 */
export async function readOrFollow(
	run: RunClient & Pick<Run, 'whenGivenUp'>,
	waits: boolean,
): Promise<RunState> {
	// Read the record first, because the server may no longer store the stream of an ended run.
	const state = await readRunState(run);
	const mayGoOn = state.status === 'running' || (state.status === 'unread' && state.isThere);
	const followed = mayGoOn && waits ? await waitForRunResult(run) : state;
	const known = await withThread(run, await abandonRun(run, followed));
	return { ...known, ...run.facts };
}

/** Total time limit for the requests that cancel an abandoned run. */
const CANCEL_LIMIT_MS = 10_000;

/**
 * Cancels a run that has not ended. Reads the record first, because the server would mark even a completed run as
 * cancelled (recorded). Never throws.
 *
 * @returns the status `cancelled` after a cancellation, `unread` if a request failed, or the state of the ended run
 */
export async function cancelRunById(run: RunClient): Promise<RunState> {
	const { answer: record, failure } = await readRun(run);
	if (failure) return { status: 'unread', failure };
	if (stageOf(record) === 'ended') return await readRunState(run);
	return (await cancelRunning(run)) ?? { status: 'cancelled' };
}

/**
 * Cancels a run that has not ended. Never throws.
 *
 * @returns undefined if the run was cancelled, the result if the run completed first, `unread` if the request failed
 */
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
 * Cancels a run after the node stopped waiting for it, if `whenGivenUp` is `cancel`. Never throws.
 *
 * @param find returns the run ID; if the ID is unknown, nothing is cancelled
 * @returns the result. If the node tried to cancel the run, `advice` describes the outcome.
 */
export async function abandonRun<State extends RunState>(
	run: Client & Pick<Run, 'facts' | 'threadId' | 'whenGivenUp'>,
	result: State,
	find: (client: Client) => Promise<string | undefined> = async () => run.facts.runId,
): Promise<State> {
	const { clock, signal, sendUnlimited, facts, threadId, whenGivenUp } = run;
	const isGivenUp = signal?.aborted || result.status === 'timedOut';
	if (!isGivenUp || whenGivenUp !== 'cancel') return result;
	const send: Send = async (request) => await sendUnlimited({ ...request, afterStop: true });
	const deadline = clock.now() + CANCEL_LIMIT_MS;
	const late = withDeadline({ send, clock, deadline, signal: undefined });
	const runId = await find(late);
	if (runId === undefined) return result;
	facts.runId = runId;
	const advice = cancelAdvice(await cancelRunById({ ...late, facts, threadId, runId }));
	return { ...result, advice };
}

function cancelAdvice(state: RunState) {
	if (state.status === 'cancelled')
		return 'It was cancelled on the server. Raise "Deadline (Minutes)" if it needs longer.';
	if (state.status !== 'unread') return 'It had ended by then: read the thread.';
	return `It could not be cancelled, and goes on: ${failureMessage(state.failure)}.`;
}
