import { sleep } from 'n8n-workflow';

/** The clock; tests replace it. */
export interface Clock {
	/** Milliseconds since the epoch. */
	now: () => number;
	/** Resolves after `ms`, or within half a second when the signal is aborted. */
	sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
	/** Runs `work` after `ms`, without keeping the process alive. */
	later: (ms: number, work: () => void) => void;
	/** A random number from 0 to below 1. */
	random: () => number;
}

/** Milliseconds of a minute. */
export const MINUTE_MS = 60_000;

/** How long a sleep may continue after the signal is aborted. */
const SLICE_MS = 500;

/** The real clock. */
export const systemClock: Clock = {
	now: () => Date.now(),
	random: () => Math.random(),
	later: (ms, work) => AbortSignal.timeout(ms).addEventListener('abort', work, { once: true }),
	sleep: async (ms, signal) => {
		// In slices, because n8n's sleep cannot be cancelled and its timer would outlive the execution.
		for (let left = ms; left > 0 && !signal?.aborted; left -= SLICE_MS) {
			await sleep(Math.min(left, SLICE_MS));
		}
	},
};

/** The pause before the first poll, in milliseconds. */
export const FIRST_PAUSE_MS = 2_000;

const LONGEST_PAUSE_MS = 15_000;

/** The pause after a pause, in milliseconds: it grows to 15 seconds. */
export function longerPause(pause: number): number {
	return Math.min(LONGEST_PAUSE_MS, pause * 1.5);
}
