import { RunTranscript } from '../threads/runTranscript';
import { readRun, type RunRecord, stageOf, streamRequest } from '../threads/runsApi';
import type { ServerEvent } from '../transport/eventStream';
import { isTransient } from '../transport/failure';
import { cancelRunById } from './cancelRun';
import { waitAtMost } from './client';
import type { Run, RunClient } from './run';

/** Kinds of failure that can break an open stream. After all other kinds, the stream counts as rejected. */
const STREAM_BREAKS = new Set(['network', 'timeout', 'cancelled']);

/**
 * How long the node waits for the end of an open stream before it reads the record of the run. All processes wait for
 * the same time: with growing pauses, the process that has waited longest would look least often.
 */
const RECORD_READ_INTERVAL_MS = 15_000;
/** How long the node waits before it reads the record if no stream is open: it has ended or was rejected. */
const DELAY_WITHOUT_STREAM_MS = 5_000;

/** Minimum age of a run that the node cancels because of its silence, as a multiple of `cancelSilentMs`. */
const MIN_AGE_FACTOR = 3;

/** Watches a run that blocks a thread: its event stream and its record. The caller must call `closeStream`. */
export class BlockingRunWatch {
	readonly runId: string;
	private readonly run: Run & RunClient;
	private readonly startedAt: number;
	private readonly events: RunTranscript;
	private readonly abort = new AbortController();
	/** Resolves when the open stream ends. Undefined if no stream is open. */
	private openStream?: Promise<void>;
	/** Whether the server rejected the last stream. Then the node cannot see whether the run is silent. */
	private isRejected = false;
	private lastEventAt: number;
	private lastRejectionAt = 0;
	private hasReportedEnd = false;

	constructor(run: Run, blocking: RunRecord) {
		this.runId = blocking.run_id;
		this.run = { ...run, runId: this.runId };
		this.startedAt = Date.parse(blocking.created_at) || 0;
		this.events = new RunTranscript(this.runId);
		this.lastEventAt = run.clock.now();
	}

	/**
	 * Waits until the run seems to have ended, or until the node has cancelled it because of its silence. Returns early at
	 * the deadline, and after a stop of the execution. The caller must list the runs again.
	 */
	async waitForEnd(): Promise<void> {
		const { signal, remainingMs } = this.run;
		while (remainingMs() > 0 && !signal?.aborted) {
			if (await this.cancelIfSilent()) return;
			this.openStream ??= this.readStream();
			await this.pause(RECORD_READ_INTERVAL_MS, this.openStream);
			if (this.takeFirstEndOfStream()) return;
			if (!this.isStreamOpen()) await this.pause(DELAY_WITHOUT_STREAM_MS);
			if (await this.hasEndedByRecord()) return;
		}
	}

	/**
	 * Returns the milliseconds since this watch last received an event, or since it began. If the server of the run was
	 * killed, no more events arrive, but the record of the run stays `running`. While a model thinks, its run looks the
	 * same.
	 */
	silentMs(): number {
		return this.run.clock.now() - this.lastEventAt;
	}

	/** Closes the stream. */
	closeStream(): void {
		this.abort.abort();
	}

	private isStreamOpen() {
		return this.openStream !== undefined;
	}

	private async readStream(): Promise<void> {
		const { run, events, abort } = this;
		this.isRejected = false;
		const addEvent = (event: ServerEvent) => {
			if (events.addEvent(event)) this.lastEventAt = run.clock.now();
		};
		const { failure } = await run.send(
			streamRequest(run, { lastId: events.lastId, addEvent }, abort.signal),
		);
		this.openStream = undefined;
		this.isRejected = failure !== undefined && !STREAM_BREAKS.has(failure.kind);
		if (this.isRejected) this.lastRejectionAt = run.clock.now();
	}

	/** Waits until `event` resolves, at most for `ms`. Ends early when the silence reaches its limit. */
	private async pause(ms: number, event?: Promise<void>) {
		const leftMs = this.silenceLeftMs();
		const longestMs = this.mayCancel() && leftMs > 0 ? Math.min(ms, leftMs) : ms;
		await waitAtMost(this.run, longestMs, event);
	}

	/**
	 * Returns true once: at the first end of the stream. `events.isComplete` stays true if the run goes on after a
	 * decision, so it cannot show a second end.
	 */
	private takeFirstEndOfStream(): boolean {
		const isFirst = this.events.isComplete && !this.hasReportedEnd;
		this.hasReportedEnd ||= isFirst;
		return isFirst;
	}

	/** Whether the record does not show an active run. True also if the record can never be read. */
	private async hasEndedByRecord() {
		const { answer: record, failure } = await readRun(this.run);
		return failure ? !isTransient(failure) : stageOf(record) !== 'goesOn';
	}

	/** Whether the user wants silent runs to be cancelled, and the node has not cancelled this run before. */
	private mayCancel() {
		const { cancelSilentMs, facts } = this.run;
		return cancelSilentMs > 0 && this.runId !== facts.cancelledRun;
	}

	/** Milliseconds until the node may cancel the run, if no event arrives. */
	private silenceLeftMs() {
		const { cancelSilentMs: limit, clock } = this.run;
		// While the server rejects the stream, no events arrive. So the silence begins with the last rejection.
		const silentAt = Math.max(this.lastEventAt, this.lastRejectionAt) + limit;
		// The model of a run that has just started may still think.
		const oldAt = this.startedAt + MIN_AGE_FACTOR * limit;
		return Math.max(silentAt, oldAt) - clock.now();
	}

	/**
	 * Cancels the run if it has sent no event for too long. Never cancels a run during a tool call.
	 *
	 * @returns whether the run was cancelled
	 */
	private async cancelIfSilent(): Promise<boolean> {
		const { run, events, isRejected } = this;
		if (!this.mayCancel() || this.silenceLeftMs() > 0) return false;
		if (isRejected || events.isInToolCall) return false;
		const { status } = await cancelRunById(run);
		if (status !== 'cancelled') return false;
		run.facts.cancelledRun = this.runId;
		return true;
	}
}
