import compact from 'lodash/compact';
import difference from 'lodash/difference';
import get from 'lodash/get';
import isString from 'lodash/isString';
import map from 'lodash/map';
import maxBy from 'lodash/maxBy';
import { randomUUID } from 'crypto';

import {
	areRunRoutesMissing,
	findMessages,
	listRuns,
	newestRun,
	readRun,
	runSortKey,
	SETTLING_MS,
	startedRuns,
	startRun,
} from '../threads/runsApi';
import type { RunRecord } from '../threads/runsApi';
import { readConversation, readThread, taskValues, waitsForPerson } from '../threads/thread';
import type { Result } from '../threads/thread';
import { isTransient } from '../transport/classifyFailure';
import { FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import { failureMessage } from '../transport/failure';
import type { Failure } from '../transport/failure';
import { sanitize } from '../transport/sanitize';
import { intentOf, messageMarkOf, withMessageMark, withTarget } from './input';
import type { Intent, RunBody, RunKind } from './input';
import { explainRefusal, explainUnreadable } from './openConversation';
import {
	busy,
	executionStopped,
	failed,
	followedRun,
	mayHaveArrived,
	neverRan,
	NOTHING_TO_DECIDE,
	stillBusy,
	timedOut,
	UNREACHABLE_MS,
} from './run';
import type { Client, Run, RunResult } from './run';
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

/** A started run, which has a run ID; or why it was not started. */
export interface StartedRun extends RunResult {
	/** Set if the server lacks the routes of runs. */
	areRoutesMissing?: true;
	/** The run ID to join the stream by, if a decision got one of its own. */
	joinId?: string;
	/** The tasks that waited for the decision. */
	decided?: unknown[];
}

/** What to send once the thread is free. */
type Plan = Pick<StartedRun, 'conversationId' | 'decided' | 'discarded'> & {
	body: RunBody;
	/** The runs of the thread. */
	before: RunRecord[];
	messageMark?: string;
	/** The run that waits for the decision, as it was before. */
	waitingRun?: RunRecord;
};

/**
 * Starts a run once the thread is free, and yields to an older run. Never starts it twice. Never throws.
 */
export async function startInTurn(run: Run): Promise<StartedRun> {
	const intent = intentOf(run.body);
	for (;;) {
		const free = run.isNew ? { runs: [] } : await waitUntilFree(run);
		if ('status' in free) return free;
		const { runs: before, cancelledRun } = free;
		const plan = await planFor(run, intent, before);
		if ('status' in plan) return plan;
		if (run.signal?.aborted) return executionStopped();
		if (run.remaining() <= 0) return timedOut('The run had not begun');
		const started = await sendOnce(run, intent.kind, plan);
		if (started.runId === undefined) return started;
		const needsNoLock = run.isNew || intent.kind === 'decision' || run.whenBusy === 'run';
		if (needsNoLock || !(await yieldsToOlder(run, started.runId)))
			return { ...started, cancelledRun };
		if (run.whenBusy === 'fail') return busy();
		await run.wait(FIRST_PAUSE_MS);
	}
}

/**
 * Lists the runs of a thread and retries for a while: nothing is sent without the list. A server that refuses
 * connections is reported soon.
 */
async function listWithRetries(run: Run, wasReached: boolean): Promise<Result<RunRecord[]>> {
	for (let [pause, waited] = [FIRST_PAUSE_MS, 0]; ; pause = longerPause(pause)) {
		const listed = await listRuns(run, run.threadId);
		if (listed.ok) {
			run.routes.haveListed = true;
			return listed;
		}
		const { failure } = listed;
		const longestMs = failure.kind === 'network' ? 0 : UNREACHABLE_MS;
		const isOver = run.remaining() <= 0 || (!wasReached && waited >= longestMs);
		const isFinal = !isTransient(failure) || isListMissing(run, failure);
		if (isFinal || isOver || run.signal?.aborted) return listed;
		await run.wait(pause);
		waited += pause;
	}
}

/** Whether the server does not list runs. Once it has, a 404 comes from a proxy whose server is down. */
function isListMissing({ routes }: Run, failure: Failure): boolean {
	return !routes.haveListed && areRunRoutesMissing(failure);
}

/** The server lacks the routes of runs. Other runs rely on that only if the server itself says so. */
function withoutRoutes({ routes }: Run, failure: Failure): StartedRun {
	routes.areMissing ||= failure.missing === 'route';
	const advice = 'Use Thread: Ask and Wait, which works on every server.';
	const result = failed('This server starts no runs in the background', advice, failure);
	return { ...result, areRoutesMissing: true };
}

/** Waits until no run of the thread is running and the last answer is stored. */
async function waitUntilFree(
	run: Run,
): Promise<{ runs: RunRecord[]; cancelledRun?: string } | StartedRun> {
	const watch = new SilenceWatch(run);
	try {
		for (let hasWaited = false; ; hasWaited = true) {
			const listed = await listWithRetries(run, hasWaited);
			if (run.signal?.aborted) return executionStopped();
			if (!listed.ok) {
				const { failure } = listed;
				if (isListMissing(run, failure)) return withoutRoutes(run, failure);
				return { status: 'failed', failure };
			}
			const runs = listed.answer;
			const blocking = newestRun(runs.filter(({ status }) => status === 'running'));
			if (!blocking || run.whenBusy === 'run') {
				await run.wait(settlingTime(run, runs, hasWaited));
				return { runs, cancelledRun: watch.cancelledRun };
			}
			if (run.whenBusy === 'fail') return busy({ run: blocking });
			watch.watch(blocking);
			if (run.remaining() <= 0) return stillBusy(watch.blocker);
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
	const ended = runs.filter(({ status }) => status !== 'running');
	const last = maxBy(ended, 'updated_at');
	if (last?.run_id === followedRun.runId) return 0;
	const sinceEnd = clock.now() - Date.parse(last?.updated_at ?? '');
	return Math.abs(sinceEnd) < SETTLING_MS ? SETTLING_MS - Math.max(0, sinceEnd) : 0;
}

/** Plans the request, or gives the result if the server could not carry it out. */
async function planFor(run: Run, intent: Intent, before: RunRecord[]): Promise<Plan | RunResult> {
	const last = newestRun(before);
	if (intent.kind === 'message') {
		const messageMark = run.isNew ? undefined : randomUUID();
		const plan = { body: withMessageMark(run.body, messageMark), messageMark, before };
		if (last?.status !== 'interrupted') return plan;
		const facts = await readConversation(run, run.threadId);
		return waitsForPerson(facts) ? { ...plan, discarded: facts.tasks } : plan;
	}
	// A thread without a question refuses a decision or a retry, and is then busy for ever (recorded).
	if (!last) return await explainUnreadable(run, neverRan(intent.kind));
	const plan = { body: { assistant_id: last.assistant_id, ...run.body }, before };
	if (intent.kind === 'decision') return await planDecision(run, intent, plan);
	// The server does not answer the only question of a thread again if its run never ended (recorded).
	if (last.status !== 'running' || startedRuns(before).length > 1) return plan;
	const advice = `Cancel the run ${last.run_id} with Thread: Cancel Run, and ask again with Thread: Ask and Wait.`;
	return failed('The first question of this thread has not ended', advice);
}

/** Targets the decision at the waiting run, so that it continues under its ID. A target that the user set is kept. */
async function planDecision(run: Run, { changes }: Intent, plan: Plan): Promise<Plan | RunResult> {
	const named: unknown = get(plan.body, 'input.target.executionId');
	const waitingRun = named
		? plan.before.find((one) => one.run_id === named)
		: newestRun(plan.before);
	if (waitingRun?.status !== 'interrupted') return NOTHING_TO_DECIDE;
	const { tasks, failure, conversationId } = await readConversation(run, run.threadId);
	if (failure) return { status: 'failed', failure };
	if (tasks.length === 0) return NOTHING_TO_DECIDE;
	// If one call does not wait, the server changes nothing and would carry out the old arguments (recorded).
	const calls = taskValues('call.id', tasks).filter(isString);
	if (difference(changes, calls).length > 0) return callsNotWaiting(calls);
	const body = withTarget(plan.body, waitingRun.run_id);
	return { ...plan, body, waitingRun, decided: tasks, conversationId };
}

/** Changed arguments name a call that does not wait. */
function callsNotWaiting(calls: string[]): RunResult {
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
async function sendOnce(run: Run, kind: RunKind, plan: Plan): Promise<StartedRun> {
	const { body, before, waitingRun, conversationId, decided, discarded } = plan;
	const assistantId = body.assistant_id ?? newestRun(before)?.assistant_id;
	const facts: StartedRun = {
		...{ status: 'running', assistantId, conversationId, decided, discarded },
	};
	const started = await startRun(run, run.threadId, body);
	if (started.ok) {
		const { run_id: joinId } = started.answer;
		return { ...facts, runId: waitingRun?.run_id ?? joinId, joinId };
	}
	const { failure, mayBeDone } = started;
	if (areRunRoutesMissing(failure)) return withoutRoutes(run, failure);
	const findRunId = async (client: Client) => await findLost({ ...run, ...client }, plan);
	if (!mayBeDone && failure.kind !== 'cancelled') return await explainRefusal(run, failure);
	const runId = await findRunId(run);
	if (runId !== undefined) return { ...facts, runId, recovered: true };
	if (run.signal?.aborted) return { ...executionStopped(failure), findRunId };
	const isKnown = kind === 'decision';
	const notArrived = `The decision did not reach the assistant. ${failureMessage(failure)}`;
	const result = isKnown ? failed(notArrived, undefined, failure) : mayHaveArrived(kind, failure);
	const status = run.remaining() <= 0 ? 'timedOut' : 'failed';
	return { ...result, status, findRunId };
}

/** The first and the last pause between polls: the list has a run at once, the thread its mark within a second (recorded). */
const FIRST_POLL_MS = 500;
const LAST_POLL_MS = 3_000;

/** The ID of a run whose start was not answered; undefined if it is not found or is ambiguous. */
async function findLost(run: Run, plan: Plan): Promise<string | undefined> {
	for (let pause = FIRST_POLL_MS; ; pause = longerPause(pause)) {
		const found = await pollForLost(run, plan);
		const isOver = pause > LAST_POLL_MS || run.remaining() <= 0 || run.signal?.aborted;
		if (found !== undefined || isOver) return found;
		await run.wait(pause);
	}
}

async function pollForLost(run: Run, plan: Plan): Promise<string | undefined> {
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
	if (messageMark === undefined) return await findRetry(run, fresh, newestRun(before)?.updated_at);
	// The thread shows only the mark of its newest question, so several new runs are ambiguous.
	if (fresh.length > 1) return undefined;
	const { answer: state } = await readThread(run, run.threadId, 1);
	return messageMarkOf(state) === messageMark ? fresh[0]?.run_id : undefined;
}

/** The new run that answers the same question as the last one; undefined if there are several. */
async function findRetry(run: Run, fresh: RunRecord[], lastEnd = ''): Promise<string | undefined> {
	const { conversationIds } = await readConversation(run, run.threadId);
	const answered: unknown[] = [];
	for (const id of conversationIds) {
		const { answer: questions } = await findMessages(run, id, { role: 'human' });
		const isEarlier = ({ createdAt = '' }) => createdAt <= lastEnd;
		const parentId = maxBy(questions?.filter(isEarlier), 'createdAt')?.id;
		if (parentId === undefined) continue;
		const { answer: answers } = await findMessages(run, id, { parentId });
		answered.push(...map(answers, 'executionId'));
	}
	const [found, ...others] = fresh.filter((one) => answered.includes(one.run_id));
	return others.length === 0 ? found?.run_id : undefined;
}

/** Whether an older run was there and this one was cancelled. */
async function yieldsToOlder(run: Run, runId: string): Promise<boolean> {
	const listed = await listWithRetries(run, true);
	const runs = startedRuns(listed.answer ?? []);
	const own = runs.find((one) => one.run_id === runId);
	if (own?.status !== 'running') return false;
	const isOlder = (one: RunRecord) => runSortKey(one) < runSortKey(own);
	const overlaps = ({ status, updated_at: end = '' }: RunRecord) =>
		status === 'running' || (status === 'success' && end >= own.created_at);
	if (!runs.some((one) => isOlder(one) && overlaps(one))) return false;
	return (await cancelRunning({ ...run, runId })) === undefined;
}
