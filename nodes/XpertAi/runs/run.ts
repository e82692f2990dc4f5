import { isEqual, pick } from 'lodash';

import type { LockSupport } from '../threads/lockRecord';
import { type Listener, RunEvents, sourcesOf } from '../threads/runEvents';
import {
	findAnswer,
	joinRun,
	readConversation,
	readRun,
	SETTLING_MS,
	stageOf,
	taskValues,
} from '../threads/thread';
import type { RunIds } from '../threads/thread';
import { FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import { isTransient } from '../transport/failure';
import type { Outcome } from '../transport/request';
import { Client, repeated } from './client';
import { RunBody, Intent } from './runBody';
import {
	RunFacts,
	RunState,
	resultFromEvents,
	RunResult,
	executionStopped,
	STILL_RUNNING,
	timedOut,
	Interrupted,
	Completed,
} from './result';
import { overlapsOthers, withThread } from './overlap';
import { readRunState, hasProof, readSettled } from './readRunState';
import { abandonRun } from './cancelRun';

/* The client, the settings and the request body of a run. */

/** A client for one run, with the IDs and the facts of this run. */
export type RunClient = Client & RunIds & Pick<Run, 'facts'>;

/** A run to start, with its settings. */
export interface Run extends Client {
	threadId: string;
	/** What is known about the run so far. The output and the error contain these facts. */
	facts: RunFacts;
	/** The request body. A message requires `assistant_id`. For a decision or a retry, the node adds a missing ID. */
	body: RunBody;
	intent: Intent;
	/** Whether the node created the thread for this run. If true, no other run uses the thread. */
	isNew: boolean;
	/** What to do if another run is active on the thread: wait for its end, fail at once, or run anyway. */
	whenBusy: 'wait' | 'fail' | 'run';
	/** The node cancels another run on the thread after this many milliseconds without events of that run. 0: never. */
	cancelSilentMs: number;
	/** Whether the server lacks the routes for background runs. All runs with the same connection share this object. */
	routes: { areMissing: boolean };
	/** What is known about locks on the server. All runs with the same token share this object. */
	locks: LockSupport;
	/** Receives the answer in pieces, while the assistant writes it. */
	listener?: Listener;
	/** Whether to start the run and wait for it in one request, for servers without background runs. */
	inOneRequest?: boolean;
	/** What to do with the run on the server when the execution is stopped or the deadline expires. */
	whenGivenUp?: 'leave' | 'cancel';
}

/**
 * The last run whose stream this process read to the end. The server stores an answer before it ends the stream. So
 * the node does not wait for this answer to be stored.
 */
export const followedRun: { runId?: string } = {};

/** Reads the conversation of a run's thread. Sets `facts.conversationId` if it is undefined. Never throws. */
export async function conversationOf(run: Client & Pick<Run, 'threadId' | 'facts'>) {
	const found = await readConversation(run, run.threadId);
	run.facts.conversationId ??= found.conversationId;
	return found;
}

/* The results of a run, with the messages for the user. */

export const HANGING_ADVICE =
	'If its server was restarted, the run may never end: end it with Thread: Cancel Run, or set "When the Thread Is Busy" to "Run Anyway".';

/* Operations on a run by its ID: read, follow and cancel. */

export interface Following {
	/** ID of the stream to read. The stream of a decision can have a different ID than the run. */
	joinId?: string;
	/** For a decision: the tasks that waited for it. */
	decided?: unknown[];
}

/**
 * Follows a run until it ends or waits for a person. Stops early at the deadline, or when the execution is stopped.
 * Reconnects if the stream breaks. Reads the run record if the stream gives no result. Never throws.
 */
export async function waitForRunResult(
	run: RunClient & Pick<Run, 'listener'>,
	{ joinId = run.runId, decided }: Following = {},
): Promise<RunResult> {
	const { facts, listener } = run;
	// The stream of a decision can begin with events from before the decision. The listener must not get these events.
	const events = new RunEvents(run.runId, decided ? undefined : listener);
	if (decided) events.readTasks(decided);
	/** Whether the stream shows the run from its beginning. A new stream can begin with the decision. */
	let hasAllParts = decided === undefined;
	for (let pause = FIRST_PAUSE_MS; ; ) {
		const { lastId } = events;
		await join(run, joinId, events);
		facts.conversationId ??= events.conversationId;
		if (events.isComplete && decided && (await isBeforeDecision(run, events, decided))) {
			events.resume(listener);
			hasAllParts = true;
			continue;
		}
		// Use the stream only if it has the ID of this run. A different ID may belong to another run.
		if (events.isComplete && events.isWhole && joinId === run.runId) {
			followedRun.runId = run.runId;
			const result = await resultOfStream(run, events);
			return hasAllParts ? result : await withStoredParts(run, result);
		}
		const state = await readRunState(run);
		const failure = 'failure' in state ? state.failure : undefined;
		if (run.signal?.aborted) return executionStopped(failure);
		if (state.status !== 'running' && state.status !== 'unread') return state;
		if (run.remaining() <= 0) return { ...STILL_RUNNING, failure };
		pause = events.lastId === lastId ? longerPause(pause) : FIRST_PAUSE_MS;
		await run.wait(pause);
	}
}

/**
 * Returns the result of a complete stream. If the stream contains no answer, reads the stored message of the run. If the
 * end of the stream may come from another run, reads the state of the run when that run has ended.
 */
async function resultOfStream(run: RunClient, events: RunEvents): Promise<RunResult> {
	const result = resultFromEvents(events);
	if (result.status === 'interrupted')
		return (await overlapsOthers(run)) ? await settledResult(run, result) : result;
	if (result.status !== 'completed' || result.output !== '' || result.otherParts.length > 0)
		return result;
	const { answer: record } = await (hasProof(events) ? {} : readRun(run));
	if (record && record.status !== 'success') return await settledResult(run, result);
	const read = async () => await findAnswer(run, await conversationOf(run), run.runId);
	const { message, failure } = await repeated(run, read, (found) => !found.failure);
	if (failure)
		return { ...timedOut('The run has ended, but its answer could not be read'), failure };
	const stored = new RunEvents(run.runId);
	stored.readContent(message?.content);
	return { ...result, ...pick(stored, ['output', 'otherParts', 'answerId']) };
}

/** Reads the state of an ended run until it has a result. `streamed` is the result by the stream of the run. */
async function settledResult(
	run: RunClient,
	streamed: Interrupted | Completed,
): Promise<RunResult> {
	const read = async () => await readRunState(run);
	const isResult = ({ status }: RunState) => status !== 'running' && status !== 'unread';
	const state = await repeated(run, read, isResult, SETTLING_MS);
	if (state.status === 'interrupted' && streamed.status === 'interrupted') return streamed;
	if (state.status !== 'running' && state.status !== 'unread') return state;
	const failure = 'failure' in state ? state.failure : undefined;
	if (run.signal?.aborted) return executionStopped(failure);
	return { ...timedOut('What became of the run was not yet known'), failure };
}

/**
 * Replaces the parts of an answer with sources by those of the stored message, which also contains the parts from before
 * a decision. So the sources keep the numbers that they had before the decision.
 */
async function withStoredParts(run: RunClient, result: RunResult): Promise<RunResult> {
	if (!('parts' in result) || sourcesOf(result.parts).list(new Set()).length === 0) return result;
	const { message } = await findAnswer(run, await conversationOf(run), run.runId);
	const stored = new RunEvents(run.runId);
	stored.readContent(message?.content);
	return stored.output === result.output ? { ...result, parts: stored.parts } : result;
}

/**
 * Whether the events so far end with an interruption that already has a decision. If so, the stream sends more events.
 */
async function isBeforeDecision(run: RunClient, { end }: RunEvents, decided: unknown[]) {
	if (end.status !== 'interrupted') return false;
	if (isEqual(taskValues('id', end.tasks), taskValues('id', decided))) return true;
	const state = await readRunState(run);
	const interrupt = 'interrupt' in state ? state.interrupt : [];
	return !isEqual(taskValues('id', end.tasks), taskValues('id', interrupt));
}

/** How long the node waits for an event of a stream before it reads the run record. */
const SILENT_STREAM_MS = 10_000;

/**
 * Reads the stream of a run until the stream ends or breaks. While no events arrive, polls the run record. Stops if the
 * record shows that the run has ended. Also stops after a permanent failure to read the record. Never throws.
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

/**
 * Reads the state of a run by its ID. Does not follow a run whose record cannot be read, because the ID may be wrong.
 * Before it follows a run, it retries temporary failures to read the record for `UNREACHABLE_MS`. Never throws.
 *
 * @param waits whether to follow a running run to its end
 */
export async function readOrFollow(
	run: RunClient & Pick<Run, 'whenGivenUp'>,
	waits: boolean,
): Promise<RunState> {
	// Start with the record, because the server may no longer store the stream.
	const state = await readSettled(run, waits);
	const mayGoOn = state.status === 'running' || (state.status === 'unread' && state.isThere);
	const followed = mayGoOn && waits ? await waitForRunResult(run) : state;
	const known = await withThread(run, await abandonRun(run, followed));
	return { ...known, ...run.facts };
}
