import type { ThreadState } from '../payloads/run';
import type { Clock } from '../transport/clock';
import type { Send } from '../transport/request';

/** The wait before a thread is looked at for the first time. */
export const FIRST_POLL_MS = 2_000;

const LONGEST_POLL_MS = 15_000;

/** A run and what it needs from outside. */
export interface Run {
	send: Send;
	threadId: string;
	/** JSON text of the body of E4. */
	body: string;
	/** Whether the thread was made for this run, so that nothing else can be on it. */
	isNew: boolean;
	/** Wait for another run on the thread to end, or fail at once. */
	whenBusy: 'wait' | 'fail';
	/** Milliseconds since the epoch. */
	deadline: number;
	clock: Clock;
	signal?: AbortSignal;
}

/** The thread before our run; nothing when it had never run or could not be read. */
export type Before = ThreadState | undefined;

/** Milliseconds until the deadline, never below 0. */
export function remaining({ deadline, clock }: Run): number {
	return Math.max(0, deadline - clock.now());
}

/** Waits so many milliseconds, but not beyond the deadline; ends when the execution is stopped. */
export async function waitInTime(run: Run, pause: number): Promise<void> {
	await run.clock.sleep(Math.min(pause, remaining(run)), run.signal);
}

/** The wait after a wait of so many milliseconds. */
export function longer(pause: number): number {
	return Math.min(LONGEST_POLL_MS, pause * 1.5);
}
