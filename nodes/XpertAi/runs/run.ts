import type { ThreadState } from '../payloads/run';
import type { Clock } from '../transport/clock';
import type { Send } from '../transport/request';
import type { Asked } from './input';

/** A run and what it needs from outside. */
export interface Run {
	send: Send;
	threadId: string;
	/** JSON text of the body of E4. */
	body: string;
	/** Whether the thread was made for this run, so that nothing else can be on it. */
	isNew: boolean;
	/** With another run on the thread: wait for it to end, fail at once, or run all the same. */
	whenBusy: 'wait' | 'fail' | 'run';
	/** Milliseconds since the epoch. */
	deadline: number;
	clock: Clock;
	signal?: AbortSignal;
}

/** A run under way. */
export interface RunUnderWay extends Run {
	/** What its body asks for. */
	asked: Asked;
	/** The thread before it; nothing when it had never run or could not be read. */
	before?: ThreadState;
}

/** Milliseconds until the deadline, never below 0. */
export function remaining({ deadline, clock }: Run): number {
	return Math.max(0, deadline - clock.now());
}

/** Waits so many milliseconds, but not beyond the deadline; ends when the execution is stopped. */
export async function waitInTime(run: Run, pause: number): Promise<void> {
	await run.clock.sleep(Math.min(pause, remaining(run)), run.signal);
}
