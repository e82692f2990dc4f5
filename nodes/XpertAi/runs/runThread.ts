import isEqual from 'lodash/isEqual';
import isUndefined from 'lodash/isUndefined';
import pick from 'lodash/pick';

import { messagesOf, textOf } from '../threads/messages';
import { eventsOn, sourcesOf } from '../threads/runEvents';
import type { ThreadMessage, ThreadState } from '../threads/thread';
import { readThread, taskValues } from '../threads/thread';
import { FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import { abandonRun } from './cancel';
import { followRun } from './follow';
import { intentOf, withoutChanges } from './input';
import { executionStopped, rejectedTooLate, changedWithoutConfirmation } from './result';
import type { RunResult } from './result';
import { remaining, waitInTime } from './run';
import type { Client, Run } from './run';
import { startedRuns, listRuns } from '../threads/runsApi';
import type { RunIds, RunRecord } from '../threads/runsApi';
import { startInTurn } from './start';
import type { StartedRun } from './start';
import { waitInOneRequest } from './waitInOneRequest';

/**
 * Runs a thread and waits for the answer: starts the run in the background and joins its stream, or waits in one
 * request if the server lacks the routes of runs. Returns exactly one result. Never throws.
 */
export async function runAndWait(run: Run): Promise<RunResult> {
	const { inOneRequest, routes, signal } = run;
	const result =
		(inOneRequest || routes.areMissing ? undefined : await startAndFollow(run)) ??
		(await waitInOneRequest(run));
	return signal?.aborted ? { ...result, ...executionStopped(result.failure) } : result;
}

/** @returns undefined if the server lacks the routes of runs */
async function startAndFollow(run: Run): Promise<RunResult | undefined> {
	const intent = intentOf(run.body);
	const started = await startInTurn(run);
	if ('result' in started) {
		const { areRoutesMissing, result, findRunId } = started;
		return areRoutesMissing ? undefined : await abandonRun(run, run.threadId, result, findRunId);
	}
	const result = await followStarted(run, started);
	if (!intent.changes || !waitsWithChanges(result.interrupt, started.decided)) return result;
	// The server takes changed arguments and waits again; a second confirmation carries them out (recorded).
	const second = await startAndFollow({ ...run, body: withoutChanges(run.body) });
	const isDecided = second?.status === 'completed' || second?.status === 'interrupted';
	return second && !isDecided ? changedWithoutConfirmation(second) : second;
}

/** Whether the run waits for the same tasks again with changed arguments: the server then shows no calls (recorded). */
function waitsWithChanges(interrupt: unknown[] = [], decided: unknown[] = []): boolean {
	const isChanged = taskValues('call.id', interrupt).every(isUndefined);
	return isChanged && isEqual(taskValues('name', interrupt), taskValues('name', decided));
}

async function followStarted(run: Run, started: StartedRun): Promise<RunResult> {
	const { threadId, listener } = run;
	const ids = { threadId, runId: started.runId };
	const followed = await followRun(run, ids, { ...pick(started, ['joinId', 'decided']), listener });
	const decided = await checkRejection(run, started, followed);
	const complete = run.isNew ? decided : await withThread(run, ids, decided);
	const facts = pick(started, ['runId', 'assistantId', 'discarded', 'cancelledRun']);
	const conversationId = complete.conversationId ?? started.conversationId;
	const recovered = complete.recovered || started.recovered;
	return await abandonRun(run, threadId, { ...complete, ...facts, conversationId, recovered });
}

/** A rejection leaves no text. A result of a rejected call on the thread means that the call was carried out. */
async function checkRejection(
	run: Run,
	{ decided = [] }: StartedRun,
	result: RunResult,
): Promise<RunResult> {
	if (!intentOf(run.body).rejects || result.status !== 'completed') return result;
	const calls = taskValues('call.id', decided);
	const { answer: state } = await readThread(run, run.threadId);
	const isResult = ({ tool_call_id: id }: ThreadMessage) => id !== undefined && calls.includes(id);
	if (messagesOf(state).some(isResult)) return { ...result, ...rejectedTooLate() };
	return { ...result, output: '', rejected: true };
}

/**
 * Adds what only the thread shows: whether it contains the answer, if other runs overlapped, and what earlier runs
 * found, if the answer links to it. Never throws.
 */
export async function withThread(run: Client, ids: RunIds, result: RunResult): Promise<RunResult> {
	const { status, rejected, parts = [] } = result;
	if (status !== 'completed' || rejected) return result;
	const others = await overlappingRuns(run, ids);
	const cited = sourcesOf(parts).list(new Set());
	const linksBack = cited.some(({ documentName }) => !documentName);
	if (others.length === 0 && !linksBack) return result;
	const state = await readWhenIdle(run, ids, result, others.length > 0);
	if (!state) return result;
	const isLost = others.length > 0 && state.status !== 'busy' && !holdsAnswer(state, result);
	const earlier = linksBack ? eventsOn(state, messagesOf(state)).parts : undefined;
	return { ...result, ...(earlier && { earlier }), ...(isLost && { remembered: false }) };
}

/** The runs that were on the thread at the same time. */
async function overlappingRuns(run: Client, { threadId, runId }: RunIds): Promise<RunRecord[]> {
	const { answer = [] } = await listRuns(run, threadId);
	const runs = startedRuns(answer);
	const own = runs.find((one) => one.run_id === runId);
	const endOf = ({ status, updated_at: end = '' }: RunRecord) => (status === 'running' ? '~' : end);
	if (!own) return [];
	return runs.filter(
		(one) => one !== own && endOf(one) >= own.created_at && endOf(own) >= one.created_at,
	);
}

/** How many reads of an idle thread may lack the answer, as it may be stored late. */
const IDLE_READS = 2;

/** Reads the thread; if needed, until it contains the answer or no run can overwrite it any more. */
async function readWhenIdle(
	run: Client,
	{ threadId }: RunIds,
	result: RunResult,
	isNeeded: boolean,
): Promise<ThreadState | undefined> {
	for (let [pause, idleReads] = [FIRST_PAUSE_MS, 0]; ; pause = longerPause(pause)) {
		const { answer: state, failure } = await readThread(run, threadId);
		if (failure) return undefined;
		idleReads = state.status === 'busy' ? 0 : idleReads + 1;
		const isEnough = !isNeeded || holdsAnswer(state, result) || idleReads >= IDLE_READS;
		if (isEnough || remaining(run) <= 0 || run.signal?.aborted) return state;
		await waitInTime(run, pause);
	}
}

/** Whether the thread contains the answer: its message there has the same ID (recorded). */
function holdsAnswer(state: ThreadState, { answerId, output = '' }: RunResult): boolean {
	const isAnswer = ({ id, content }: ThreadMessage) =>
		answerId === undefined ? textOf(content) === output : id === answerId;
	return output === '' || messagesOf(state).some(isAnswer);
}
