import { RunEvents } from '../threads/runEvents';
import type { Failure } from '../transport/failure';
import { failureMessage } from '../transport/failure';
import { isTransient } from '../transport/classifyFailure';
import { readRunState, replay } from './readRun';
import type { RunState } from './readRun';
import { failed } from './result';
import type { Blocker, RunResult } from './result';
import { afterwards } from './run';
import type { InTime, Leaving, Sent } from './run';
import { joining, readRun, requestCancel } from '../threads/runsApi';
import type { RunIds, RunRecord } from '../threads/runsApi';

/** What is wanted of a run that nobody waits for any more may take so long. */
const LEAVING_MS = 10_000;

/**
 * Cancels a run if it goes on, and only then: the server makes a cancelled run of one that has ended (recorded). One
 * that has ended while it was asked is told by its stream. Never throws.
 *
 * @returns whether it was cancelled; how it stood otherwise
 */
export async function cancelRunById(
	run: InTime,
	ids: RunIds,
): Promise<{ cancelled: boolean } & RunState> {
	const before = await readRun(run, ids);
	if ('failure' in before) return { cancelled: false, result: failed(before.failure) };
	if (before.record.status !== 'running')
		return { cancelled: false, ...(await readRunState(run, ids)) };
	const assistantId = before.record.assistant_id ?? undefined;
	const asked = await askToCancel(run, ids);
	if ('failure' in asked) return { cancelled: false, result: failed(asked.failure), assistantId };
	return { cancelled: !asked.ended, result: asked.ended, assistantId };
}

/** Cancels a run that goes on. @returns how it has ended, if it had by then */
export async function askToCancel(
	run: InTime,
	ids: RunIds,
): Promise<{ ended?: RunResult } | { failure: Failure }> {
	const failure = await requestCancel(run, ids);
	if (failure) {
		const after = isTransient(failure) ? await readRun(run, ids) : undefined;
		const isDone = after && 'record' in after && after.record.status === 'interrupted';
		if (!isDone) return { failure };
	}
	const replayed = await replay(run, ids);
	return replayed?.status === 'completed' ? { ended: replayed } : {};
}

/**
 * What becomes of a run that is waited for no longer: where it is wanted, it is cancelled on the server, and the result
 * says what came of that. Never throws.
 *
 * @param find its ID, asked for only where it is to be cancelled
 */
export async function whenLeft(
	run: InTime & Leaving,
	threadId: string,
	result: RunResult,
	find: (late: InTime) => Promise<string | undefined>,
): Promise<RunResult> {
	const { signal, whenStopped, whenLate } = run;
	const isLate = result.status === 'timedOut';
	const wanted = signal?.aborted ? whenStopped : isLate ? whenLate : 'leave';
	if (wanted !== 'cancel') return result;
	const late = afterwards(run, LEAVING_MS);
	const runId = await find(late);
	if (runId === undefined) return result;
	const { cancelled, result: otherwise } = await cancelRunById(late, { threadId, runId });
	return { ...result, runId, advice: adviceOf(cancelled, otherwise) };
}

function adviceOf(cancelled: boolean, otherwise: RunResult | undefined): string {
	if (cancelled) return 'It was cancelled on the server.';
	if (!otherwise?.failure) return 'It had ended by then: read the thread.';
	return `It could not be cancelled, and goes on: ${failureMessage(otherwise.failure)}. Read the thread later.`;
}

/** A run that is to be cancelled has begun so many times longer ago than it may be silent. */
const AGE_FACTOR = 3;

/**
 * Watches the run that a thread is busy with. One whose server was killed says `running` for ever, and its stream gives
 * nothing but heartbeats, as that of one whose model thinks (recorded): how long, only our own clock tells.
 */
export class SilenceWatch {
	/** The run that it has cancelled. */
	cancelledRun?: string;
	private watched?: { run: RunRecord; events: RunEvents; heardAt: number; over: AbortController };

	constructor(private readonly run: Sent) {}

	/** Watches this run, unless it does so already. */
	look(run: RunRecord): void {
		if (this.watched?.run.run_id === run.run_id) return;
		this.end();
		const { clock, send, threadId } = this.run;
		const [over, events] = [new AbortController(), new RunEvents(run.run_id)];
		const watched = { run, events, over, heardAt: clock.now() };
		this.watched = watched;
		const request = joining({ threadId, runId: run.run_id }, events, over.signal);
		const hear: typeof events.hear = (event) => {
			watched.heardAt = clock.now();
			return events.hear(event);
		};
		// Silence counts only while it is listened to: what breaks is joined anew with the next look.
		void send({ ...request, stream: { hear, over: over.signal } }).then(() => {
			if (this.watched === watched) this.watched = undefined;
		});
	}

	/** The run that is watched, and how long it has given no sign. */
	get blocker(): Blocker | undefined {
		if (!this.watched) return undefined;
		const { run, heardAt } = this.watched;
		return { run, silentMs: this.run.clock.now() - heardAt };
	}

	/** Cancels the run where it has been silent for longer than is allowed, and is not in a call of a tool. */
	async cancelSilent(): Promise<void> {
		const { cancelSilentMs: limit, clock, threadId } = this.run;
		const { watched, blocker } = this;
		if (limit === 0 || !watched || (blocker?.silentMs ?? 0) < limit || watched.events.isInCall)
			return;
		const { run_id: runId, created_at: began } = watched.run;
		if (clock.now() - Date.parse(began) < AGE_FACTOR * limit) return;
		const { cancelled } = await cancelRunById(this.run, { threadId, runId });
		if (cancelled) this.cancelledRun = runId;
	}

	/** Watches nothing any more. */
	end(): void {
		this.watched?.over.abort();
	}
}
