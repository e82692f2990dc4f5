import get from 'lodash/get';
import maxBy from 'lodash/maxBy';
import { randomUUID } from 'crypto';

import { taskValues, readConversation } from '../threads/conversation';
import { readThreadOnce } from '../threads/thread';
import type { Failure } from '../transport/failure';
import { isTransient } from '../transport/classifyFailure';
import { FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import { sanitize } from '../transport/sanitize';
import { cancelRunning, SilenceWatch } from './cancel';
import { intentOf, markOf, withMark, withTarget } from './input';
import type { Intent, RunBody } from './input';
import { explainRefusal, explainUnreadable } from './openConversation';
import {
	busy,
	executionStopped,
	failed,
	mayHaveArrived,
	cannotRetry,
	notArrived,
	callsNotWaiting,
	nothingToDecide,
	neverRan,
	stillBusy,
	timedOut,
} from './result';
import type { RunResult } from './result';
import { remaining, UNREACHABLE_MS, waitInTime } from './run';
import type { Client, RunRequest } from './run';
import {
	areRunRoutesMissing,
	startedRuns,
	findMessages,
	listRuns,
	newestRun,
	runOrder,
	readRun,
	SETTLING_MS,
	startRun,
} from '../threads/runsApi';
import type { RunRecord } from '../threads/runsApi';

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

/** A started run. */
export interface StartedRun {
	runId: string;
	/** The run ID to join the stream by, if a decision got one of its own. */
	joinId?: string;
	assistantId?: unknown;
	conversationId?: string;
	/** The tasks that waited for the decision. */
	decided?: unknown[];
	/** Whether the answer to the start was lost. */
	recovered?: true;
	discarded?: unknown[];
	cancelledRun?: string;
}

/** Why no run was started. If one may have started all the same, `findRunId` looks it up. */
export interface NotStarted {
	result: RunResult;
	findRunId?: (client: Client) => Promise<string | undefined>;
}

/** What to send once the thread is free. */
type Plan = Omit<StartedRun, 'runId' | 'joinId'> & {
	body: RunBody;
	mark?: string;
	/** The run that waits for the decision, as it was before. */
	waitingRun?: RunRecord;
};

/**
 * Starts a run once the thread is free, and yields to an older run. Never starts it twice. Never throws.
 *
 * @returns undefined if the server lacks the routes of runs
 */
export async function startInTurn(run: RunRequest): Promise<StartedRun | NotStarted | undefined> {
	const intent = intentOf(run.body);
	for (;;) {
		const free = run.isNew ? { runs: [] } : await waitUntilFree(run);
		if (free === undefined || 'result' in free) return free;
		const plan = await planFor(run, intent, free.runs);
		if ('result' in plan) return plan;
		if (remaining(run) <= 0) return { result: timedOut('The run had not begun') };
		const { runs, cancelledRun } = free;
		const started = await start(run, intent, { ...plan, cancelledRun }, runs);
		const needsNoLock = run.isNew || intent.kind === 'decision' || run.whenBusy === 'run';
		if (!started || 'result' in started || needsNoLock) return started;
		if (!(await yieldsToOlder(run, started.runId))) return started;
		if (run.whenBusy === 'fail') return { result: busy() };
		await waitInTime(run, FIRST_PAUSE_MS);
	}
}

/**
 * Lists the runs of a thread and retries for a while: nothing is sent without the list. A server that refuses
 * connections is reported soon. Undefined if the route is missing.
 */
async function listWithRetries(
	run: RunRequest,
	wasReached: boolean,
): Promise<{ runs: RunRecord[] } | { failure: Failure } | undefined> {
	for (let [pause, waited] = [FIRST_PAUSE_MS, 0]; ; pause = longerPause(pause)) {
		const listed = await listRuns(run, run.threadId);
		if ('runs' in listed) {
			run.routes.haveListed = true;
			return listed;
		}
		const { failure } = listed;
		if (!run.routes.haveListed && hasNoRoutes(run, failure)) return undefined;
		const longestMs = failure.kind === 'network' ? 0 : UNREACHABLE_MS;
		const isOver = remaining(run) <= 0 || (!wasReached && waited >= longestMs);
		if (!isTransient(failure) || isOver || run.signal?.aborted) return listed;
		await waitInTime(run, pause);
		waited += pause;
	}
}

/** Whether the server lacks the routes of runs. Other runs rely on it only if the server itself says so. */
function hasNoRoutes({ routes }: RunRequest, failure: Failure): boolean {
	if (!areRunRoutesMissing(failure)) return false;
	routes.areMissing ||= failure.missing === 'route';
	routes.failure = failure;
	return true;
}

/** Waits until no run of the thread is running and the last answer is stored. Undefined if the route is missing. */
async function waitUntilFree(
	run: RunRequest,
): Promise<{ runs: RunRecord[]; cancelledRun?: string } | { result: RunResult } | undefined> {
	const watch = new SilenceWatch(run);
	try {
		for (let hasWaited = false; ; hasWaited = true) {
			const listed = await listWithRetries(run, hasWaited);
			if (run.signal?.aborted) return { result: executionStopped() };
			if (listed === undefined) return undefined;
			if ('failure' in listed) return { result: failed(listed.failure) };
			const { runs } = listed;
			const blocking = newestRun(runs.filter(({ status }) => status === 'running'));
			if (!blocking || run.whenBusy === 'run') {
				if (hasWaited) await waitInTime(run, SETTLING_MS);
				return { runs, cancelledRun: watch.cancelledRun };
			}
			if (run.whenBusy === 'fail') return { result: busy({ run: blocking }) };
			watch.watch(blocking);
			if (remaining(run) <= 0) return { result: stillBusy(watch.blocker) };
			await watch.cancelSilent();
			// No back-off: the longest waiter would lose.
			await waitInTime(run, FIRST_PAUSE_MS);
		}
	} finally {
		watch.end();
	}
}

/** Plans the request, or gives the result if the server could not carry it out. */
async function planFor(
	run: RunRequest,
	intent: Intent,
	runs: RunRecord[],
): Promise<Plan | { result: RunResult }> {
	const last = newestRun(runs);
	if (intent.kind === 'message') {
		const mark = run.isNew ? undefined : randomUUID();
		const body = mark ? withMark(run.body, mark) : run.body;
		const plan = { body, mark, assistantId: body.assistant_id ?? last?.assistant_id };
		if (last?.status !== 'interrupted') return plan;
		const { tasks, error } = await readConversation(run, run.threadId);
		return tasks.length > 0 && !error ? { ...plan, discarded: tasks } : plan;
	}
	// A thread without a question refuses a decision or a retry, and is then busy for ever (recorded).
	if (!last) return { result: await explainUnreadable(run, run.threadId, neverRan(intent.kind)) };
	const assistantId = run.body.assistant_id ?? last.assistant_id;
	const body = { assistant_id: last.assistant_id, ...run.body };
	if (intent.kind === 'decision')
		return await planDecision(run, intent, { body, assistantId }, runs);
	const neverEnded = last.status === 'running' && startedRuns(runs).length === 1;
	return neverEnded ? { result: cannotRetry(last) } : { body, assistantId };
}

/** Targets the decision at the waiting run, so that it continues under its ID. A target that the user set is kept. */
async function planDecision(
	run: RunRequest,
	{ changes }: Intent,
	plan: Pick<Plan, 'body' | 'assistantId'>,
	runs: RunRecord[],
): Promise<Plan | { result: RunResult }> {
	const named: unknown = get(plan.body, 'input.target.executionId');
	const waitingRun = named ? runs.find((one) => one.run_id === named) : newestRun(runs);
	if (waitingRun?.status !== 'interrupted') return { result: nothingToDecide() };
	const { tasks, failure, conversationId } = await readConversation(run, run.threadId);
	if (failure) return { result: failed(failure) };
	if (tasks.length === 0) return { result: nothingToDecide() };
	// If one call does not wait, the server changes nothing and would carry out the old arguments (recorded).
	const calls = taskValues('call.id', tasks);
	const isWaiting = (id: unknown) => typeof id === 'string' && calls.includes(id);
	const shown = calls.flatMap((id) => (typeof id === 'string' ? (sanitize(id) ?? []) : []));
	if (changes && !changes.every(isWaiting)) return { result: callsNotWaiting(shown) };
	const body = withTarget(plan.body, waitingRun.run_id);
	return { ...plan, body, waitingRun, decided: tasks, conversationId };
}

/** Sends the request once. If the answer is lost, looks for the run. */
async function start(
	run: RunRequest,
	intent: Intent,
	{ body, mark, waitingRun, ...plan }: Plan,
	before: RunRecord[],
): Promise<StartedRun | NotStarted | undefined> {
	const started = await startRun(run, run.threadId, body);
	if ('record' in started) {
		const { run_id: joinId } = started.record;
		return { ...plan, runId: waitingRun?.run_id ?? joinId, joinId };
	}
	const { failure, mayBeDone } = started;
	if (hasNoRoutes(run, failure)) return undefined;
	const findRunId = async (client: Client) =>
		await findLost({ ...run, ...client }, { kind: intent.kind, before, mark, waitingRun });
	if (failure.kind === 'cancelled') return { result: executionStopped(failure), findRunId };
	if (!mayBeDone) return { result: await explainRefusal(run, failure) };
	const runId = await findRunId(run);
	if (runId !== undefined) return { ...plan, runId, recovered: true };
	if (run.signal?.aborted) return { result: executionStopped(failure), findRunId };
	const outcome = intent.kind === 'decision' ? notArrived : mayHaveArrived;
	const status = remaining(run) <= 0 ? 'timedOut' : 'failed';
	return { result: { ...outcome(intent.kind, failure), status }, findRunId };
}

/** How to recognise a run whose start was not answered. */
interface LostRun {
	kind: Intent['kind'];
	before: RunRecord[];
	mark?: string;
	waitingRun?: RunRecord;
}

/** How often a lost run is looked for: the list has it at once, the thread its mark within a second (recorded). */
const MAX_POLLS = 6;
const FIRST_POLL_MS = 500;

/** The ID of a run whose start was not answered; undefined if it is not found or is ambiguous. */
async function findLost(run: RunRequest, lost: LostRun): Promise<string | undefined> {
	for (let polls = 1, pause = FIRST_POLL_MS; ; polls += 1, pause = longerPause(pause)) {
		const found = await pollForLost(run, lost);
		if (found !== undefined || polls === MAX_POLLS) return found;
		if (remaining(run) <= 0 || run.signal?.aborted) return undefined;
		await waitInTime(run, pause);
	}
}

async function pollForLost(
	run: RunRequest,
	{ kind, before, mark, waitingRun }: LostRun,
): Promise<string | undefined> {
	if (waitingRun) {
		// A decided run continues under its ID at once; a run that is still unchanged did not get the decision (recorded).
		const reading = await readRun(run, { threadId: run.threadId, runId: waitingRun.run_id });
		if ('failure' in reading) return undefined;
		const { status, updated_at: updated, run_id: runId } = reading.record;
		return status !== 'interrupted' || updated !== waitingRun.updated_at ? runId : undefined;
	}
	const listed = await listRuns(run, run.threadId);
	if ('failure' in listed) return undefined;
	const known = new Set(before.map((one) => one.run_id));
	const fresh = startedRuns(listed.runs).filter((one) => !known.has(one.run_id));
	if (run.isNew || fresh.length === 0) return newestRun(fresh)?.run_id;
	return kind === 'retry'
		? await findRetry(run, fresh, before)
		: await findMarked(run, fresh, mark);
}

/** The thread shows only the mark of its newest question, so several new runs are ambiguous. */
async function findMarked(
	run: RunRequest,
	fresh: RunRecord[],
	mark: string | undefined,
): Promise<string | undefined> {
	if (fresh.length > 1 || mark === undefined) return undefined;
	const reading = await readThreadOnce(run, run.threadId);
	return 'state' in reading && markOf(reading.state) === mark ? fresh[0]?.run_id : undefined;
}

/** The new run that answers the same question as the last one; undefined if there are several. */
async function findRetry(
	run: RunRequest,
	fresh: RunRecord[],
	before: RunRecord[],
): Promise<string | undefined> {
	const { conversationIds = [] } = await readConversation(run, run.threadId);
	const lastEnd = newestRun(before)?.updated_at ?? '';
	for (const id of conversationIds) {
		const questions = await findMessages(run, id, { role: 'human' });
		const isEarlier = ({ createdAt = '' }) => createdAt <= lastEnd;
		const parentId = maxBy(questions.messages?.filter(isEarlier), 'createdAt')?.id;
		if (parentId === undefined) continue;
		const { messages = [] } = await findMessages(run, id, { parentId });
		const ids = messages.map(({ executionId }) => executionId);
		const same = fresh.filter((one) => ids.includes(one.run_id));
		if (same.length > 0) return same.length === 1 ? same[0]?.run_id : undefined;
	}
	return undefined;
}

/** Whether an older run was there and this one was cancelled. */
async function yieldsToOlder(run: RunRequest, runId: string): Promise<boolean> {
	const listed = await listWithRetries(run, true);
	const runs = listed && 'runs' in listed ? startedRuns(listed.runs) : [];
	const own = runs.find((one) => one.run_id === runId);
	if (own?.status !== 'running' || !runs.some((one) => precedes(one, own))) return false;
	const cancellation = await cancelRunning(run, { threadId: run.threadId, runId });
	return !('failure' in cancellation) && !cancellation.completed;
}

/** Whether another run is older and overlaps. */
function precedes(other: RunRecord, own: RunRecord): boolean {
	if (runOrder(other) >= runOrder(own)) return false;
	if (other.status === 'running') return true;
	return other.status === 'success' && (other.updated_at ?? '') >= own.created_at;
}
