import type { Listener } from '../threads/runEvents';
import type { Asking } from '../threads/thread';
import { API_ROOT } from '../transport/api';
import type { Failure } from '../transport/failure';
import type { ApiRequest, Outcome, Send } from '../transport/request';
import type { RunBody } from './input';

/** What is needed to send requests until a deadline, or until the execution is stopped. */
export interface InTime extends Asking {
	/** Milliseconds since the epoch. */
	deadline: number;
	/** Sends also what the deadline and Stop hold back. */
	sendUnlimited: Send;
}

/** What is needed to wait. */
export type Waiting = Pick<InTime, 'clock' | 'deadline' | 'signal'>;

/** What all runs of an execution know of the server's routes of runs: the contract has none. */
export interface Routes {
	areMissing: boolean;
	/** What was answered where a run found none. */
	failure?: Failure;
}

/** What is sent to a thread. */
export interface Sent extends InTime {
	threadId: string;
	/** Without the assistant where the thread names it. */
	body: RunBody;
	/** Whether the thread was made for this run, so that nothing else can be on it. */
	isNew: boolean;
	/** With another run on the thread: wait for it to end, fail at once, or run all the same. */
	whenBusy: 'wait' | 'fail' | 'run';
	/** How long a run that blocks the thread may give no sign before it is cancelled; 0 is never. */
	cancelSilentMs: number;
	routes: Routes;
}

/** What becomes of a run on the server once the execution is stopped, or the deadline has come. */
export interface Leaving {
	whenStopped: 'leave' | 'cancel';
	whenLate: 'leave' | 'cancel';
}

/** A run that is waited for. */
export interface Run extends Sent, Leaving {
	/** Who hears what is said while it goes on. */
	listener?: Listener;
	/** Whether to wait in the request that begins it (E4), as on servers that know nothing but the contract. */
	inOneRequest: boolean;
}

/** So long a run is asked for that has never been read: the address, or the server, may be wrong. */
export const UNREACHED_MS = 60_000;

/** A last request may take so long after the deadline. */
const LAST_LOOK_MS = 1_000;

/**
 * Makes what sends all requests of an item: nothing once the execution is stopped, nothing before the time that the
 * server asked to wait for, whatever was to be sent next, and nothing that outlasts the deadline.
 */
export function withDeadline({ send, ...given }: Asking & { deadline: number }): InTime {
	const { clock, signal } = given;
	const inTime = { ...given, send, sendUnlimited: send };
	let rest: { until: number; failure: Failure } | undefined;
	const sendInTime: Send = async (request) => {
		const wait = rest ? rest.until - clock.now() : 0;
		const isTooLate = wait > remaining(inTime);
		if (wait > 0) await waitInTime(inTime, wait);
		if (signal?.aborted) return notSent(request, { kind: 'cancelled' });
		if (rest && isTooLate) return notSent(request, rest.failure);
		const left = Math.max(LAST_LOOK_MS, remaining(inTime));
		const timeoutMs = Math.min(request.timeoutMs, left);
		// Of a stream, the one limits silence and the other all of it.
		const wholeMs = request.stream && Number.isFinite(left) ? left : timeoutMs;
		const outcome = await send({ ...request, timeoutMs, wholeMs });
		const { failure } = outcome.ok ? {} : outcome;
		rest = failure?.retryAfterMs
			? { failure, until: clock.now() + failure.retryAfterMs }
			: undefined;
		return outcome;
	};
	return { ...inTime, send: sendInTime };
}

/** The same for what is to be done once the deadline has come, or the execution was stopped. */
export function afterwards({ sendUnlimited, clock }: InTime, ms: number): InTime {
	const send: Send = async (request) => await sendUnlimited({ ...request, afterStop: true });
	return withDeadline({ send, clock, deadline: clock.now() + ms, signal: undefined });
}

/** The outcome of a request that was held back. */
function notSent({ method, path }: ApiRequest, failure: Omit<Failure, 'method' | 'path'>): Outcome {
	return { ok: false, failure: { ...failure, method, path: API_ROOT + path } };
}

/** Milliseconds until the deadline, never below 0. */
export function remaining({ deadline, clock }: Waiting): number {
	return Math.max(0, deadline - clock.now());
}

/** Waits so many milliseconds, but not beyond the deadline; ends when the execution is stopped. */
export async function waitInTime(run: Waiting, pause: number): Promise<void> {
	await run.clock.sleep(Math.min(pause, remaining(run)), run.signal);
}
