import isEqual from 'lodash/isEqual';

import { taskValues } from '../threads/conversation';
import { RunEvents } from '../threads/runEvents';
import type { Listener } from '../threads/runEvents';
import { isTransient } from '../transport/classifyFailure';
import { FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import type { Outcome } from '../transport/request';
import { readRunState } from './readRun';
import { executionStopped, resultFromEvents, stillRunning } from './result';
import type { RunResult } from './result';
import { remaining, UNREACHABLE_MS, waitInTime } from './run';
import type { Client } from './run';
import type { RunIds } from '../threads/runsApi';
import { joinRun, readRun, SETTLING_MS } from '../threads/runsApi';

/** After this long without a stream event, the run record is read. */
const SILENT_STREAM_MS = 10_000;

/** How to follow a run. */
export interface FollowOptions {
	listener?: Listener;
	/** The run ID to join the stream by, if a decision got a run ID of its own. */
	joinId?: string;
	/** The tasks that waited for the decision. */
	decided?: unknown[];
}

/**
 * Follows a run until it ends, the deadline expires or the execution is stopped. Reads the stream and joins it again
 * when it breaks; if the stream cannot tell the result, reads the run record. Never throws.
 */
export async function followRun(
	run: Client,
	ids: RunIds,
	{ listener, joinId = ids.runId, decided }: FollowOptions = {},
): Promise<RunResult> {
	// Events from before a decision may come first. The listener must not get them.
	const events = new RunEvents(ids.runId, decided ? undefined : listener);
	if (decided) events.readTasks(decided);
	const startedAt = run.clock.now();
	const seen = { isThere: false };
	let canJoin = true;
	let wasBroken = false;
	for (let pause = FIRST_PAUSE_MS; ; ) {
		const lastId = events.lastId;
		if (canJoin) {
			const outcome = await join(run, ids, joinId, events);
			if (events.isComplete && decided && (await isBeforeDecision(run, ids, events, decided))) {
				events.resume(listener);
				continue;
			}
			if (events.isComplete && events.isWhole && (!decided || events.isResumed))
				return { ...resultFromEvents(events), recovered: wasBroken };
			canJoin = outcome.ok || isTransient(outcome.failure);
		}
		wasBroken = true;
		const isUnreachable = !seen.isThere && run.clock.now() - startedAt >= UNREACHABLE_MS;
		const isLast = remaining(run) <= 0 || isUnreachable;
		const ended = await pollRun(run, ids, seen, isLast);
		// Only the stream has the token usage, and it may have a conversation that the record does not show.
		const { usage = ended?.usage, conversationId = ended?.conversationId } = events;
		if (ended) return { ...ended, usage, conversationId, recovered: !ended.failure };
		pause = events.lastId === lastId ? longerPause(pause) : FIRST_PAUSE_MS;
		await waitInTime(run, pause);
	}
}

/** Reads the run record. @returns the result if the run has ended or is given up */
async function pollRun(
	run: Client,
	ids: RunIds,
	seen: { isThere: boolean },
	isLast: boolean,
): Promise<RunResult | undefined> {
	const { result } = await readRunState(run, ids);
	const failure = result?.failure;
	if (run.signal?.aborted) return executionStopped(failure);
	if (result && !(failure && isTransient(failure))) return result;
	seen.isThere ||= !result;
	if (!isLast) return undefined;
	return result && !seen.isThere ? result : stillRunning(failure);
}

/** Whether the events so far precede the decision: a stream first replays what waited, once per decision (recorded). */
async function isBeforeDecision(
	run: Client,
	ids: RunIds,
	{ end }: RunEvents,
	decided: unknown[],
): Promise<boolean> {
	if (end.status !== 'interrupted') return false;
	if (isEqual(taskValues('id', end.tasks), taskValues('id', decided))) return true;
	const { result } = await readRunState(run, ids);
	return !isEqual(taskValues('id', end.tasks), taskValues('id', result?.interrupt));
}

/**
 * Reads the stream of a run until it ends or breaks. Stops if the stream stays silent although the run has ended: an
 * old stream is no longer stored. Never throws.
 */
async function join(run: Client, ids: RunIds, joinId: string, events: RunEvents): Promise<Outcome> {
	const [abort, done] = [new AbortController(), new AbortController()];
	void abortIfEnded(run, ids, events, { abort, done: done.signal });
	const outcome = await run.send(joinRun({ ...ids, runId: joinId }, events, abort.signal));
	done.abort();
	return outcome;
}

/** Aborts the stream if it gives no event and the run has ended. */
async function abortIfEnded(
	run: Client,
	ids: RunIds,
	events: RunEvents,
	{ abort, done }: { abort: AbortController; done: AbortSignal },
): Promise<void> {
	for (let pause = SILENT_STREAM_MS; ; pause = longerPause(pause)) {
		const lastId = events.lastId;
		await run.clock.sleep(pause, done);
		if (done.aborted) return;
		if (events.lastId !== lastId) continue;
		const reading = await readRun(run, ids);
		const hasEnded =
			'failure' in reading ? !isTransient(reading.failure) : reading.record.status !== 'running';
		if (!hasEnded) continue;
		await run.clock.sleep(SETTLING_MS, done);
		abort.abort();
		return;
	}
}
