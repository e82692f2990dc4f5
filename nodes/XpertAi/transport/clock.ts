import { sleep } from 'n8n-workflow';

/** Time, so that tests need not wait for it. */
export interface Clock {
	/** Milliseconds since the epoch. */
	now: () => number;
	/** Resolves after `ms`, or within half a second when the signal is aborted. */
	sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
	/** Does something in `ms`, if the process still lives: it is not kept alive for that. */
	later: (ms: number, work: () => void) => void;
	/** A number from 0 up to 1. */
	random: () => number;
}

/** Milliseconds of a minute. */
export const MINUTE_MS = 60_000;

/** How long a sleep may go on after the signal was aborted. */
const SLICE_MS = 500;

/** The real time. */
export const systemClock: Clock = {
	now: () => Date.now(),
	random: () => Math.random(),
	later: (ms, work) => AbortSignal.timeout(ms).addEventListener('abort', work, { once: true }),
	sleep: async (ms, signal) => {
		// Slept in slices: n8n's sleep cannot be cancelled, and its timer would outlive the execution.
		for (let left = ms; left > 0 && !signal?.aborted; left -= SLICE_MS) {
			await sleep(Math.min(left, SLICE_MS));
		}
	},
};

/** The wait before something that goes on is looked at for the first time, in milliseconds. */
export const FIRST_PAUSE_MS = 2_000;

const LONGEST_PAUSE_MS = 15_000;

/** The wait after a wait of so many milliseconds: looks become rarer, up to one in 15 seconds. */
export function longerPause(pause: number): number {
	return Math.min(LONGEST_PAUSE_MS, pause * 1.5);
}
