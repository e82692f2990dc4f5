import { type IExecuteFunctions, sleep } from 'n8n-workflow';

/** Time, timers and random numbers. Tests can replace all three. */
export interface Clock {
	/** The current time, in milliseconds since the epoch. */
	now: () => number;
	/** Milliseconds since an arbitrary moment. Corrections of the system time do not change this value. */
	monotonic: () => number;
	/** Resolves after `ms` milliseconds, or within half a second after `signal` is aborted. */
	sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
	/** Runs `work` after `ms` milliseconds. The timer does not keep the process alive. */
	later: (ms: number, work: () => void) => void;
	/** A random number of at least 0 and below 1. */
	random: () => number;
}

export const MINUTE_MS = 60_000;

/** Maximum time between the abort of the signal and the end of a sleep. */
const SLICE_MS = 500;

export const systemClock: Clock = {
	now: () => Date.now(),
	monotonic: () => performance.now(),
	random: () => Math.random(),
	later: (ms, work) => AbortSignal.timeout(ms).addEventListener('abort', work, { once: true }),
	sleep: async (ms, signal) => {
		// n8n's `sleep` cannot be cancelled. Short slices end the loop soon after an abort.
		for (let left = ms; left > 0 && !signal?.aborted; left -= SLICE_MS) {
			await sleep(Math.min(left, SLICE_MS));
		}
	},
};

/**
 * Logs the progress of `work` every half minute, because the editor shows no progress while a node runs.
 *
 * @param describe receives the elapsed minutes and returns the text to log, if any
 * @returns the result of `work`
 */
export async function loggingProgress<Result>(
	work: Promise<Result>,
	describe: (minutes: number) => string | undefined,
	{ getNode, logger }: Pick<IExecuteFunctions, 'getNode' | 'logger'>,
): Promise<Result> {
	const { name } = getNode();
	// The last timer outlives `work`. Clearing this reference frees the data of the execution before the timer ends.
	let describeWhileRunning: typeof describe | undefined = describe;
	const scheduleLog = (minutes: number) =>
		systemClock.later(MINUTE_MS / 2, () => {
			if (!describeWhileRunning) return;
			const progress = describeWhileRunning(minutes);
			if (progress) logger.info(`${name}: ${progress}`);
			scheduleLog(minutes + 0.5);
		});
	scheduleLog(0.5);
	return await work.finally(() => (describeWhileRunning = undefined));
}

/** The pause before the first poll of a status, in milliseconds. */
export const FIRST_PAUSE_MS = 2_000;

const LONGEST_PAUSE_MS = 15_000;

/** Returns the next pause, in milliseconds: 1.5 times `pause`, at most 15 seconds. */
export const longerPause = (pause: number): number => Math.min(LONGEST_PAUSE_MS, pause * 1.5);
