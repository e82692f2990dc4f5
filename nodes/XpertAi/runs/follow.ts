import isEqual from 'lodash/isEqual';

import { eachTasks } from '../threads/conversation';
import { RunEvents } from '../threads/runEvents';
import type { Listener } from '../threads/runEvents';
import { isTransient } from '../transport/classifyFailure';
import { FIRST_PAUSE_MS, longerPause } from '../transport/clock';
import type { Outcome } from '../transport/request';
import { readRunState } from './readRun';
import { cancelled, resultOf, stillRunning } from './result';
import type { RunResult } from './result';
import { remaining, UNREACHED_MS, waitInTime } from './run';
import type { InTime } from './run';
import type { RunIds } from '../threads/runsApi';
import { joining, readRun, SETTLING_MS } from '../threads/runsApi';

/** So long a stream may give no event before the run itself is asked. */
const EVENTLESS_MS = 10_000;

/** How a run is followed. */
export interface Following {
	listener?: Listener;
	/** The ID to join it by, where a decision that names no run got one of its own. */
	joinId?: string;
	/** What has waited for the decision that it goes on with. */
	decided?: unknown[];
}

/**
 * Follows a run until it has ended, the deadline comes, or the execution is stopped: by its stream, which is joined
 * again where it breaks, and where that does not tell, by the run itself. Never throws.
 */
export async function followRun(
	run: InTime,
	ids: RunIds,
	{ listener, joinId = ids.runId, decided }: Following = {},
): Promise<RunResult> {
	// What was said before a decision may come first, and is not for those who listen now.
	const events = new RunEvents(ids.runId, decided ? undefined : listener);
	if (decided) events.readTasks(decided);
	const began = run.clock.now();
	const known = { isThere: false };
	let canJoin = true;
	let isBroken = false;
	for (let pause = FIRST_PAUSE_MS; ; ) {
		const heardUntil = events.lastId;
		if (canJoin) {
			const outcome = await hear(run, ids, joinId, events);
			if (events.isComplete && decided && (await isEarlierPart(run, ids, events, decided))) {
				events.goOn(listener);
				continue;
			}
			if (events.isComplete && events.isWhole && (!decided || events.hasGoneOn))
				return { ...resultOf(events), recovered: isBroken };
			canJoin = outcome.ok || isTransient(outcome.failure);
		}
		isBroken = true;
		const isUnknown = !known.isThere && run.clock.now() - began >= UNREACHED_MS;
		const isLast = remaining(run) <= 0 || isUnknown;
		const ended = await lookAt(run, ids, known, isLast);
		// The stream alone tells of tokens, and the conversation also where it is not shown otherwise.
		const { usage = ended?.usage, conversationId = ended?.conversationId } = events;
		if (ended) return { ...ended, usage, conversationId, recovered: !ended.failure };
		pause = events.lastId === heardUntil ? longerPause(pause) : FIRST_PAUSE_MS;
		await waitInTime(run, pause);
	}
}

/** Looks at the run itself, and writes down whether it is there. @returns its result once it has ended, or cannot be followed any more */
async function lookAt(
	run: InTime,
	ids: RunIds,
	known: { isThere: boolean },
	isLast: boolean,
): Promise<RunResult | undefined> {
	const { result } = await readRunState(run, ids);
	const failure = result?.failure;
	if (run.signal?.aborted) return cancelled(failure);
	if (result && !(failure && isTransient(failure))) return result;
	known.isThere ||= !result;
	if (!isLast) return undefined;
	return result && !known.isThere ? result : stillRunning(failure);
}

/**
 * Whether what has ended is of the time before the decision: joined from its beginning, a run tells first what had
 * waited then, once for each decision (recorded).
 */
async function isEarlierPart(
	run: InTime,
	ids: RunIds,
	{ end }: RunEvents,
	decided: unknown[],
): Promise<boolean> {
	if (end.status !== 'interrupted') return false;
	if (isEqual(eachTasks('id', end.tasks), eachTasks('id', decided))) return true;
	const { result } = await readRunState(run, ids);
	return !isEqual(eachTasks('id', end.tasks), eachTasks('id', result?.interrupt));
}

/**
 * Hears a run until its stream ends or breaks, or gives nothing although the run has ended, as one that is no longer
 * kept. Never throws.
 */
async function hear(run: InTime, ids: RunIds, joinId: string, events: RunEvents): Promise<Outcome> {
	const [over, done] = [new AbortController(), new AbortController()];
	void endWhenOver(run, ids, events, { over, done: done.signal });
	const outcome = await run.send(joining({ ...ids, runId: joinId }, events, over.signal));
	done.abort();
	return outcome;
}

/** Ends a stream that gives no event any more once its run has ended. */
async function endWhenOver(
	run: InTime,
	ids: RunIds,
	events: RunEvents,
	{ over, done }: { over: AbortController; done: AbortSignal },
): Promise<void> {
	for (let pause = EVENTLESS_MS; ; pause = longerPause(pause)) {
		const heardUntil = events.lastId;
		await run.clock.sleep(pause, done);
		if (done.aborted) return;
		if (events.lastId !== heardUntil) continue;
		const reading = await readRun(run, ids);
		const isOver =
			'failure' in reading ? !isTransient(reading.failure) : reading.record.status !== 'running';
		if (!isOver) continue;
		await run.clock.sleep(SETTLING_MS, done);
		over.abort();
		return;
	}
}
