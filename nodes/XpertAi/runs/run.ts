import type { Listener } from '../threads/runEvents';
import type { ApiClient } from '../threads/thread';
import { API_ROOT } from '../transport/api';
import type { Failure } from '../transport/failure';
import type { ApiRequest, Outcome, Send } from '../transport/request';
import type { RunBody } from './input';

/** Sends requests until the deadline expires or the execution is stopped. */
export interface Client extends ApiClient {
	/** Milliseconds since the epoch. */
	deadline: number;
	/** Sends without these limits. */
	sendUnlimited: Send;
}

/** What limits a wait. */
export type WaitLimits = Pick<Client, 'clock' | 'deadline' | 'signal'>;

/** Whether the server has the routes of runs, which the contract lacks. Shared by all runs of an execution. */
export interface RunRoutes {
	areMissing: boolean;
	/** Whether runs were listed. */
	haveListed?: boolean;
}

/** A run to start on a thread. */
export interface RunRequest extends Client {
	threadId: string;
	/** Names no assistant if the thread has one. */
	body: RunBody;
	/** Whether the thread was created for this run, so that no other run can be on it. */
	isNew: boolean;
	/** If another run is on the thread: wait for it, fail at once, or run anyway. */
	whenBusy: 'wait' | 'fail' | 'run';
	/** How long the run that blocks the thread may send no event before it is cancelled; 0 for never. */
	cancelSilentMs: number;
	routes: RunRoutes;
}

/** What to do with the run on the server when the execution is stopped or the deadline expires. */
export interface AbandonPolicy {
	whenStopped: 'leave' | 'cancel';
	whenLate: 'leave' | 'cancel';
}

/** A run to start and wait for. */
export interface Run extends RunRequest, AbandonPolicy {
	/** Gets the answer while it is written. */
	listener?: Listener;
	/** Whether to wait in the request that starts the run (E4), for servers with the contract only. */
	inOneRequest: boolean;
}

/** The last run in this process whose stream was read to its end: its answer is stored by then (recorded). */
export const followedRun: { runId?: string } = {};

/** Give up after this long if no read of the run has succeeded: the address or the server may be wrong. */
export const UNREACHABLE_MS = 60_000;

/** Shortest limit for a request, so that a last one can follow the deadline. */
const MIN_TIMEOUT_MS = 1_000;

/**
 * Limits all requests of an item: sends nothing once the execution is stopped, waits as long as the server last asked
 * for, whichever request comes next, and lets no request outlast the deadline.
 */
export function withDeadline({ send, ...limits }: ApiClient & { deadline: number }): Client {
	const { clock, signal } = limits;
	const client = { ...limits, send, sendUnlimited: send };
	let retryAfter: { until: number; failure: Failure } | undefined;
	const sendInTime: Send = async (request) => {
		const wait = retryAfter ? retryAfter.until - clock.now() : 0;
		const isTooLate = wait > remaining(client);
		if (wait > 0) await waitInTime(client, wait);
		if (signal?.aborted) return notSent(request, { kind: 'cancelled' });
		if (retryAfter && isTooLate) return notSent(request, retryAfter.failure);
		const left = Math.max(MIN_TIMEOUT_MS, remaining(client));
		const timeoutMs = Math.min(request.timeoutMs, left);
		// For a stream, `timeoutMs` limits silence and `totalMs` the whole duration.
		const totalMs = request.stream && Number.isFinite(left) ? left : timeoutMs;
		const outcome = await send({ ...request, timeoutMs, totalMs });
		const { failure } = outcome.ok ? {} : outcome;
		retryAfter = failure?.retryAfterMs
			? { failure, until: clock.now() + failure.retryAfterMs }
			: undefined;
		return outcome;
	};
	return { ...client, send: sendInTime };
}

/** A client for the requests that follow the deadline or the stop, with a deadline of its own. */
export function withGracePeriod({ sendUnlimited, clock }: Client, ms: number): Client {
	const send: Send = async (request) => await sendUnlimited({ ...request, afterStop: true });
	return withDeadline({ send, clock, deadline: clock.now() + ms, signal: undefined });
}

/** The outcome of a request that was not sent. */
function notSent({ method, path }: ApiRequest, failure: Omit<Failure, 'method' | 'path'>): Outcome {
	return { ok: false, failure: { ...failure, method, path: API_ROOT + path } };
}

/** Milliseconds until the deadline, at least 0. */
export function remaining({ deadline, clock }: WaitLimits): number {
	return Math.max(0, deadline - clock.now());
}

/** Waits for the given milliseconds, but not beyond the deadline; ends when the execution is stopped. */
export async function waitInTime(run: WaitLimits, pause: number): Promise<void> {
	await run.clock.sleep(Math.min(pause, remaining(run)), run.signal);
}
