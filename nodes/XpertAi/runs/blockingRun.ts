import { RunEvents } from '../threads/runEvents';
import { joinRun, readRun, type RunRecord, stageOf } from '../threads/runsApi';
import type { EventStream } from '../transport/eventStream';
import { isTransient } from '../transport/failure';
import { cancelRunById } from './cancelRun';
import { waitAtMost } from './client';
import type { Run } from './run';

/** Kinds of failure that can break an open stream. The node treats all other kinds as a rejection of the stream. */
const STREAM_BREAKS = new Set(['network', 'timeout', 'cancelled']);

/**
 * How long the node waits for the end of an open stream before it reads the record of the run. All processes wait for
 * the same time: with growing pauses, the process that has waited longest would look least often.
 */
const LOOK_MS = 15_000;
/** The same after the stream has ended or was rejected. */
const LOOK_WITHOUT_STREAM_MS = 5_000;

/** The node cancels a silent run only if it started at least this many silence limits ago. */
const MIN_AGE_FACTOR = 3;

/**
 * Watches a run that blocks a thread.
 *
 * - `runId`: the ID of the run
 * - `untilEnded`: waits until the run seems to have ended. Returns early at the deadline, and after a stop of the
 *   execution. The caller must list the runs again.
 * - `silentMs`: the time since the last event of the run. If the server of the run was killed, no more events arrive,
 *   but the record of the run stays `running`. While a model thinks, its run looks the same.
 * - `end`: closes the stream
 */
export function watchRun({ cancelSilentMs: limit, ...asked }: Run, blocking: RunRecord) {
	const { clock, facts, signal } = asked;
	const { run_id: runId, created_at: startedAt } = blocking;
	const run = { ...asked, runId };
	const events = new RunEvents(runId);
	const abort = new AbortController();
	let stream: Promise<void> | undefined;
	let hasWoken = false;
	let isRejected = false;
	let [eventAt, rejectedAt] = [clock.now(), 0];
	const addEvent: EventStream['onEvent'] = (event) => {
		if (events.addEvent(event)) eventAt = clock.now();
	};
	const join = async () => {
		const heard = { lastId: events.lastId, addEvent };
		const { failure } = await run.send(joinRun(run, heard, abort.signal));
		stream = undefined;
		isRejected = failure !== undefined && !STREAM_BREAKS.has(failure.kind);
		if (isRejected) rejectedAt = clock.now();
	};
	const isOpen = () => stream !== undefined;
	const silentMs = () => clock.now() - eventAt;
	/** Milliseconds until the node may cancel the run, if no event arrives. */
	const silenceLeftMs = () => {
		// While the server rejects the stream, no events arrive. So the silence begins with the last rejection.
		const silentAt = Math.max(eventAt, rejectedAt) + limit;
		const oldAt = (Date.parse(startedAt) || 0) + MIN_AGE_FACTOR * limit;
		return Math.max(silentAt, oldAt) - clock.now();
	};
	const mayCancel = () => limit > 0 && runId !== facts.cancelledRun;
	const pause = async (ms: number, event?: Promise<void>) => {
		const leftMs = mayCancel() && silenceLeftMs() > 0 ? silenceLeftMs() : ms;
		await waitAtMost(run, Math.min(ms, leftMs), event);
	};
	/**
	 * Cancels the run after `limit` milliseconds without an event. Does not cancel a run during a tool call, or a run
	 * that started less than three times the limit ago: its model may still think.
	 *
	 * @returns whether the run was cancelled
	 */
	const cancelIfSilent = async () => {
		const isDeaf = isRejected && !isOpen();
		if (!mayCancel() || isDeaf || silenceLeftMs() > 0 || events.isInToolCall) return false;
		const { status } = await cancelRunById(run);
		if (status === 'cancelled') facts.cancelledRun = runId;
		return status === 'cancelled';
	};
	const untilEnded = async () => {
		while (run.remaining() > 0 && !signal?.aborted) {
			if (await cancelIfSilent()) return;
			stream ??= join();
			await pause(LOOK_MS, stream);
			// The first end of the stream shows the end of the run. A run that goes on after a decision ends its stream twice.
			if (events.isComplete && !hasWoken) {
				hasWoken = true;
				return;
			}
			if (!isOpen()) await pause(LOOK_WITHOUT_STREAM_MS);
			const { answer: record, failure } = await readRun(run);
			if (failure ? !isTransient(failure) : stageOf(record) !== 'goesOn') return;
		}
	};
	return { runId, untilEnded, silentMs, end: () => abort.abort() };
}
