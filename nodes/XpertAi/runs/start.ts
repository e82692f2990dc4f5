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

/** How often `openNew` tries to create a conversation (E13) if the server's answers are lost. */
const CREATE_TRIES = 3;

type Opened = { threadId: string; conversationId: string } | NoAnswer;

const failedBy = (failure: Failure, threadId?: string): NoAnswer => ({
	status: failure.kind === 'cancelled' ? 'cancelled' : 'failed',
	failure,
	threadId,
});

/**
 * Creates a conversation (E13) with an unused thread ID. If the answer is lost, searches for the conversation before
 * the next attempt, to avoid a duplicate. Never throws.
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

/** The conversation of the user's "Conversation Key". */
interface KeyedConversation {
	/** ID derived from the assistant and the key. */
	keyId: string;
	title?: string;
	/** The owner of the token, cached in this process. `openByKey` sets the owner's ID. */
	owner: Owner;
	/** ID of the n8n credential, used if the server names no owner or ignores owners. */
	credentialId: string;
}

/**
 * Finds or creates the conversation of a key. Derives its IDs from the assistant, the key and the token's owner. So
 * parallel processes get the same conversation (recorded in `conversation-by-id`). Without an owner, derives only the
 * thread ID, with the credential in place of the owner. Never throws.
 */
export async function openByKey(client: Client, keyed: KeyedConversation): Promise<Opened> {
	const { owner } = keyed;
	if (owner.id === undefined) {
		// Fail if the owner stays unknown. Without the owner, the key would get a second conversation.
		const learn = async () => await learnOwner(client, owner);
		const unread = await repeated(client, learn, (failure) => !failure || isFinal(failure));
		if (unread) return failedBy(unread);
	}
	const opened = owner.id ? await openOwned(client, keyed, owner.id) : undefined;
	return opened ?? (await openUnowned(client, keyed));
}

/** Whether to stop retrying: nothing could be sent, the server redirects, or the token is rejected. */
const isFinal = (failure: Failure) =>
	isNeverSent(failure) || failure.kind === 'redirect' || isTokenRefused(failure);

/**
 * Finds or creates the conversation of a key and an owner.
 *
 * @returns undefined if the server ignores owners (see `proveOwner`)
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
	// A rejection can mean that another process has just created the conversation, so search for it.
	const { failure, conversationId } = await (refusal
		? readConversation(client, threadId)
		: proveOwner(client, owner, threadId));
	if (conversationId) return { threadId, conversationId };
	const reason = failure ?? refusal;
	if (reason) return failedBy(reason, threadId);
	return owner.id ? { threadId, conversationId: id } : undefined;
}

/**
 * Finds or creates the conversation of a key without an owner. If the thread exists but the token cannot see its
 * conversation, the thread belongs to somebody else.
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
 * Checks whether a run cannot start because the thread has no conversation.
 *
 * @param otherwise the result if the thread has a conversation
 * @returns the explanation, or `otherwise`. If the check fails, returns its failure, unless `otherwise` contains a
 * failure.
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

/** Returns the result if the server rejected a run. After a 500, checks whether the thread exists. */
export async function explainRefusal(run: Run, failure: Failure): Promise<NoAnswer> {
	const refused: NoAnswer = { status: 'failed', failure };
	const mayBeUnknown = mayMeanNoRecord(failure) && failure.missing !== 'record';
	return run.isNew || !mayBeUnknown ? refused : await explainUnreadable(run, refused);
}

/**
 * A place in the queue of a thread. All executions in this process share the queue. At the head of the queue,
 * `isReached` becomes true and `reached` resolves. `end` lets the next turn start.
 */
export type Turn = ReturnType<typeof takeTurn>;

/** For each thread ID, a promise that resolves after the last turn in the queue. */
const lastTurns = new Map<string, Promise<void>>();

/** Appends a turn to the queue of a thread. The caller must call `end` on the turn. */
export function takeTurn(threadId: string) {
	const before = lastTurns.get(threadId);
	let end!: () => void;
	const ended = new Promise<void>((resolve) => (end = resolve));
	const turn = { isReached: before === undefined, reached: Promise.resolve(before), end };
	// If this turn ends while still queued, the next turn still waits for all earlier turns.
	const passed = turn.reached.then(async () => {
		turn.isReached = true;
		await ended;
		if (lastTurns.get(threadId) === passed) lastTurns.delete(threadId);
	});
	lastTurns.set(threadId, passed);
	return turn;
}

/**
 * Waits for a turn, until the deadline at most. Does not wait if `whenBusy` is `run` or `fail`.
 *
 * @returns undefined if the run may start, or the result if it may not
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
 * How a run starts. The server accepts two runs at once on a thread, but then loses messages. n8n's workers share only
 * the server, so its list of runs serves as the lock (recorded in `turns.json`):
 *
 * 1. Wait until no run of the thread is active.
 * 2. Start the new run in the background, then read the list again. The list contains all runs that started earlier.
 * 3. If an older run is active, or completed after the start of the new run, cancel the new run. Start it again when
 *    the thread is free and the older answer is stored.
 *
 * If the new run ends before it is cancelled, its result is kept. A second start would repeat its work.
 */

export interface StartedRun extends RunIds, Following {}

/** The request to send, and data to find the run if the server's answer is lost. */
interface Plan {
	body: RunBody;
	/** The runs of the thread before this request. */
	before: RunRecord[];
	messageMark?: string;
	/** For a decision: the record of the waiting run before the decision, and its waiting tasks in `decided`. */
	waitingRun?: RunRecord;
	decided?: unknown[];
}

/**
 * Starts a run when the thread is free, or as `whenBusy` says. If an older run overlaps, cancels the new run and tries
 * again. Does not repeat a request with an unknown outcome. Never throws.
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

/** Whether the server moved a run to another thread (recorded in `one-key-two-processes-moved`). */
export const isElsewhere = (run: Run, started: Pick<StartedRun, 'threadId'>) =>
	started.threadId.toLowerCase() !== run.threadId.toLowerCase();

/** Short retry limit for the first read of the run list, because the server's address may be wrong. */
const UNREACHABLE_MS = 60_000;

/**
 * Lists the runs of a thread. Retries temporary failures.
 *
 * @param wasReached whether the list was read before. If true, retries until the deadline. If false, retries for
 * `UNREACHABLE_MS`, but not after a network failure or a missing route.
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
 * Returns the result if the server lacks the routes for background runs. Sets `areMissing` only if the API itself
 * reports a missing route. A proxy may send the same status while the server is down.
 */
function withoutRoutes({ routes }: Run, failure: Failure): NoAnswer {
	routes.areMissing ||= failure.missing === 'route';
	const advice = 'Use Thread: Ask and Wait, which works on every server.';
	const result = failed('This server starts no runs in the background', advice);
	return { ...result, failure, lacksRoutes: true };
}

/**
 * Waits until no run is active on the thread and the last answer is stored, unless `whenBusy` says otherwise.
 *
 * @returns the runs of the thread, or why the run cannot start
 */
async function waitUntilFree(run: Run): Promise<RunRecord[] | NoAnswer> {
	let watch: ReturnType<typeof watchSilence> | undefined;
	try {
		for (let hasWaited = false; ; hasWaited = true) {
			const { answer: runs, failure } = await listWithRetries(run, hasWaited);
			if (run.signal?.aborted) return executionStopped();
			// Only the first answer can report a missing route. A later 404 comes from a proxy whose server is down.
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
			// No backoff: with growing pauses, the run that waits longest would check least often. Newer runs would
			// start first.
			await run.wait(FIRST_PAUSE_MS);
		}
	} finally {
		watch?.end();
	}
}

/** Failures that can break an open stream. Any other failure means that the server refused the stream. */
const STREAM_BREAKS = new Set(['network', 'timeout', 'cancelled']);

/**
 * Watches the events of a run that blocks a thread. If its server was killed, a run stays `running`, and its stream
 * sends only heartbeats. The stream looks the same while a model is thinking (recorded). Only the time since the last
 * event tells these cases apart.
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
	 * Cancels the run once after `limit` milliseconds without an event, but not during a tool call.
	 *
	 * @returns the milliseconds since the last event of the run
	 */
	const look = async () => {
		join();
		// If the server refused the stream, count only the time since then. The node may have missed earlier events.
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
 * Returns how many milliseconds to wait until the last answer is stored. The run list shows the end of a run before the
 * server stores its answer (recorded). If the server's clock is ahead, the end seems to be in the future.
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

/** Plans the request. Returns a failed result instead if the server could not process the request. */
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
	// Without a question on the thread, the server would reject the request and keep the thread busy forever
	// (recorded).
	if (!last) return await explainUnreadable(run, neverRan(kind));
	const body = { assistant_id: last.assistant_id, ...run.body };
	if (kind === 'decision') return await planDecision(run, body, last);
	// Fail if the thread's only run is active. The server would not answer the question again (recorded).
	if (stageOf(last) !== 'goesOn' || startedRuns(before).length > 1) return { body };
	const advice = `Cancel the run ${last.run_id} with Thread: Cancel Run, and ask again with Thread: Ask and Wait.`;
	return failed('The first question of this thread has not ended', advice);
}

/** Plans a decision. Checks that the last run waits, and names this run as the target. So the run keeps its ID. */
async function planDecision(run: Run, body: RunBody, waitingRun: RunRecord): Promise<Planned> {
	if (waitingRun.status !== 'interrupted') return NOTHING_TO_DECIDE;
	const conversation = await conversationOf(run);
	const { tasks, failure, error } = conversation;
	if (failure) return { status: 'failed', failure };
	if (tasks.length === 0) return NOTHING_TO_DECIDE;
	// Fail if the waiting run was cancelled, because the server would still run its tool calls. The conversation's
	// error may come from another run, so check the message of the waiting run (recorded).
	const stored = error ? await findAnswer(run, conversation, waitingRun.run_id) : undefined;
	if (stored?.failure) return { status: 'failed', failure: stored.failure };
	if (stored?.message?.status === 'aborted') return runCancelled(stored.message.error ?? error);
	// Fail if the changes name a call that does not wait. The server would run the waiting calls with their old
	// arguments (recorded).
	const calls = taskValues('call.id', tasks);
	if (difference(run.intent.changes, calls).length > 0) return CALLS_NOT_WAITING;
	return { body: withTarget(body, waitingRun.run_id), waitingRun, decided: tasks };
}

/** Also the result of a second change, because the server lists no calls after the first change (recorded). */
const CALLS_NOT_WAITING = failed(
	'"Changed Arguments" names a call that does not wait',
	'Nothing was decided. It takes the callId of each call in interrupt. If arguments were changed before, leave it empty to confirm them.',
);

/**
 * Sends the request. Repeats it only if the server certainly did not process it. If the answer is lost, searches for
 * the run.
 */
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
 * First pause and time limit of the search for a run after a lost answer. The list shows the run at once, and the
 * thread shows its mark within a second (recorded).
 */
const FIRST_POLL_MS = 500;
const SEARCH_MS = 6_000;

/** Finds the run ID after the answer to a start was lost; undefined if no run or several runs may match. */
async function findLost(run: Run, plan: Plan): Promise<string | undefined> {
	const { messageMark, waitingRun, before } = plan;
	if (waitingRun) {
		// A decision changes the record of the waiting run at once (recorded). An unchanged record means that no
		// decision arrived.
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
 * Cancels an active run if an older run overlaps. If the run list lacks the started run, the server may have moved it
 * to another thread. Then updates `started.threadId`.
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
