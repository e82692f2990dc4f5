import type { Listener } from '../threads/events';
import type { ThreadState } from '../threads/state';
import type { Asking } from '../threads/thread';
import { API_ROOT } from '../transport/api';
import type { Failure } from '../transport/failure';
import type { ApiRequest, Outcome, Send } from '../transport/request';
import type { Asked, RunBody } from './input';

/** Where a thread is run and waited for (E4). */
export const RUN_PATH = '/threads/{threadId}/runs/wait';

/** What is needed to send requests until a deadline, or until the execution is stopped. */
export interface InTime extends Asking {
	/** Milliseconds since the epoch. */
	deadline: number;
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
	/** Whether executions anywhere may say something on this thread at the same moment, so that those that wait take turns. */
	takesTurns?: boolean;
}

/** What becomes of a run on the server once the execution is stopped, or the deadline has come. */
export interface Leaving {
	whenStopped: 'leave' | 'cancel';
	whenLate: 'leave' | 'cancel';
}

/** A run that is waited for. */
export interface Run extends Sent, Leaving {
	/** Who hears what is said while it goes on; nobody waits for the words of others. */
	listener?: Listener;
	/** What all runs of an execution know of the numbers of runs. */
	numbers: Numbers;
}

/** What is known of a server's numbers of runs: one without their routes has none. */
export interface Numbers {
	areMissing: boolean;
}

/** A run under way. */
export interface RunUnderWay extends Run {
	/** Sends also what the deadline and Stop hold back. */
	sendUnlimited: Send;
	/** What its body asks for. */
	asked: Asked;
	/** The question it is about: its own, or the last of the thread, which decisions and answering again go on with. */
	question?: string;
	/** What the thread has waited for a person to decide before it. */
	waiting: unknown[];
	/** The number that is surely its own: of the run its decision goes on with, or under which it was begun in turn. */
	ownId?: string;
	/** The thread before it; nothing when it had never run or could not be read. */
	before?: ThreadState;
}

/** A last request may take so long after the deadline. */
const LAST_LOOK_MS = 1_000;

/**
 * Sends nothing once the execution is stopped, nothing before the time that the server asked to wait for, whatever was
 * to be sent next, and lets no request outlast the deadline.
 */
export function sendInTime(given: InTime): Send {
	const { clock, signal } = given;
	let rest: { until: number; failure: Failure } | undefined;
	return async (request) => {
		const wait = rest ? rest.until - clock.now() : 0;
		const isTooLate = wait > remaining(given);
		if (wait > 0) await waitInTime(given, wait);
		if (signal?.aborted) return notSent(request, { kind: 'cancelled' });
		if (rest && isTooLate) return notSent(request, rest.failure);
		const left = Math.max(LAST_LOOK_MS, remaining(given));
		const timeoutMs = Math.min(request.timeoutMs, left);
		// Of a stream, the one limits silence and the other all of it.
		const wholeMs = request.stream ? left : timeoutMs;
		const outcome = await given.send({ ...request, timeoutMs, wholeMs });
		const { failure } = outcome.ok ? {} : outcome;
		rest = failure?.retryAfterMs
			? { failure, until: clock.now() + failure.retryAfterMs }
			: undefined;
		return outcome;
	};
}

/** The outcome of a request that was held back. */
function notSent({ method, path }: ApiRequest, failure: Omit<Failure, 'method' | 'path'>): Outcome {
	return { ok: false, failure: { ...failure, method, path: API_ROOT + path } };
}

/** Milliseconds until the deadline, never below 0. */
export function remaining({ deadline, clock }: InTime): number {
	return Math.max(0, deadline - clock.now());
}

/** Waits so many milliseconds, but not beyond the deadline; ends when the execution is stopped. */
export async function waitInTime(run: InTime, pause: number): Promise<void> {
	await run.clock.sleep(Math.min(pause, remaining(run)), run.signal);
}
