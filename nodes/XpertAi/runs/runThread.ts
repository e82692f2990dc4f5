import isEqual from 'lodash/isEqual';
import isUndefined from 'lodash/isUndefined';
import pick from 'lodash/pick';

import { eachTasks } from '../threads/conversation';
import { messagesOf, textOf } from '../threads/messages';
import { partsOf, sourcesOf } from '../threads/runEvents';
import type { ThreadMessage, ThreadState } from '../threads/thread';
import { readThreadWithRetries } from '../threads/thread';
import { FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import { whenLeft } from './cancel';
import { followRun } from './follow';
import { askedBy, withoutChanges } from './input';
import { cancelled, carriedOut, changedWithoutConfirmation } from './result';
import type { RunResult } from './result';
import { remaining, waitInTime } from './run';
import type { InTime, Run } from './run';
import { begunRuns, listRuns } from '../threads/runsApi';
import type { RunIds, RunRecord } from '../threads/runsApi';
import { beginRun } from './start';
import type { Begun } from './start';
import { waitInOneRequest } from './waitInOneRequest';

/**
 * Runs a thread and waits for the answer: starts the run in the background and joins its stream, or waits in one
 * request where the server knows no such routes. Comes to exactly one result. Never throws.
 */
export async function runAndWait(run: Run): Promise<RunResult> {
	const { inOneRequest, routes, signal } = run;
	const result =
		(inOneRequest || routes.areMissing ? undefined : await startAndFollow(run)) ??
		(await waitInOneRequest(run));
	return signal?.aborted ? { ...result, ...cancelled(result.failure) } : result;
}

/** Nothing where the server has no routes of runs. */
async function startAndFollow(run: Run): Promise<RunResult | undefined> {
	const asked = askedBy(run.body);
	const begun = await beginRun(run);
	if (begun === undefined) return undefined;
	if ('result' in begun) {
		const { result, find } = begun;
		return await whenLeft(run, run.threadId, result, async (late) => await find?.(late));
	}
	const result = await followBegun(run, begun);
	if (!asked.changes || !waitsWithChanges(result.interrupt, begun.decided)) return result;
	// The server takes changed arguments and waits again; a second confirmation carries them out (recorded).
	const second = await startAndFollow({ ...run, body: withoutChanges(run.body) });
	const isDecided = second?.status === 'completed' || second?.status === 'interrupted';
	return second && !isDecided ? changedWithoutConfirmation(second) : second;
}

/**
 * Whether what was confirmed waits again; once its arguments are changed, the server shows no calls (recorded). Nobody
 * has seen anything else.
 */
function waitsWithChanges(interrupt: unknown[] = [], decided: unknown[] = []): boolean {
	const isChanged = eachTasks('call.id', interrupt).every(isUndefined);
	return isChanged && isEqual(eachTasks('name', interrupt), eachTasks('name', decided));
}

async function followBegun(run: Run, begun: Begun): Promise<RunResult> {
	const { threadId, listener } = run;
	const ids = { threadId, runId: begun.runId };
	const followed = await followRun(run, ids, { ...pick(begun, ['joinId', 'decided']), listener });
	const judged = await judgeDecision(run, begun, followed);
	const told = run.isNew ? judged : await withThread(run, ids, judged);
	const facts = pick(begun, ['runId', 'assistantId', 'discarded', 'cancelledRun']);
	const conversationId = told.conversationId ?? begun.conversationId;
	const recovered = told.recovered || begun.recovered === true;
	const result = { ...told, ...facts, conversationId, recovered };
	return await whenLeft(run, threadId, result, async () => begun.runId);
}

/** A rejection leaves no words, and carries nothing out: the thread has no answer to the calls that had waited. */
async function judgeDecision(
	run: Run,
	{ decided = [] }: Begun,
	result: RunResult,
): Promise<RunResult> {
	if (!askedBy(run.body).rejects || result.status !== 'completed') return result;
	const calls = eachTasks('call.id', decided);
	const reading = await readThreadWithRetries(run, run.threadId);
	const messages = 'state' in reading ? messagesOf(reading.state) : [];
	const isDone = ({ tool_call_id: id }: ThreadMessage) =>
		typeof id === 'string' && calls.includes(id);
	if (messages.some(isDone)) return { ...result, ...carriedOut() };
	return { ...result, output: '', rejected: true };
}

/**
 * What only the thread tells of a run that others may have met: whether it holds the answer, where another run was there
 * at the same time, and what earlier runs have found, where the answer leads there. Never throws.
 */
export async function withThread(run: InTime, ids: RunIds, result: RunResult): Promise<RunResult> {
	const { status, rejected, parts = [] } = result;
	if (status !== 'completed' || rejected) return result;
	const others = await othersOf(run, ids);
	const named = sourcesOf(parts).list(new Set());
	const leadsBack = named.some(({ documentName }) => !documentName);
	if (others.length === 0 && !leadsBack) return result;
	const state = await readAtRest(run, ids, result, others.length > 0);
	if (!state) return result;
	const isLost = others.length > 0 && state.status !== 'busy' && !holdsAnswer(state, result);
	const earlier = leadsBack ? partsOf(state, messagesOf(state)) : undefined;
	return { ...result, ...(earlier && { earlier }), ...(isLost && { remembered: false }) };
}

/** The runs that were on the thread at the same time as ours. */
async function othersOf(run: InTime, { threadId, runId }: RunIds): Promise<RunRecord[]> {
	const listed = await listRuns(run, threadId);
	if ('failure' in listed) return [];
	const runs = begunRuns(listed.runs);
	const own = runs.find((one) => one.run_id === runId);
	const endOf = ({ status, updated_at: end = '' }: RunRecord) => (status === 'running' ? '~' : end);
	if (!own) return [];
	return runs.filter(
		(one) => one !== own && endOf(one) >= own.created_at && endOf(own) >= one.created_at,
	);
}

/** How often a thread at rest is looked at for an answer that it does not hold: it may be stored late. */
const QUIET_LOOKS = 2;

/** The thread: until no run is on it, where it does not hold the answer and another may yet overwrite it. */
async function readAtRest(
	run: InTime,
	{ threadId }: RunIds,
	result: RunResult,
	isNeeded: boolean,
): Promise<ThreadState | undefined> {
	for (let [pause, quiet] = [FIRST_PAUSE_MS, 0]; ; pause = longerPause(pause)) {
		const reading = await readThreadWithRetries(run, threadId);
		if ('failure' in reading) return undefined;
		const { state } = reading;
		quiet = state.status === 'busy' ? 0 : quiet + 1;
		const isEnough = !isNeeded || holdsAnswer(state, result) || quiet >= QUIET_LOOKS;
		if (isEnough || remaining(run) <= 0 || run.signal?.aborted) return state;
		await waitInTime(run, pause);
	}
}

/** Whether a thread holds what was said last: its message has the same id there (recorded). */
function holdsAnswer(state: ThreadState, { speechId, output = '' }: RunResult): boolean {
	const isIt = ({ id, content }: ThreadMessage) =>
		speechId === undefined ? textOf(content) === output : id === speechId;
	return output === '' || messagesOf(state).some(isIt);
}
