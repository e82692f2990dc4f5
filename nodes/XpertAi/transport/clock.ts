import { sleep } from 'n8n-workflow';

/** Time, so that tests need not wait for it. */
export interface Clock {
	/** Milliseconds since the epoch. */
	now: () => number;
	/** Resolves after `ms`, or at once when the signal is aborted. */
	sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
	/** A number from 0 up to 1. */
	random: () => number;
}

/** The real time. */
export const systemClock: Clock = {
	now: () => Date.now(),
	random: () => Math.random(),
	sleep: async (ms, signal) => {
		if (signal?.aborted) return;
		await Promise.race([sleep(ms), aborted(signal)]);
	},
};

async function aborted(signal?: AbortSignal): Promise<void> {
	await new Promise<void>((resolve) => {
		signal?.addEventListener('abort', () => resolve(), { once: true });
	});
}
