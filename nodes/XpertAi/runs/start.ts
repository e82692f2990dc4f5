import compact from 'lodash/compact';
import difference from 'lodash/difference';
import isString from 'lodash/isString';
import maxBy from 'lodash/maxBy';
import { randomUUID } from 'crypto';

import {
	findAnswer,
	findMessages,
	readConversation,
	requestOf,
	taskValues,
	waitsForPerson,
} from '../threads/conversation';
import {
	listRuns,
	newestRun,
	readRun,
	runSortKey,
	SETTLING_MS,
	stageOf,
	startedRuns,
	startRun,
	threadOfRun,
} from '../threads/runsApi';
import type { RunRecord } from '../threads/runsApi';
import { readThread } from '../threads/thread';
import type { Result } from '../transport/call';
import { isNoRoute, isTransient } from '../transport/classifyFailure';
import { FIRST_PAUSE_MS } from '../transport/clock';
import { failureMessage, type Failure } from '../transport/failure';
import { sanitize } from '../transport/sanitize';
import {
	messageMarkOf,
	withMessageMark,
	withTarget,
	type RunBody,
	followedRun,
	repeated,
	UNREACHABLE_MS,
	type Client,
	type Run,
} from './run';
import { explainRefusal, explainUnreadable } from './openConversation';
import {
	busy,
	executionStopped,
	failed,
	mayHaveArrived,
	neverRan,
	NOTHING_TO_DECIDE,
	runCancelled,
	stillBusy,
	timedOut,
} from './runResult';
import type { NoAnswer, RunFacts } from './runResult';
import { cancelRunning, SilenceWatch } from './runState';

/*
 * How a run starts. Executions on several workers share only the server, which accepts two runs at once and then loses
 * messages. Its list of runs serves as the lock (recorded, turns.json):
 *
 * 1. Wait until no run of the thread is running.
 * 2. Start in the background, then read the list again: it always contains every run that started earlier.
 * 3. If an older run is running, or ended after this one started, this one yields: it is cancelled, and starts again
 *    once the thread is free and the older answer is stored. Of two with the same time, the lower ID is older.
 *
 * A run that has ended before it can yield is kept, as a second one would do its work twice.
 */

/** What became of a start. */
export type Start =
	| StartedRun
	| {
			kind: 'notStarted' | 'noRoutes';
			result: NoAnswer;
			/** Looks the run up again, where it may have started. */
			find?: (client: Client) => Promise<string | undefined>;
	  };

/** A run that has started. */
export interface StartedRun {
	kind: 'started';
	threadId: string;
	runId: string;
	/** The run ID to join the stream by, if a decision got one of its own. */
	joinId?: string;
	/** The tasks that waited for the decision. */
	decided?: unknown[];
	facts: RunFacts;
}

const notStarted = (result: NoAnswer): Start => ({ kind: 'notStarted', result });

/** What to send once the thread is free. */
interface Plan extends Pick<RunFacts, 'conversationId' | 'discarded'> {
	body: RunBody;
	/** The runs of the thread. */
	before: RunRecord[];
	messageMark?: string;
	/** The run that waits for the decision, as it was before; and its tasks. */
	waitingRun?: RunRecord;
	decided?: unknown[];
}

/** Starts a run once the thread is free, and yields to an older run. Never starts it twice. Never throws. */
export async function startInTurn(run: Run): Promise<Start> {
	for (;;) {
		const free = run.isNew ? { runs: [] } : await waitUntilFree(run);
		if ('kind' in free) return free;
		const { runs: before, cancelledRun } = free;
		const plan = await planFor(run, before);
		if ('status' in plan) return notStarted(plan);
		if (run.signal?.aborted) return notStarted(executionStopped());
		if (run.remaining() <= 0) return notStarted(timedOut('The run had not begun'));
		const started = await sendOnce(run, { ...plan, before });
		if (started.kind !== 'started') return started;
		started.facts.cancelledRun = cancelledRun;
		const needsNoLock = run.isNew || run.intent.kind === 'decision' || run.whenBusy === 'run';
		if (needsNoLock || isElsewhere(run, started)) return started;
		if (!(await yieldsToOlder(run, started))) return started;
		if (run.whenBusy === 'fail') return notStarted(busy());
		await run.wait(FIRST_PAUSE_MS);
	}
}

/** Whether the server has put a run on another thread (recorded, `one-key-two-processes-moved`). */
export function isElsewhere(run: Run, started: Pick<StartedRun, 'threadId'>): boolean {
	return started.threadId.toLowerCase() !== run.threadId.toLowerCase();
}

/**
 * Lists the runs of a thread and retries for a while: nothing is sent without the list. A server that refuses
 * connections is reported soon.
 */
async function listWithRetries(run: Run, wasReached: boolean): Promise<Result<RunRecord[]>> {
	const list = async () => await listRuns(run, run.threadId);
	const listed = await repeated(run, list, ({ failure }, waitedMs) => {
		if (!failure) return true;
		const longestMs = failure.kind === 'network' ? 0 : UNREACHABLE_MS;
		const isUnreachable = !wasReached && waitedMs >= longestMs;
		return isUnreachable || !isTransient(failure) || isListMissing(run, failure);
	});
	run.routes.haveListed ||= listed.ok;
	return listed;
}

/** Whether the server does not list runs. Once it has, a 404 comes from a proxy whose server is down. */
function isListMissing({ routes }: Run, failure: Failure): boolean {
	return !routes.haveListed && isNoRoute(failure);
}

/** The server lacks the routes of runs. Other runs rely on that only if the server itself says so. */
function withoutRoutes({ routes }: Run, failure: Failure): Start {
	routes.areMissing ||= failure.missing === 'route';
	const advice = 'Use Thread: Ask and Wait, which works on every server.';
	const result = failed('This server starts no runs in the background', advice, failure);
	return { kind: 'noRoutes', result };
}

/** Waits until no run of the thread is running and the last answer is stored. */
async function waitUntilFree(
	run: Run,
): Promise<{ runs: RunRecord[]; cancelledRun?: string } | Start> {
	const watch = new SilenceWatch(run);
	try {
		for (let hasWaited = false; ; hasWaited = true) {
			const { answer: runs, failure } = await listWithRetries(run, hasWaited);
			if (run.signal?.aborted) return notStarted(executionStopped());
			if (!runs) {
				if (isListMissing(run, failure)) return withoutRoutes(run, failure);
				return notStarted({ status: 'failed', failure });
			}
			const blocking = newestRun(runs.filter((one) => stageOf(one) === 'goesOn'));
			if (!blocking || run.whenBusy === 'run') {
				await run.wait(settlingTime(run, runs, hasWaited));
				return { runs, cancelledRun: watch.cancelledRun };
			}
			if (run.whenBusy === 'fail') return notStarted(busy({ run: blocking }));
			watch.watch(blocking);
			if (run.remaining() <= 0) return notStarted(stillBusy(watch.blocker, watch.cancelledRun));
			await watch.cancelSilent();
			// No back-off: the longest waiter would lose.
			await run.wait(FIRST_PAUSE_MS);
		}
	} finally {
		watch.end();
	}
}

/**
 * How long the last answer may still take to be stored: the list says earlier that its run has ended (recorded). That
 * run need not have started last, and the clock of the server may differ a little.
 */
function settlingTime({ clock }: Run, runs: RunRecord[], hasWaited: boolean): number {
	if (hasWaited) return SETTLING_MS;
	const last = maxBy(
		runs.filter((one) => stageOf(one) !== 'goesOn'),
		'updated_at',
	);
	if (last?.run_id === followedRun.runId) return 0;
	const sinceEnd = clock.now() - Date.parse(last?.updated_at ?? '');
	return Math.abs(sinceEnd) < SETTLING_MS ? SETTLING_MS - Math.max(0, sinceEnd) : 0;
}

type Planned = Omit<Plan, 'before'> | NoAnswer;

/** Plans the request, or gives the result if the server could not carry it out. */
async function planFor(run: Run, before: RunRecord[]): Promise<Planned> {
	const { kind } = run.intent;
	const last = newestRun(before);
	if (kind === 'message') {
		const messageMark = run.isNew ? undefined : randomUUID();
		const body = messageMark ? withMessageMark(run.body, messageMark) : run.body;
		const plan = { body, messageMark };
		if (last?.status !== 'interrupted') return plan;
		const facts = await readConversation(run, run.threadId);
		return waitsForPerson(facts) ? { ...plan, discarded: facts.tasks.map(requestOf) } : plan;
	}
	// A thread without a question refuses a decision or a retry, and is then busy for ever (recorded).
	if (!last) return await explainUnreadable(run, neverRan(kind));
	const body = { assistant_id: last.assistant_id, ...run.body };
	if (kind === 'decision') return await planDecision(run, body, last);
	// The server does not answer the only question of a thread again if its run never ended (recorded).
	if (stageOf(last) !== 'goesOn' || startedRuns(before).length > 1) return { body };
	const advice = `Cancel the run ${last.run_id} with Thread: Cancel Run, and ask again with Thread: Ask and Wait.`;
	return failed('The first question of this thread has not ended', advice);
}

/** Targets the decision at the waiting run, so that it continues under its ID. */
async function planDecision(run: Run, body: RunBody, waitingRun: RunRecord): Promise<Planned> {
	if (waitingRun.status !== 'interrupted') return NOTHING_TO_DECIDE;
	const facts = await readConversation(run, run.threadId);
	const { tasks, failure, conversationId, conversationIds, error } = facts;
	if (failure) return { status: 'failed', failure };
	if (tasks.length === 0) return NOTHING_TO_DECIDE;
	// The server carries out what a cancelled run waited for. The error alone may be that of another run (recorded).
	const stored = error ? await findAnswer(run, conversationIds, waitingRun.run_id) : {};
	if (stored.failure) return { status: 'failed', failure: stored.failure };
	if (stored.message?.status === 'aborted') return runCancelled(stored.message.error ?? error);
	// If one call does not wait, the server changes nothing and would carry out the old arguments (recorded).
	const calls = taskValues('call.id', tasks).filter(isString);
	if (difference(run.intent.changes, calls).length > 0) return callsNotWaiting(calls);
	const targeted = withTarget(body, waitingRun.run_id);
	return { body: targeted, waitingRun, decided: tasks, conversationId };
}

/** Changed arguments name a call that does not wait. */
function callsNotWaiting(calls: string[]): NoAnswer {
	const shown = compact(calls.map((id) => sanitize(id)));
	if (shown.length === 0)
		return failed(
			'The waiting run lists no calls',
			'Nothing was decided. The server lists no calls after arguments were changed. Leave "Changed Arguments" empty to confirm them, or reject.',
		);
	const advice = `Nothing was decided. Waiting: ${shown.join(', ')}.`;
	return failed('"Changed Arguments" names a call that does not wait', advice);
}

/** Sends the request once. If the answer is lost, looks for the run. */
async function sendOnce(run: Run, plan: Plan): Promise<Start> {
	const { body, waitingRun, conversationId, decided, discarded } = plan;
	const { kind } = run.intent;
	const facts = { conversationId, discarded };
	const sent = await startRun(run, run.threadId, body);
	if (sent.ok) {
		const { run_id: joinId, thread_id: threadId = run.threadId } = sent.answer;
		const runId = waitingRun?.run_id ?? joinId;
		return { kind: 'started', threadId, runId, joinId, decided, facts };
	}
	const { failure, mayBeDone } = sent;
	if (isNoRoute(failure)) return withoutRoutes(run, failure);
	if (!mayBeDone && failure.kind !== 'cancelled') {
		const refused = await explainRefusal(run, failure);
		return notStarted(waitingRun ? { advice: DECIDE_AGAIN, ...refused } : refused);
	}
	const isDone = (found: string | undefined, waitedMs: number) =>
		found !== undefined || waitedMs >= SEARCH_MS;
	const find = async (client: Client) => {
		const lost = { ...run, ...client };
		return await repeated(lost, async () => await findLost(lost, plan), isDone, FIRST_POLL_MS);
	};
	const runId = await find(run);
	if (runId !== undefined) {
		const { threadId } = run;
		return { kind: 'started', threadId, runId, decided, facts };
	}
	if (run.signal?.aborted) return { kind: 'notStarted', result: executionStopped(failure), find };
	const notArrived = `The decision did not reach the assistant. ${failureMessage(failure)}`;
	const result = waitingRun
		? failed(notArrived, DECIDE_AGAIN, failure)
		: mayHaveArrived(kind, failure);
	const status = run.remaining() <= 0 ? 'timedOut' : 'failed';
	return { kind: 'notStarted', result: { ...result, status }, find };
}

const DECIDE_AGAIN = 'Decide again: what waits still waits.';

/** How a lost run is looked for: the list has it at once, the thread its mark within a second (recorded). */
const FIRST_POLL_MS = 500;
const SEARCH_MS = 6_000;

/** The ID of a run whose start was not answered; undefined if it is not found or is ambiguous. */
async function findLost(run: Run, plan: Plan): Promise<string | undefined> {
	const { messageMark, waitingRun, before } = plan;
	if (waitingRun) {
		// A decided run continues under its ID at once; a run that is still unchanged did not get the decision (recorded).
		const runId = waitingRun.run_id;
		const { answer: now } = await readRun({ ...run, runId });
		const isDecided = now?.status !== 'interrupted' || now.updated_at !== waitingRun.updated_at;
		return now && isDecided ? runId : undefined;
	}
	const { answer: runs = [] } = await listRuns(run, run.threadId);
	const known = new Set(before.map((one) => one.run_id));
	const fresh = startedRuns(runs).filter((one) => !known.has(one.run_id));
	if (run.isNew || fresh.length === 0) return newestRun(fresh)?.run_id;
	// The thread shows only the mark of its newest question, so several new runs are ambiguous.
	if (fresh.length > 1) return undefined;
	const isOurs = messageMark
		? messageMarkOf((await readThread(run, run.threadId, 1)).answer) === messageMark
		: await isUnasked(run, newestRun(before)?.updated_at);
	return isOurs ? fresh[0]?.run_id : undefined;
}

/** Whether nothing was asked on the thread since then. */
async function isUnasked(run: Run, since = ''): Promise<boolean> {
	const { conversationIds } = await readConversation(run, run.threadId);
	for (const id of conversationIds) {
		const { answer: questions } = await findMessages(run, id, { role: 'human' });
		if (!questions || questions.some(({ createdAt = '' }) => createdAt > since)) return false;
	}
	return true;
}

/** Whether an older run was there and this one was cancelled. A run that the list lacks is looked for by its ID. */
async function yieldsToOlder(run: Run, started: StartedRun): Promise<boolean> {
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
