import compact from 'lodash/compact';
import isEqual from 'lodash/isEqual';
import isString from 'lodash/isString';
import isUndefined from 'lodash/isUndefined';

import { findAnswer, readConversation, taskValues } from '../threads/conversation';
import { messagesOf, textOf, readThread } from '../threads/thread';
import { eventsOn, RunEvents, sourcesOf } from '../threads/runEvents';
import { joinRun, listRuns, readRun, SETTLING_MS, stageOf, startedRuns } from '../threads/runsApi';
import type { RunRecord } from '../threads/runsApi';
import type { ThreadMessage, ThreadState } from '../threads/thread';
import { isNoRoute, isTransient } from '../transport/classifyFailure';
import { FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import type { Outcome } from '../transport/request';
import { followedRun, readThreadPatiently, repeated, UNREACHABLE_MS, withoutChanges } from './run';
import type { Run, RunClient } from './run';
import {
	executionStopped,
	failed,
	resultFromEvents,
	stillRunning,
	timedOut,
	withFacts,
} from './runResult';
import type { Completed, RunResult, RunState } from './runResult';
import { abandonRun, readRunState } from './runState';
import { isElsewhere, startInTurn, type StartedRun } from './start';
import { waitInOneRequest } from './waitInOneRequest';

/**
 * Runs a thread and waits for the answer: starts the run in the background and joins its stream, or waits in one
 * request if the server lacks the routes of runs. Never throws.
 */
export async function runAndWait(run: Run): Promise<RunResult> {
	const { inOneRequest, routes, signal, threadId, conversationId } = run;
	const ended =
		(inOneRequest || routes.areMissing ? undefined : await startAndFollow(run)) ??
		(await waitInOneRequest(run));
	const result = withFacts({ threadId, ...ended }, { conversationId });
	const failure = 'failure' in result ? result.failure : undefined;
	return signal?.aborted ? { ...result, ...executionStopped(failure) } : result;
}

/** @returns undefined if the server lacks the routes of runs */
async function startAndFollow(run: Run): Promise<RunResult | undefined> {
	const started = await startInTurn(run);
	if (started.kind === 'started') return await followStarted(run, started);
	if (started.kind === 'noRoutes') return undefined;
	return (await abandonRun(run, started.result, started.find)) as RunResult;
}

async function followStarted(asked: Run, started: StartedRun): Promise<RunResult> {
	const { threadId, runId, decided, facts } = started;
	const run = { ...asked, threadId, runId };
	run.onStart?.(runId);
	const followed = await waitForRunResult(run, { ...started, isKnown: true });
	const checked = await checkDecision(run, followed, decided);
	if (run.intent.changes && waitsWithChanges(checked, decided)) {
		// The server takes changed arguments and waits again; a second confirmation carries them out (recorded).
		const intent = { ...run.intent, changes: undefined };
		const second = await startAndFollow({ ...asked, intent, body: withoutChanges(run.body) });
		if (!second || second.status === 'completed') return second ?? checked;
		const advice = 'advice' in second ? second.advice : undefined;
		return { ...second, advice: compact([UNCONFIRMED_ADVICE, advice]).join(' ') } as RunResult;
	}
	const complete = isElsewhere(asked, started)
		? notRemembered(checked)
		: run.isNew
			? checked
			: await withThread(run, checked);
	const { conversationId = facts.conversationId } = complete;
	const whole = withFacts(complete, { ...facts, threadId, runId, conversationId });
	return (await abandonRun(run, whole)) as RunResult;
}

const notRemembered = (result: RunResult): RunResult =>
	result.status === 'completed' ? { ...result, remembered: false } : result;

/** Shown if the server took the changed arguments, but the confirmation that carries them out failed. */
const UNCONFIRMED_ADVICE =
	'The changed arguments have arrived. If the thread still waits, decide again, with "Changed Arguments" left empty.';

/** Whether the run waits for the same tasks again with changed arguments: the server then shows no calls (recorded). */
function waitsWithChanges(result: RunResult, decided: unknown[] = []): boolean {
	if (result.status !== 'interrupted') return false;
	const { interrupt } = result;
	const isChanged = taskValues('call.id', interrupt).every(isUndefined);
	return isChanged && isEqual(taskValues('name', interrupt), taskValues('name', decided));
}

/**
 * Compares an answer without words to a decision with the thread. The result of a rejected call means that it was
 * carried out; no result of a confirmed call, that it was rejected.
 */
async function checkDecision(run: Run, result: RunResult, decided?: unknown[]): Promise<RunResult> {
	if (!decided || result.status !== 'completed') return result;
	const { rejects } = run.intent;
	const isSilent = result.output === '' && result.otherParts.length === 0;
	if (!rejects && !isSilent) return result;
	const { conversationId } = result;
	const { answer: state, failure } = await readThreadPatiently(run);
	if (failure) return { ...failed(NOT_KNOWN, undefined, failure), conversationId };
	const calls = taskValues('call.id', decided).filter(isString);
	const isResult = ({ tool_call_id: id }: ThreadMessage) => isString(id) && calls.includes(id);
	const wasCarriedOut = messagesOf(state).some(isResult);
	if (wasCarriedOut !== Boolean(rejects) || calls.length === 0)
		return rejects ? { ...result, output: '', rejected: true } : result;
	return { ...(rejects ? REJECTED_TOO_LATE : CONFIRMED_TOO_LATE), conversationId };
}

const NOT_KNOWN = 'The server took the decision, but what became of it is not known';

const REJECTED_TOO_LATE = failed(
	'What was rejected was carried out',
	'Somebody else has confirmed it before the rejection arrived. Read the thread to see what was done.',
);

const CONFIRMED_TOO_LATE = failed(
	'What was confirmed was not carried out',
	'Somebody else has rejected it before the confirmation arrived.',
);

/** How a run is followed. If this execution has started or read it, only the server can say that it has failed. */
type Following = Pick<StartedRun, 'joinId' | 'decided'> & { isKnown?: boolean };

/**
 * Follows a run until it ends, the deadline expires or the execution is stopped. Reads the stream and joins it again
 * when it breaks; if the stream cannot tell the result, reads the run record. Never throws.
 */
export async function waitForRunResult(
	run: RunClient & Pick<Run, 'listener'>,
	{ joinId = run.runId, decided, isKnown = false }: Following = {},
): Promise<RunResult> {
	const { listener } = run;
	// Events from before a decision may come first. The listener must not get them.
	const events = new RunEvents(run.runId, decided ? undefined : listener);
	if (decided) events.readTasks(decided);
	const startedAt = run.clock.now();
	let [hasStream, isThere, pause] = [true, isKnown, FIRST_PAUSE_MS];
	for (;;) {
		const { lastId } = events;
		if (hasStream) {
			const { failure } = await join(run, joinId, events);
			hasStream = !failure || !isNoRoute(failure);
			if (events.isComplete && decided && (await isBeforeDecision(run, events, decided))) {
				events.resume(listener);
				continue;
			}
			// Under another ID, the stream may be that of another run: the record of this one tells.
			if (events.isComplete && events.isWhole && joinId === run.runId) {
				followedRun.runId = run.runId;
				return await resultOfStream(run, events);
			}
		}
		const state = await readRunState(run);
		isThere ||= state.status !== 'unread' || state.isThere === true;
		const isUnreachable = !isThere && run.clock.now() - startedAt >= UNREACHABLE_MS;
		const isOver = run.remaining() <= 0 || isUnreachable;
		const failure = 'failure' in state ? state.failure : undefined;
		// The stream may have a conversation that the record does not show.
		const facts = { conversationId: events.conversationId };
		if (run.signal?.aborted) return withFacts(executionStopped(failure), facts);
		if (state.status !== 'running' && state.status !== 'unread') return withFacts(state, facts);
		if (!isThere && failure && (isOver || !isTransient(failure)))
			return withFacts({ status: 'failed', failure }, facts);
		if (isOver) return withFacts(stillRunning(failure), facts);
		pause = events.lastId === lastId ? longerPause(pause) : FIRST_PAUSE_MS;
		await run.wait(pause);
	}
}

const UNREAD_ANSWER = 'The run has ended, but its answer could not be read';

/** The result of a stream. An empty answer is compared with the message of the run, once that can be read. */
async function resultOfStream(run: RunClient, events: RunEvents): Promise<RunResult> {
	const result = resultFromEvents(events);
	const isSilent = result.status === 'completed' && result.output === '';
	if (!isSilent || result.otherParts.length > 0) return result;
	const read = async (): ReturnType<typeof findAnswer> => {
		const { conversationIds, failure } = await readConversation(run, run.threadId);
		return failure ? { failure } : await findAnswer(run, conversationIds, run.runId);
	};
	const { message, failure } = await repeated(run, read, (found) => !found.failure);
	if (failure) {
		const { conversationId } = result;
		const unread = run.signal?.aborted
			? executionStopped(failure)
			: timedOut(UNREAD_ANSWER, undefined, failure);
		return withFacts(unread, { conversationId });
	}
	const stored = new RunEvents(run.runId);
	stored.readContent(message?.content);
	const { answer: output, otherParts, answerId } = stored;
	return { ...result, output, otherParts, answerId };
}

/** Whether the events so far precede the decision: a stream first replays what waited, once per decision (recorded). */
async function isBeforeDecision(run: RunClient, { end }: RunEvents, decided: unknown[]) {
	if (end.status !== 'interrupted') return false;
	if (isEqual(taskValues('id', end.tasks), taskValues('id', decided))) return true;
	const state = await readRunState(run);
	const interrupt = 'interrupt' in state ? state.interrupt : [];
	return !isEqual(taskValues('id', end.tasks), taskValues('id', interrupt));
}

/** After this long without a stream event, the run record is read. */
const SILENT_STREAM_MS = 10_000;

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

/** How many reads of an idle thread may lack the answer, as it may be stored late. */
const IDLE_READS = 2;

/**
 * Adds what only the thread shows: whether it contains the answer, if other runs overlapped, and what earlier runs
 * found, if the answer links to it. Never throws.
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

/** Whether other runs were on the thread at the same time. */
async function overlapsOthers(run: RunClient): Promise<boolean> {
	const { answer = [] } = await listRuns(run, run.threadId);
	const runs = startedRuns(answer);
	const own = runs.find((one) => one.run_id === run.runId);
	if (!own) return false;
	const endOf = (one: RunRecord) => (stageOf(one) === 'goesOn' ? '~' : (one.updated_at ?? ''));
	const overlaps = (one: RunRecord) => endOf(one) >= own.created_at && endOf(own) >= one.created_at;
	return runs.some((one) => one !== own && overlaps(one));
}

/** Whether the thread contains the answer: its message there has the same ID (recorded). */
function holdsAnswer(state: ThreadState, { answerId, output }: Completed): boolean {
	const isAnswer = ({ id, content }: ThreadMessage) =>
		answerId === undefined ? textOf(content) === output : id === answerId;
	return output === '' || messagesOf(state).some(isAnswer);
}
