import get from 'lodash/get';
import maxBy from 'lodash/maxBy';
import { randomUUID } from 'crypto';

import { eachTasks, readConversation } from '../threads/conversation';
import { lookAtThread } from '../threads/thread';
import type { Failure } from '../transport/failure';
import { isTransient } from '../transport/classifyFailure';
import { FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import { sanitize } from '../transport/sanitize';
import { askToCancel, SilenceWatch } from './cancel';
import { askedBy, markOn, withMark, withTarget } from './input';
import type { Asked, RunBody } from './input';
import { refused, whyUnreadable } from './openConversation';
import {
	busy,
	cancelled,
	failed,
	mayHaveArrived,
	notAnsweredAgain,
	notArrived,
	notChanged,
	nothingToDecide,
	nothingToGoOnWith,
	stillBusy,
	timedOut,
} from './result';
import type { RunResult } from './result';
import { remaining, UNREACHED_MS, waitInTime } from './run';
import type { InTime, Sent } from './run';
import {
	areRoutesMissing,
	begunRuns,
	findMessages,
	listRuns,
	newestRun,
	runPlace,
	readRun,
	SETTLING_MS,
	startRun,
} from '../threads/runsApi';
import type { RunRecord } from '../threads/runsApi';

/*
 * How a run begins. Executions on several workers share nothing but the server, which accepts two runs at once and
 * loses a pair of messages; its list of runs is the lock (recorded, turns.json):
 *
 * 1. Wait until no run of the thread goes on.
 * 2. Begin in the background, and look at the list again: what has begun before us is there, always.
 * 3. An older run goes on, or has ended since ours began: ours gives way. It is cancelled, and begins again once none
 *    goes on and what the older one has said is stored. Of two of one moment, the lower ID is the older.
 *
 * A run that has ended by then stays, as asking twice would do its work twice: where it lost its messages, it says so.
 */

/** A run that has begun, and what is known of it. */
export interface Begun {
	runId: string;
	/** What to join it by, where a decision got an ID of its own. */
	joinId?: string;
	assistantId?: unknown;
	conversationId?: string;
	/** What had waited for the decision. */
	decided?: unknown[];
	/** Whether the answer to its start was lost. */
	recovered?: true;
	discarded?: unknown[];
	cancelledRun?: string;
}

/** Why a run has not begun, or may have: what may find it then. */
export interface NotBegun {
	result: RunResult;
	find?: (inTime: InTime) => Promise<string | undefined>;
}

/** What is to be sent, once the thread is free. */
type Plan = Omit<Begun, 'runId' | 'joinId'> & {
	body: RunBody;
	mark?: string;
	/** The run that is decided, as it was before. */
	waits?: RunRecord;
};

/**
 * Begins a run once it is its turn, and makes sure that it was. It is never begun twice. Never throws.
 *
 * @returns nothing where the server has no routes of runs
 */
export async function beginRun(run: Sent): Promise<Begun | NotBegun | undefined> {
	const asked = askedBy(run.body);
	for (;;) {
		const free = run.isNew ? { runs: [] } : await untilFree(run);
		if (free === undefined || 'result' in free) return free;
		const plan = await planFor(run, asked, free.runs);
		if ('result' in plan) return plan;
		if (remaining(run) <= 0) return { result: timedOut('The run had not begun') };
		const begun = await start(run, asked, { ...plan, cancelledRun: free.cancelledRun }, free.runs);
		const isAlone = run.isNew || asked.kind === 'decision' || run.whenBusy === 'run';
		if (!begun || 'result' in begun || isAlone) return begun;
		if (!(await givesWay(run, begun.runId))) return begun;
		if (run.whenBusy === 'fail') return { result: busy() };
		await waitInTime(run, FIRST_PAUSE_MS);
	}
}

/**
 * The runs of a thread; where they cannot be read for a while, they are asked for again: nothing is sent without them.
 * A server that nothing connects to is reported soon, as by all requests. Nothing without the route.
 */
async function listInTime(
	run: Sent,
	wasReached: boolean,
): Promise<{ runs: RunRecord[] } | { failure: Failure } | undefined> {
	for (let [pause, waited] = [FIRST_PAUSE_MS, 0]; ; pause = longerPause(pause)) {
		const listed = await listRuns(run, run.threadId);
		if ('runs' in listed) return listed;
		const { failure } = listed;
		if (hasNoRoutes(run, failure)) return undefined;
		const longestMs = failure.kind === 'network' ? 0 : UNREACHED_MS;
		const isOver = remaining(run) <= 0 || (!wasReached && waited >= longestMs);
		if (!isTransient(failure) || isOver || run.signal?.aborted) return listed;
		await waitInTime(run, pause);
		waited += pause;
	}
}

/** Whether the server has no routes of runs. Others of the execution believe it where the server says so itself. */
function hasNoRoutes({ routes }: Sent, failure: Failure): boolean {
	if (!areRoutesMissing(failure)) return false;
	routes.areMissing ||= failure.missing === 'route';
	routes.failure = failure;
	return true;
}

/** Waits until no run of the thread goes on, and what was said is stored. Nothing where the server does not tell. */
async function untilFree(
	run: Sent,
): Promise<{ runs: RunRecord[]; cancelledRun?: string } | { result: RunResult } | undefined> {
	const watch = new SilenceWatch(run);
	try {
		for (let hasWaited = false; ; hasWaited = true) {
			const listed = await listInTime(run, hasWaited);
			if (run.signal?.aborted) return { result: cancelled() };
			if (listed === undefined) return undefined;
			if ('failure' in listed) return { result: failed(listed.failure) };
			const { runs } = listed;
			const blocking = newestRun(runs.filter(({ status }) => status === 'running'));
			if (!blocking || run.whenBusy === 'run') {
				if (hasWaited) await waitInTime(run, SETTLING_MS);
				return { runs, cancelledRun: watch.cancelledRun };
			}
			if (run.whenBusy === 'fail') return { result: busy({ run: blocking }) };
			watch.look(blocking);
			if (remaining(run) <= 0) return { result: stillBusy(watch.blocker) };
			await watch.cancelSilent();
			// Looks do not become rarer: who waits longest would come last.
			await waitInTime(run, FIRST_PAUSE_MS);
		}
	} finally {
		watch.end();
	}
}

/** What is to be sent. Nothing is where nothing can come of it. */
async function planFor(
	run: Sent,
	asked: Asked,
	runs: RunRecord[],
): Promise<Plan | { result: RunResult }> {
	const last = newestRun(runs);
	if (asked.kind === 'message') {
		const mark = run.isNew ? undefined : randomUUID();
		const body = mark ? withMark(run.body, mark) : run.body;
		const plan = { body, mark, assistantId: body.assistant_id ?? last?.assistant_id };
		if (last?.status !== 'interrupted') return plan;
		const { tasks, error } = await readConversation(run, run.threadId);
		return tasks.length > 0 && !error ? { ...plan, discarded: tasks } : plan;
	}
	// What nothing was said on refuses to go on, and is then busy for ever (recorded).
	if (!last)
		return { result: await whyUnreadable(run, run.threadId, nothingToGoOnWith(asked.kind)) };
	const assistantId = run.body.assistant_id ?? last.assistant_id;
	const body = { assistant_id: last.assistant_id, ...run.body };
	if (asked.kind === 'decision') return await planDecision(run, asked, { body, assistantId }, runs);
	const isDead = last.status === 'running' && begunRuns(runs).length === 1;
	return isDead ? { result: notAnsweredAgain(last) } : { body, assistantId };
}

/** A decision names the run that waits, so that it goes on under its ID; a target of the user's own stays. */
async function planDecision(
	run: Sent,
	{ changes }: Asked,
	plan: Pick<Plan, 'body' | 'assistantId'>,
	runs: RunRecord[],
): Promise<Plan | { result: RunResult }> {
	const named: unknown = get(plan.body, 'input.target.executionId');
	const waits = named ? runs.find((one) => one.run_id === named) : newestRun(runs);
	if (waits?.status !== 'interrupted') return { result: nothingToDecide() };
	const { tasks, failure, conversationId } = await readConversation(run, run.threadId);
	if (failure) return { result: failed(failure) };
	if (tasks.length === 0) return { result: nothingToDecide() };
	// With a call that does not wait, the server changes nothing, and would carry out the old arguments (recorded).
	const calls = eachTasks('call.id', tasks);
	const isWaiting = (id: unknown) => typeof id === 'string' && calls.includes(id);
	const shown = calls.flatMap((id) => (typeof id === 'string' ? (sanitize(id) ?? []) : []));
	if (changes && !changes.every(isWaiting)) return { result: notChanged(shown) };
	const body = withTarget(plan.body, waits.run_id);
	return { ...plan, body, waits, decided: tasks, conversationId };
}

/** Sends it, once. When the answer is lost, the server is asked whether it has begun. */
async function start(
	run: Sent,
	asked: Asked,
	{ body, mark, waits, ...plan }: Plan,
	before: RunRecord[],
): Promise<Begun | NotBegun | undefined> {
	const started = await startRun(run, run.threadId, body);
	if ('record' in started) {
		const { run_id: joinId } = started.record;
		return { ...plan, runId: waits?.run_id ?? joinId, joinId };
	}
	const { failure, mayBeDone } = started;
	if (hasNoRoutes(run, failure)) return undefined;
	const find = async (inTime: InTime) =>
		await findLost({ ...run, ...inTime }, asked.kind, { before, mark, waits });
	if (failure.kind === 'cancelled') return { result: cancelled(failure), find };
	if (!mayBeDone) return { result: await refused(run, failure) };
	const runId = await find(run);
	if (runId !== undefined) return { ...plan, runId, recovered: true };
	if (run.signal?.aborted) return { result: cancelled(failure), find };
	const told = asked.kind === 'decision' ? notArrived : mayHaveArrived;
	const status = remaining(run) <= 0 ? 'timedOut' : 'failed';
	return { result: { ...told(asked.kind, failure), status }, find };
}

/** How a run that was begun, or decided, can be told where the answer was lost. */
interface Lost {
	before: RunRecord[];
	mark?: string;
	waits?: RunRecord;
}

/** How often a run is looked for whose ID was lost: it stands in the list at once, and its mark in a second (recorded). */
const LOOKS = 6;
const FIRST_LOOK_MS = 500;

/** The ID of a run whose answer was lost; undefined where it is not seen, or others' cannot be told from it. */
async function findLost(run: Sent, kind: Asked['kind'], lost: Lost): Promise<string | undefined> {
	for (let looks = 1, pause = FIRST_LOOK_MS; ; looks += 1, pause = longerPause(pause)) {
		const found = await lookForLost(run, kind, lost);
		if (found !== undefined || looks === LOOKS) return found;
		if (remaining(run) <= 0 || run.signal?.aborted) return undefined;
		await waitInTime(run, pause);
	}
}

async function lookForLost(
	run: Sent,
	kind: Asked['kind'],
	{ before, mark, waits }: Lost,
): Promise<string | undefined> {
	if (waits) {
		// What is decided goes on under its ID at once; what still waits has heard of no decision (recorded).
		const reading = await readRun(run, { threadId: run.threadId, runId: waits.run_id });
		if ('failure' in reading) return undefined;
		const { status, updated_at: updated } = reading.record;
		return status !== 'interrupted' || updated !== waits.updated_at ? waits.run_id : undefined;
	}
	const listed = await listRuns(run, run.threadId);
	if ('failure' in listed) return undefined;
	const known = new Set(before.map((one) => one.run_id));
	const fresh = begunRuns(listed.runs).filter((one) => !known.has(one.run_id));
	if (run.isNew || fresh.length === 0) return newestRun(fresh)?.run_id;
	return kind === 'retry'
		? await retryAmong(run, fresh, before)
		: await markedAmong(run, fresh, mark);
}

/** The thread shows the mark of its newest question; among several runs it cannot be told which is of that. */
async function markedAmong(
	run: Sent,
	fresh: RunRecord[],
	mark: string | undefined,
): Promise<string | undefined> {
	if (fresh.length > 1 || mark === undefined) return undefined;
	const reading = await lookAtThread(run, run.threadId);
	return 'state' in reading && markOn(reading.state) === mark ? fresh[0]?.run_id : undefined;
}

/** The new run that answers the question of the last one; undefined where there are several. */
async function retryAmong(
	run: Sent,
	fresh: RunRecord[],
	before: RunRecord[],
): Promise<string | undefined> {
	const { conversationIds = [] } = await readConversation(run, run.threadId);
	const asked = newestRun(before)?.updated_at ?? '';
	for (const id of conversationIds) {
		const questions = await findMessages(run, id, { role: 'human' });
		const isEarlier = ({ createdAt = '' }) => createdAt <= asked;
		const parentId = maxBy(questions.messages?.filter(isEarlier), 'createdAt')?.id;
		if (parentId === undefined) continue;
		const { messages = [] } = await findMessages(run, id, { parentId });
		const ids = messages.map(({ executionId }) => executionId);
		const same = fresh.filter((one) => ids.includes(one.run_id));
		if (same.length > 0) return same.length === 1 ? same[0]?.run_id : undefined;
	}
	return undefined;
}

/** Whether our run was not the first, and has given way. */
async function givesWay(run: Sent, runId: string): Promise<boolean> {
	const listed = await listInTime(run, true);
	const runs = listed && 'runs' in listed ? begunRuns(listed.runs) : [];
	const own = runs.find((one) => one.run_id === runId);
	if (own?.status !== 'running' || !runs.some((one) => precedes(one, own))) return false;
	const asked = await askToCancel(run, { threadId: run.threadId, runId });
	return !('failure' in asked) && !asked.ended;
}

/** Whether another run is older and meets ours. */
export function precedes(other: RunRecord, own: RunRecord): boolean {
	if (runPlace(other) >= runPlace(own)) return false;
	if (other.status === 'running') return true;
	return other.status === 'success' && (other.updated_at ?? '') >= own.created_at;
}
