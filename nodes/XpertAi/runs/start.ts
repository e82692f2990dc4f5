import { randomUUID } from 'crypto';
import { difference, differenceBy, maxBy } from 'lodash';

import { derivedId } from '../payloads/common';
import { RunEvents } from '../threads/runEvents';
import {
	createConversation,
	findAnswer,
	joinRun,
	learnOwner,
	listRuns,
	newestOf,
	proveOwner,
	readConversation,
	readRun,
	readThread,
	requestOf,
	runSortKey,
	SETTLING_MS,
	stageOf,
	startedRuns,
	startRun,
	taskValues,
	threadOfRun,
	waitsForPerson,
} from '../threads/thread';
import type { Owner, RunIds, RunRecord } from '../threads/thread';
import type { ApiClient } from '../transport/call';
import { FIRST_PAUSE_MS } from '../transport/clock';
import {
	failureMessage,
	isNeverSent,
	isNoRoute,
	isRejection,
	isTokenRefused,
	isTransient,
	mayMeanNoRecord,
} from '../transport/failure';
import type { Failure } from '../transport/failure';
import {
	abandonRun,
	busy,
	cancelRunById,
	cancelRunning,
	conversationOf,
	executionStopped,
	failed,
	followedRun,
	mayHaveArrived,
	messageMarkOf,
	neverRan,
	NOTHING_TO_DECIDE,
	repeated,
	runCancelled,
	stillBusy,
	timedOut,
	withMessageMark,
	withTarget,
} from './run';
import type { Client, Following, NoAnswer, Run, RunBody } from './run';

/** How many times `openNew` tries to create a conversation (E13) while the outcome is unknown. */
const CREATE_TRIES = 3;

/** The IDs of a thread and its conversation, or why there is no conversation. */
type Opened = { threadId: string; conversationId: string } | NoAnswer;

const failedBy = (failure: Failure, threadId?: string): NoAnswer => ({
	status: failure.kind === 'cancelled' ? 'cancelled' : 'failed',
	failure,
	threadId,
});

/**
 * Creates a conversation (E13) on a thread ID that nobody uses yet. If the answer is lost, looks the conversation up
 * before it sends again, so that it does not create two. Never throws.
 */
export async function openNew(
	client: ApiClient,
	threadId: string,
	title?: string,
): Promise<Opened> {
	for (let tries = 1; ; tries++) {
		const created = await createConversation(client, { title, threadId });
		if (created.ok) return { threadId, conversationId: created.answer.id };
		const { failure, mayBeDone } = created;
		if (!mayBeDone) return failedBy(failure, threadId);
		const { failure: unread, conversationId } = await readConversation(client, threadId);
		if (conversationId) return { threadId, conversationId };
		if (unread || tries >= CREATE_TRIES || client.signal?.aborted)
			return failedBy(failure, threadId);
	}
}

/** The conversation of a key: what its IDs are derived from, and its title. */
interface KeyedConversation {
	/** ID derived from the assistant and the key. */
	keyId: string;
	title?: string;
	/** The owner of the token, kept in this process for each server and token; `openByKey` sets the owner's ID. */
	owner: Owner;
	/** ID of the n8n credential, used if the server names no owner or ignores owners. */
	credentialId: string;
}

/**
 * Finds or creates the conversation of a key. Its thread ID and conversation ID are derived from the assistant, the key
 * and the owner of the token. So processes that create the conversation at the same time all get the same one
 * (recorded, `conversation-by-id`). Without an owner, only the thread ID is derived, from the credential instead. Never
 * throws.
 */
export async function openByKey(client: Client, keyed: KeyedConversation): Promise<Opened> {
	const { owner } = keyed;
	if (owner.id === undefined) {
		// If the owner stays unknown, fail: with another owner, the key would get a second conversation.
		const learn = async () => await learnOwner(client, owner);
		const unread = await repeated(client, learn, (failure) => !failure || isFinal(failure));
		if (unread) return failedBy(unread);
	}
	const opened = owner.id ? await openOwned(client, keyed, owner.id) : undefined;
	return opened ?? (await openUnowned(client, keyed));
}

/** Whether a retry cannot help: the request cannot be sent, is redirected, or its token is rejected. */
const isFinal = (failure: Failure) =>
	isNeverSent(failure) || failure.kind === 'redirect' || isTokenRefused(failure);

/**
 * Finds or creates the conversation of a key and an owner.
 *
 * @returns undefined if the server does not show conversations that were created with this owner
 */
async function openOwned(
	client: Client,
	{ keyId, title, owner }: KeyedConversation,
	createdById: string,
): Promise<Opened | undefined> {
	const threadId = derivedId(keyId, createdById);
	const found = await readConversation(client, threadId);
	if (found.failure) return failedBy(found.failure, threadId);
	if (found.conversationId) return { threadId, conversationId: found.conversationId };
	const id = derivedId(threadId, 'conversation');
	const wanted = { id, threadId, title, createdById };
	const { failure: refusal } = await createConversation(client, wanted);
	if (refusal && !isRejection(refusal)) return failedBy(refusal, threadId);
	// The server also rejects the request if another process has created the conversation meanwhile: look it up.
	const { failure, conversationId } = await (refusal
		? readConversation(client, threadId)
		: proveOwner(client, owner, threadId));
	if (conversationId) return { threadId, conversationId };
	const reason = failure ?? refusal;
	if (reason) return failedBy(reason, threadId);
	return owner.id ? { threadId, conversationId: id } : undefined;
}

/**
 * Finds or creates the conversation of a key without an owner. If the thread exists, but the server shows the token no
 * conversation on it, the thread belongs to somebody else.
 */
async function openUnowned(client: Client, keyed: KeyedConversation): Promise<Opened> {
	const { keyId, title, credentialId } = keyed;
	const threadId = derivedId(keyId, `credential ${credentialId}`);
	const { failure, conversationId } = await readConversation(client, threadId);
	if (failure) return failedBy(failure, threadId);
	if (conversationId) return { threadId, conversationId };
	const { failure: unread } = await readThread(client, threadId);
	if (!unread) return { ...SOMEBODY_ELSES, threadId };
	if (mayMeanNoRecord(unread)) return await openNew(client, threadId, title);
	return failedBy(unread, threadId);
}

const SOMEBODY_ELSES = failed(
	'The conversation of this key belongs to somebody else',
	'Nothing was sent. Choose another "Conversation Key", such as one that begins with the name of the workflow.',
);

/**
 * Explains why a run cannot start: the thread is unknown if the server shows the token no conversation on the thread.
 *
 * @param otherwise the result if the thread is known
 * @returns the explanation, or `otherwise`. If the lookup fails: `otherwise` if it contains a failure, or else the
 * failure of the lookup
 */
export async function explainUnreadable(run: Run, otherwise: NoAnswer): Promise<NoAnswer> {
	const { failure, conversationId } = await conversationOf(run);
	if (failure && !otherwise.failure) return failedBy(failure);
	if (failure || conversationId) return otherwise;
	const advice = 'Check "Thread": it takes a threadId, not a conversationId, of the same token.';
	return {
		...failed('There is no conversation with this thread', advice),
		failure: otherwise.failure,
	};
}

/** The result if the server rejected a run. A 500 may mean that the thread is unknown, so the thread is looked up. */
export async function explainRefusal(run: Run, failure: Failure): Promise<NoAnswer> {
	const refused: NoAnswer = { status: 'failed', failure };
	const mayBeUnknown = mayMeanNoRecord(failure) && failure.missing !== 'record';
	return run.isNew || !mayBeUnknown ? refused : await explainUnreadable(run, refused);
}

/**
 * A place in the queue of a thread, which all executions of this process share. When the place becomes the first,
 * `isReached` is set and `reached` resolves; `end` then lets the next place become the first.
 */
export type Turn = ReturnType<typeof takeTurn>;

/**
 * For each thread ID, a promise that resolves when the last turn in its queue has ended. Threads of two servers with
 * the same ID share a queue. This does no harm: their runs merely wait for each other.
 */
const lastTurns = new Map<string, Promise<void>>();

/** Adds a turn at the end of the queue of a thread, and returns the turn. The caller must call `end` of the turn. */
export function takeTurn(threadId: string) {
	const before = lastTurns.get(threadId);
	let end!: () => void;
	const ended = new Promise<void>((resolve) => (end = resolve));
	const turn = { isReached: before === undefined, reached: Promise.resolve(before), end };
	// Even if this turn ends before it is reached, the next turn still waits for all turns before this one.
	const passed = turn.reached.then(async () => {
		turn.isReached = true;
		await ended;
		if (lastTurns.get(threadId) === passed) lastTurns.delete(threadId);
	});
	lastTurns.set(threadId, passed);
	return turn;
}

/**
 * Waits until a turn is reached, the deadline expires or the execution is stopped. Does not wait if `whenBusy` is `run`
 * or `fail`.
 *
 * @returns undefined if the run may start, otherwise why not
 */
export async function waitForTurn(turn: Turn, client: Client, whenBusy: Run['whenBusy']) {
	if (turn.isReached || whenBusy === 'run') return undefined;
	if (whenBusy === 'fail') return busy();
	const { clock, signal } = client;
	const done = new AbortController();
	const stop = signal ? AbortSignal.any([signal, done.signal]) : done.signal;
	await Promise.race([turn.reached, clock.sleep(client.remaining(), stop)]);
	done.abort();
	if (signal?.aborted) return executionStopped();
	return turn.isReached ? undefined : stillBusy();
}

/*
 * How a run starts. The workers of n8n share only the Xpert AI server, which accepts two runs on a thread at once but
 * then loses messages. So the server's list of runs serves as the lock (recorded, turns.json):
 *
 * 1. Wait until no run of the thread is running.
 * 2. Start in the background, then read the list again: it always contains every run that started earlier.
 * 3. If an older run is running, or completed after the new run started, the new run yields: the node cancels the new
 *    run, and starts it again once the thread is free and the older answer is stored. If two start times are equal, the
 *    run with the lower ID counts as the older.
 *
 * If the new run has ended before it could yield, its result is kept: starting it again would do its work twice.
 */

/** A run that has started. */
export interface StartedRun extends RunIds, Following {}

/** What to send once the thread is free, and what is needed to find the run if the answer is lost. */
interface Plan {
	body: RunBody;
	/** The runs of the thread before this one. */
	before: RunRecord[];
	messageMark?: string;
	/** For a decision: the record of the waiting run before the decision was sent. `decided` are the tasks it is about. */
	waitingRun?: RunRecord;
	decided?: unknown[];
}

/**
 * Starts a run once the thread is free, unless `whenBusy` says otherwise, and yields to an older run. Never repeats a
 * start that may have reached the server. Never throws.
 *
 * @returns the IDs of the started run, or why no run was started
 */
export async function startInTurn(run: Run): Promise<StartedRun | NoAnswer> {
	for (;;) {
		const before = run.isNew ? [] : await waitUntilFree(run);
		if ('status' in before) return before;
		const plan = await planFor(run, before);
		if ('status' in plan) return plan;
		if (run.signal?.aborted) return executionStopped();
		if (run.remaining() <= 0) return timedOut('The run had not begun');
		const started = await sendOnce(run, { ...plan, before });
		if ('status' in started) return started;
		const needsNoLock = run.isNew || run.intent.kind === 'decision' || run.whenBusy === 'run';
		if (needsNoLock || isElsewhere(run, started) || !(await yieldsToOlder(run, started))) {
			const { threadId, runId } = started;
			Object.assign(run.facts, { threadId, runId });
			return started;
		}
		if (run.whenBusy === 'fail') return busy();
		await run.wait(FIRST_PAUSE_MS);
	}
}

/**
 * Whether the server has put a run on another thread than the requested one (recorded, `one-key-two-processes-moved`).
 */
export const isElsewhere = (run: Run, started: Pick<StartedRun, 'threadId'>) =>
	started.threadId.toLowerCase() !== run.threadId.toLowerCase();

/** How long to retry if the list of runs was never read: the address may be wrong, or that of another server. */
const UNREACHABLE_MS = 60_000;

/**
 * Lists the runs of a thread, as no run starts without the list. Retries a temporary failure.
 *
 * @param wasReached whether the list was read before. If so, retries until the deadline. If not, the server may be
 * unreachable or have no list: retries for `UNREACHABLE_MS`, and after a network failure or a missing route not at all
 */
async function listWithRetries(run: Run, wasReached: boolean) {
	const list = async () => await listRuns(run, run.threadId);
	return await repeated(run, list, ({ failure }, waitedMs) => {
		if (!failure || !isTransient(failure)) return true;
		const longestMs = failure.kind === 'network' ? 0 : UNREACHABLE_MS;
		return !wasReached && (waitedMs >= longestMs || isNoRoute(failure));
	});
}

/**
 * The result if the server lacks the routes for background runs. That they are missing is noted for other runs only if
 * the API itself reports it: a proxy may answer the same way while the server is down.
 */
function withoutRoutes({ routes }: Run, failure: Failure): NoAnswer {
	routes.areMissing ||= failure.missing === 'route';
	const advice = 'Use Thread: Ask and Wait, which works on every server.';
	const result = failed('This server starts no runs in the background', advice);
	return { ...result, failure, lacksRoutes: true };
}

/**
 * Waits until no run of the thread is running and the last answer is stored, unless `whenBusy` says otherwise.
 *
 * @returns the runs of the thread, or why the run cannot start
 */
async function waitUntilFree(run: Run): Promise<RunRecord[] | NoAnswer> {
	let watch: ReturnType<typeof watchSilence> | undefined;
	try {
		for (let hasWaited = false; ; hasWaited = true) {
			const { answer: runs, failure } = await listWithRetries(run, hasWaited);
			if (run.signal?.aborted) return executionStopped();
			// Only the first answer can show that the route is missing: a later 404 comes from a proxy whose server is
			// down.
			if (!runs && !hasWaited && isNoRoute(failure)) return withoutRoutes(run, failure);
			if (!runs) return { status: 'failed', failure };
			const blocking = newestOf(runs.filter((one) => stageOf(one) === 'goesOn'));
			if (!blocking || run.whenBusy === 'run') {
				await run.wait(settlingTime(run, runs, hasWaited));
				return runs;
			}
			if (run.whenBusy === 'fail') return busy(blocking);
			if (watch?.runId !== blocking.run_id) {
				watch?.end();
				watch = watchSilence(run, blocking.run_id);
			}
			const silentMs = await watch.look();
			if (run.remaining() <= 0) return stillBusy(blocking, silentMs, run.facts.cancelledRun);
			// No backoff: with growing pauses, the run that waits longest would look least often, and lose to newer
			// runs.
			await run.wait(FIRST_PAUSE_MS);
		}
	} finally {
		watch?.end();
	}
}

/** Kinds of failure that can break an open stream; any other kind means that the join was refused. */
const STREAM_BREAKS = new Set(['network', 'timeout', 'cancelled']);

/**
 * Watches a run that blocks a thread. A run whose server was killed stays `running`, and its stream sends only
 * heartbeats, like the stream of a run whose model is thinking (recorded). Only the time since the last event tells
 * these two runs apart.
 */
function watchSilence({ cancelSilentMs: limit, ...asked }: Run, runId: string) {
	const { clock, facts } = asked;
	const run = { ...asked, runId };
	const events = new RunEvents(runId);
	const abort = new AbortController();
	let isOpen = false;
	let [eventAt, refusedAt] = [clock.now(), 0];
	const addEvent: RunEvents['addEvent'] = (event) => {
		const { lastId } = events;
		events.addEvent(event);
		if (events.lastId !== lastId) eventAt = clock.now();
	};
	const join = () => {
		if (isOpen) return;
		isOpen = true;
		const heard = { lastId: events.lastId, addEvent };
		void run.send(joinRun(run, heard, abort.signal)).then(({ failure }) => {
			isOpen = false;
			if (failure && !STREAM_BREAKS.has(failure.kind)) refusedAt = clock.now();
		});
	};
	/**
	 * Cancels the run once if it has sent no event for `limit` and no tool call is open: a tool may take long.
	 *
	 * @returns the milliseconds since the last event of the run
	 */
	const look = async () => {
		join();
		// After a refused join, silence counts only from the refusal, as events before it may have been missed.
		const isSilent = limit > 0 && clock.now() - Math.max(eventAt, refusedAt) >= limit;
		if (isSilent && !events.isInToolCall && runId !== facts.cancelledRun) {
			const { status } = await cancelRunById(run);
			if (status === 'cancelled') facts.cancelledRun = runId;
		}
		return clock.now() - eventAt;
	};
	return { runId, look, end: () => abort.abort() };
}

/**
 * How many milliseconds to wait until the answer of the run that ended last is stored: the list shows the end of a run
 * before its answer is stored (recorded). The clock of the server may differ a little, so the end may seem to be in the
 * future.
 */
function settlingTime({ clock }: Run, runs: RunRecord[], hasWaited: boolean): number {
	if (hasWaited) return SETTLING_MS;
	const others = runs.filter((one) => stageOf(one) !== 'goesOn');
	const last = maxBy(others, 'updated_at');
	if (last?.run_id === followedRun.runId) return 0;
	const sinceEnd = clock.now() - Date.parse(last?.updated_at ?? '');
	return Math.abs(sinceEnd) < SETTLING_MS ? SETTLING_MS - Math.max(0, sinceEnd) : 0;
}

type Planned = Omit<Plan, 'before'> | NoAnswer;

/**
 * Plans the request. If it is clear before sending that the server cannot process the request, returns the result of the
 * run in place of a plan.
 */
async function planFor(run: Run, before: RunRecord[]): Promise<Planned> {
	const { kind } = run.intent;
	const last = newestOf(before);
	if (kind === 'message') {
		const messageMark = run.isNew ? undefined : randomUUID();
		const body = messageMark ? withMessageMark(run.body, messageMark) : run.body;
		const waiting = last?.status === 'interrupted' ? await conversationOf(run) : { tasks: [] };
		if (waitsForPerson(waiting)) run.facts.discarded = waiting.tasks.map(requestOf);
		return { body, messageMark };
	}
	// If the thread has no question yet, the server would reject the request and keep the thread busy for ever
	// (recorded).
	if (!last) return await explainUnreadable(run, neverRan(kind));
	const body = { assistant_id: last.assistant_id, ...run.body };
	if (kind === 'decision') return await planDecision(run, body, last);
	// If the only run of a thread has not ended, the server does not answer the question again (recorded), so fail.
	if (stageOf(last) !== 'goesOn' || startedRuns(before).length > 1) return { body };
	const advice = `Cancel the run ${last.run_id} with Thread: Cancel Run, and ask again with Thread: Ask and Wait.`;
	return failed('The first question of this thread has not ended', advice);
}

/**
 * Plans a decision: checks that the last run waits, and targets the decision at this run, so that the run keeps its ID.
 */
async function planDecision(run: Run, body: RunBody, waitingRun: RunRecord): Promise<Planned> {
	if (waitingRun.status !== 'interrupted') return NOTHING_TO_DECIDE;
	const conversation = await conversationOf(run);
	const { tasks, failure, error } = conversation;
	if (failure) return { status: 'failed', failure };
	if (tasks.length === 0) return NOTHING_TO_DECIDE;
	// The server would run the tool calls even if the waiting run was cancelled, so fail. An error of the conversation
	// may come from another run, so the message of the waiting run decides (recorded).
	const stored = error ? await findAnswer(run, conversation, waitingRun.run_id) : undefined;
	if (stored?.failure) return { status: 'failed', failure: stored.failure };
	if (stored?.message?.status === 'aborted') return runCancelled(stored.message.error ?? error);
	// If the changed arguments name a call that does not wait, the server would run the waiting calls with their old
	// arguments (recorded), so fail.
	const calls = taskValues('call.id', tasks);
	if (difference(run.intent.changes, calls).length > 0) return CALLS_NOT_WAITING;
	return { body: withTarget(body, waitingRun.run_id), waitingRun, decided: tasks };
}

/** Also the result of a second change: once arguments were changed, the server lists no calls (recorded). */
const CALLS_NOT_WAITING = failed(
	'"Changed Arguments" names a call that does not wait',
	'Nothing was decided. It takes the callId of each call in interrupt. If arguments were changed before, leave it empty to confirm them.',
);

/** Sends the request; repeats it only if it certainly had no effect. If the answer is lost, looks for the run. */
async function sendOnce(run: Run, plan: Plan): Promise<StartedRun | NoAnswer> {
	const { waitingRun, decided } = plan;
	const { kind } = run.intent;
	const sent = await startRun(run, run.threadId, plan.body);
	if (sent.ok) {
		const { run_id: joinId, thread_id: threadId = run.threadId } = sent.answer;
		return { threadId, runId: waitingRun?.run_id ?? joinId, joinId, decided };
	}
	const { failure, mayBeDone } = sent;
	if (isNoRoute(failure)) return withoutRoutes(run, failure);
	if (!mayBeDone && failure.kind !== 'cancelled') {
		const refused = await explainRefusal(run, failure);
		return waitingRun ? { advice: DECIDE_AGAIN, ...refused } : refused;
	}
	const isDone = (found: string | undefined, waitedMs: number) =>
		found !== undefined || waitedMs >= SEARCH_MS;
	const find = async (client: Client) => {
		const asked = { ...run, ...client };
		return await repeated(asked, async () => await findLost(asked, plan), isDone, FIRST_POLL_MS);
	};
	const runId = await find(run);
	if (runId !== undefined) return { threadId: run.threadId, runId, decided };
	const notArrived = `The decision did not reach the assistant. ${failureMessage(failure)}`;
	const lost = waitingRun
		? { ...failed(notArrived, DECIDE_AGAIN), failure }
		: mayHaveArrived(kind, failure);
	const status = run.remaining() <= 0 ? 'timedOut' : 'failed';
	const isStopped = run.signal?.aborted;
	const result: NoAnswer = isStopped ? executionStopped(failure) : { ...lost, status };
	return await abandonRun(run, result, find);
}

const DECIDE_AGAIN = 'Decide again: what waits still waits.';

/**
 * First pause and time limit of the search for a run whose start was not answered. The list shows such a run at once,
 * and the thread shows its mark within a second (recorded).
 */
const FIRST_POLL_MS = 500;
const SEARCH_MS = 6_000;

/** The ID of a run whose start was not answered; undefined if no run matches, or if several may match. */
async function findLost(run: Run, plan: Plan): Promise<string | undefined> {
	const { messageMark, waitingRun, before } = plan;
	if (waitingRun) {
		// A decision changes the record of the waiting run at once (recorded). If the record is unchanged, no
		// decision has arrived.
		const runId = waitingRun.run_id;
		const { answer: now = waitingRun } = await readRun({ ...run, runId });
		const isDecided = now.status !== 'interrupted' || now.updated_at !== waitingRun.updated_at;
		return isDecided ? runId : undefined;
	}
	const { answer: runs } = await listRuns(run, run.threadId);
	const fresh = differenceBy(startedRuns(runs ?? []), before, 'run_id');
	if (run.isNew) return newestOf(fresh)?.run_id;
	// The thread shows only the mark of its newest question, so the mark cannot identify one of several new runs.
	const [found, ...others] = fresh;
	if (!found || others.length > 0 || !messageMark) return undefined;
	const { answer: state } = await readThread(run, run.threadId, 1);
	return messageMarkOf(state) === messageMark ? found.run_id : undefined;
}

/**
 * Cancels a started run that has not ended, if an older run overlaps with it. If the list lacks the started run, the
 * server may have put it on another thread: sets the thread ID of `started`.
 *
 * @returns whether the run was cancelled
 */
async function yieldsToOlder(run: Run, started: StartedRun) {
	const { runId } = started;
	const listed = await listWithRetries(run, true);
	const own = listed.answer?.find((one) => one.run_id === runId);
	if (listed.ok && !own) started.threadId = await threadOfRun({ ...run, runId });
	if (!own?.assistant_id || stageOf(own) !== 'goesOn') return false;
	const runs = startedRuns(listed.answer ?? []);
	const isOlder = (one: RunRecord) => runSortKey(one) < runSortKey(own);
	const overlaps = (one: RunRecord) =>
		stageOf(one) === 'goesOn' ||
		(one.status === 'success' && (one.updated_at ?? '') >= own.created_at);
	if (!runs.some((one) => isOlder(one) && overlaps(one))) return false;
	return (await cancelRunning({ ...run, runId })) === undefined;
}
