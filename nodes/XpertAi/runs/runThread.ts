import compact from 'lodash/compact';
import isEqual from 'lodash/isEqual';
import isUndefined from 'lodash/isUndefined';
import omit from 'lodash/omit';
import pick from 'lodash/pick';

import { messagesOf, textOf } from '../threads/messages';
import { eventsOn, RunEvents, sourcesOf } from '../threads/runEvents';
import { joinRun, listRuns, readRun, SETTLING_MS, startedRuns } from '../threads/runsApi';
import type { RunIds, RunRecord } from '../threads/runsApi';
import { readThread, taskValues } from '../threads/thread';
import type { ThreadMessage, ThreadState } from '../threads/thread';
import { isTransient } from '../transport/classifyFailure';
import { FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import type { Outcome } from '../transport/request';
import { intentOf, PATCH } from './input';
import type { ThreadIds } from './openConversation';
import {
	executionStopped,
	failed,
	followedRun,
	resultFromEvents,
	stillRunning,
	UNREACHABLE_MS,
} from './run';
import type { Run, RunClient, RunResult } from './run';
import { abandonRun, readRunState } from './runState';
import { startInTurn } from './start';
import type { StartedRun } from './start';
import { waitInOneRequest } from './waitInOneRequest';

/**
 * Runs a thread and waits for the answer: starts the run in the background and joins its stream, or waits in one
 * request if the server lacks the routes of runs. Returns exactly one result. Never throws.
 */
export async function runAndWait(run: Run): Promise<RunResult & ThreadIds> {
	const { inOneRequest, routes, signal, threadId } = run;
	const result =
		(inOneRequest || routes.areMissing ? undefined : await startAndFollow(run)) ??
		(await waitInOneRequest(run));
	const conversationId = run.conversationId ?? result.conversationId;
	const stopped = signal?.aborted && executionStopped(result.failure);
	return { ...result, ...stopped, threadId, conversationId };
}

/** @returns undefined if the server lacks the routes of runs */
async function startAndFollow(run: Run): Promise<RunResult | undefined> {
	const intent = intentOf(run.body);
	const started = await startInTurn(run);
	const { areRoutesMissing, runId } = started;
	if (areRoutesMissing) return undefined;
	if (runId === undefined) return await abandonRun(run, started);
	const result = await followStarted({ ...run, runId }, started);
	if (!intent.changes || !waitsWithChanges(result.interrupt, started.decided)) return result;
	// The server takes changed arguments and waits again; a second confirmation carries them out (recorded).
	const second = await startAndFollow({ ...run, body: omit(run.body, PATCH) });
	return second && { ...second, advice: compact([UNCONFIRMED_ADVICE, second.advice]).join(' ') };
}

/** Shown if the server took the changed arguments, but the confirmation that carries them out failed. */
const UNCONFIRMED_ADVICE =
	'The changed arguments have arrived. If the thread still waits, decide again, with "Changed Arguments" left empty.';

/** Whether the run waits for the same tasks again with changed arguments: the server then shows no calls (recorded). */
function waitsWithChanges(interrupt: unknown[] = [], decided: unknown[] = []): boolean {
	const isChanged = taskValues('call.id', interrupt).every(isUndefined);
	return isChanged && isEqual(taskValues('name', interrupt), taskValues('name', decided));
}

async function followStarted(run: Run & RunIds, started: StartedRun): Promise<RunResult> {
	const followed = await waitForRunResult(run, started);
	const checked = await checkRejection(run, started, followed);
	const complete = run.isNew ? checked : await withThread(run, checked);
	const facts = pick(started, ['runId', 'assistantId', 'discarded', 'cancelledRun']);
	const conversationId = complete.conversationId ?? started.conversationId;
	const recovered = complete.recovered || started.recovered;
	return await abandonRun(run, { ...complete, ...facts, conversationId, recovered });
}

/** A rejection leaves no text. A result of a rejected call on the thread means that the call was carried out. */
async function checkRejection(
	run: Run,
	started: StartedRun,
	result: RunResult,
): Promise<RunResult> {
	if (!intentOf(run.body).rejects || result.status !== 'completed') return result;
	const calls = taskValues('call.id', started.decided);
	const { answer: state } = await readThread(run, run.threadId);
	const isResult = ({ tool_call_id: id }: ThreadMessage) => id !== undefined && calls.includes(id);
	if (messagesOf(state).some(isResult)) return { ...result, ...REJECTED_TOO_LATE };
	return { ...result, output: '', rejected: true };
}

const REJECTED_TOO_LATE = failed(
	'What was rejected was carried out',
	'Somebody else has confirmed it before the rejection arrived. Read the thread to see what was done.',
);

/** After this long without a stream event, the run record is read. */
const SILENT_STREAM_MS = 10_000;

/**
 * Follows a run until it ends, the deadline expires or the execution is stopped. Reads the stream and joins it again
 * when it breaks; if the stream cannot tell the result, reads the run record. Never throws.
 */
export async function waitForRunResult(
	run: RunClient & Pick<Run, 'listener'>,
	{ joinId = run.runId, decided }: Partial<StartedRun> = {},
): Promise<RunResult> {
	const { listener } = run;
	// Events from before a decision may come first. The listener must not get them.
	const events = new RunEvents(run.runId, decided ? undefined : listener);
	if (decided) events.readTasks(decided);
	const startedAt = run.clock.now();
	let [canJoin, wasBroken, isThere] = [true, false, false];
	for (let pause = FIRST_PAUSE_MS; ; ) {
		const lastId = events.lastId;
		if (canJoin) {
			const outcome = await join(run, joinId, events);
			if (events.isComplete && decided && (await isBeforeDecision(run, events, decided))) {
				events.resume(listener);
				continue;
			}
			// Under another ID, the stream may be that of another run: the record of this one tells.
			if (events.isComplete && events.isWhole && joinId === run.runId) {
				followedRun.runId = run.runId;
				return { ...resultFromEvents(events), recovered: wasBroken };
			}
			canJoin = outcome.ok || isTransient(outcome.failure);
		}
		wasBroken = true;
		const state = await readRunState(run);
		const { status, failure, assistantId } = state;
		isThere ||= assistantId !== undefined;
		const isUnreachable = !isThere && run.clock.now() - startedAt >= UNREACHABLE_MS;
		let ended = status === 'running' || (failure && isTransient(failure)) ? undefined : state;
		if (run.remaining() <= 0 || isUnreachable) ended ??= isThere ? stillRunning(failure) : state;
		if (run.signal?.aborted) ended = executionStopped(failure);
		// Only the stream has the token usage, and it may have a conversation that the record does not show.
		const { usage = ended?.usage, conversationId = ended?.conversationId } = events;
		if (ended) return { ...ended, usage, conversationId, recovered: !ended.failure };
		pause = events.lastId === lastId ? longerPause(pause) : FIRST_PAUSE_MS;
		await run.wait(pause);
	}
}

/** Whether the events so far precede the decision: a stream first replays what waited, once per decision (recorded). */
async function isBeforeDecision(
	run: RunClient,
	{ end }: RunEvents,
	decided: unknown[],
): Promise<boolean> {
	if (end.status !== 'interrupted') return false;
	if (isEqual(taskValues('id', end.tasks), taskValues('id', decided))) return true;
	const { interrupt } = await readRunState(run);
	return !isEqual(taskValues('id', end.tasks), taskValues('id', interrupt));
}

/**
 * Reads the stream of a run until it ends or breaks. Stops if the stream stays silent although the run has ended: an
 * old stream is no longer stored. Never throws.
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
			if (failure ? isTransient(failure) : record.status === 'running') continue;
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
 * Adds what only the thread shows: whether it contains the answer, if other runs overlapped, and what earlier runs
 * found, if the answer links to it. Never throws.
 */
export async function withThread(run: RunClient, result: RunResult): Promise<RunResult> {
	const { status, rejected, parts = [] } = result;
	if (status !== 'completed' || rejected) return result;
	const hasOverlap = await overlapsOthers(run);
	const cited = sourcesOf(parts).list(new Set());
	const linksBack = cited.some(({ documentName }) => !documentName);
	if (!hasOverlap && !linksBack) return result;
	const state = await readWhenIdle(run, result, hasOverlap);
	if (!state) return result;
	const isLost = hasOverlap && state.status !== 'busy' && !holdsAnswer(state, result);
	const earlier = linksBack ? eventsOn(state, messagesOf(state)).parts : undefined;
	return { ...result, ...(earlier && { earlier }), ...(isLost && { remembered: false }) };
}

/** Whether other runs were on the thread at the same time. */
async function overlapsOthers(run: RunClient): Promise<boolean> {
	const { answer = [] } = await listRuns(run, run.threadId);
	const runs = startedRuns(answer);
	const own = runs.find((one) => one.run_id === run.runId);
	if (!own) return false;
	const endOf = ({ status, updated_at: end = '' }: RunRecord) => (status === 'running' ? '~' : end);
	const overlaps = (one: RunRecord) => endOf(one) >= own.created_at && endOf(own) >= one.created_at;
	return runs.some((one) => one !== own && overlaps(one));
}

/** How many reads of an idle thread may lack the answer, as it may be stored late. */
const IDLE_READS = 2;

/** Reads the thread; if needed, until it contains the answer or no run can overwrite it any more. */
async function readWhenIdle(
	run: RunClient,
	result: RunResult,
	isNeeded: boolean,
): Promise<ThreadState | undefined> {
	for (let [pause, idleReads] = [FIRST_PAUSE_MS, 0]; ; pause = longerPause(pause)) {
		const { answer: state, failure } = await readThread(run, run.threadId);
		if (failure) return undefined;
		idleReads = state.status === 'busy' ? 0 : idleReads + 1;
		const isEnough = !isNeeded || holdsAnswer(state, result) || idleReads >= IDLE_READS;
		if (isEnough || run.remaining() <= 0 || run.signal?.aborted) return state;
		await run.wait(pause);
	}
}

/** Whether the thread contains the answer: its message there has the same ID (recorded). */
function holdsAnswer(state: ThreadState, { answerId, output = '' }: RunResult): boolean {
	const isAnswer = ({ id, content }: ThreadMessage) =>
		answerId === undefined ? textOf(content) === output : id === answerId;
	return output === '' || messagesOf(state).some(isAnswer);
}
