import { RunEvents } from '../threads/runEvents';
import { failureMessage } from '../transport/failure';
import { isTransient } from '../transport/classifyFailure';
import { readRunState, replay } from './follow';
import type { RunState } from './follow';
import { failed } from './result';
import type { Blocker, RunResult } from './result';
import { withGracePeriod } from './run';
import type { Client, AbandonPolicy, RunRequest } from './run';
import { joinRun, readRun, requestCancel } from '../threads/runsApi';
import type { RunIds, RunRecord } from '../threads/runsApi';

/** Limit for all requests that cancel an abandoned run. */
const CANCEL_LIMIT_MS = 10_000;

/**
 * Cancels a run only if it is running: the server also marks a finished run as cancelled (recorded). If the run ends
 * meanwhile, its stream gives the result. Never throws.
 *
 * @returns whether the run was cancelled, otherwise its state
 */
export async function cancelRunById(
	run: Client,
	ids: RunIds,
): Promise<{ cancelled: boolean } & RunState> {
	const { answer: record, failure } = await readRun(run, ids);
	if (failure) return { cancelled: false, result: failed(failure) };
	if (record.status !== 'running') return { cancelled: false, ...(await readRunState(run, ids)) };
	const result = await cancelRunning(run, ids);
	return { cancelled: !result, result, record };
}

/** Cancels a running run. @returns its result if it completed before the cancellation, or why it was not cancelled */
export async function cancelRunning(run: Client, ids: RunIds): Promise<RunResult | undefined> {
	const { failure } = await requestCancel(run, ids);
	if (failure) {
		const after = isTransient(failure) ? await readRun(run, ids) : undefined;
		if (after?.answer?.status !== 'interrupted') return failed(failure);
	}
	const replayed = await replay(run, ids);
	return replayed?.status === 'completed' ? replayed : undefined;
}

/**
 * Cancels a run that nobody waits for any more, if the user wants that; the result says so. Never throws.
 *
 * @param findRunId looks up a run ID that the result lacks; called only if the run is to be cancelled
 */
export async function abandonRun(
	run: Client & AbandonPolicy,
	threadId: string,
	result: RunResult,
	findRunId?: (late: Client) => Promise<string | undefined>,
): Promise<RunResult> {
	const { signal, whenStopped, whenLate } = run;
	const isLate = result.status === 'timedOut';
	const action = signal?.aborted ? whenStopped : isLate ? whenLate : 'leave';
	if (action !== 'cancel') return result;
	const late = withGracePeriod(run, CANCEL_LIMIT_MS);
	const runId = result.runId ?? (await findRunId?.(late));
	if (runId === undefined) return result;
	const { cancelled, result: actual } = await cancelRunById(late, { threadId, runId });
	return { ...result, runId, advice: adviceFor(cancelled, actual) };
}

function adviceFor(cancelled: boolean, actual: RunResult | undefined): string {
	if (cancelled) return 'It was cancelled on the server.';
	if (!actual?.failure) return 'It had ended by then: read the thread.';
	return `It could not be cancelled, and goes on: ${failureMessage(actual.failure)}. Read the thread later.`;
}

/** A run is cancelled only if it started at least this many silence limits ago. */
const MIN_AGE_FACTOR = 3;

/**
 * Watches the run that blocks a thread. A run whose server was killed stays `running` and its stream sends only
 * heartbeats, as while a model thinks (recorded). Only the time since the last event tells them apart.
 */
export class SilenceWatch {
	/** ID of the run that was cancelled. */
	cancelledRun?: string;
	private watched?: { run: RunRecord; events: RunEvents; lastEventAt: number; abort: () => void };

	constructor(private readonly run: RunRequest) {}

	/** Joins the stream of this run, unless it is watched already. */
	watch(run: RunRecord): void {
		if (this.watched?.run.run_id === run.run_id) return;
		this.end();
		const { clock, send, threadId } = this.run;
		const [abort, events] = [new AbortController(), new RunEvents(run.run_id)];
		const watched = { run, events, lastEventAt: clock.now(), abort: () => abort.abort() };
		this.watched = watched;
		const request = joinRun({ threadId, runId: run.run_id }, events, abort.signal);
		const onEvent: typeof events.addEvent = (event) => {
			watched.lastEventAt = clock.now();
			return events.addEvent(event);
		};
		// Silence counts only while the stream is open. The next poll joins a broken stream again.
		void send({ ...request, stream: { onEvent, signal: abort.signal } }).then(() => {
			if (this.watched === watched) this.watched = undefined;
		});
	}

	/** The watched run and the time since its last event. */
	get blocker(): Blocker | undefined {
		if (!this.watched) return undefined;
		const { run, lastEventAt } = this.watched;
		return { run, silentMs: this.run.clock.now() - lastEventAt };
	}

	/** Cancels the watched run if it exceeds the silence limit and is not inside a tool call. */
	async cancelSilent(): Promise<void> {
		const { cancelSilentMs: limit, clock, threadId } = this.run;
		const { watched, blocker } = this;
		if (limit === 0 || !watched || (blocker?.silentMs ?? 0) < limit || watched.events.isInToolCall)
			return;
		const { run_id: runId, created_at: startedAt } = watched.run;
		if (clock.now() - Date.parse(startedAt) < MIN_AGE_FACTOR * limit) return;
		const { cancelled } = await cancelRunById(this.run, { threadId, runId });
		if (cancelled) this.cancelledRun = runId;
	}

	/** Stops watching. */
	end(): void {
		this.watched?.abort();
	}
}
