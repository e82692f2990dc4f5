import type { Clock } from '../../../../../nodes/XpertAi/transport/clock';

/** Time that passes only in sleeps and requests, so that hours take no real time. */
export interface VirtualTime extends Clock {
	/** Milliseconds since the test began. */
	elapsed: () => number;
	/** Lets so much time pass, or as much as there is until the execution is stopped. */
	pass: (ms: number) => void;
	/** When each sleep began, and how long it was to be. */
	sleeps: Array<{ at: number; ms: number }>;
	signal: AbortSignal;
}

/**
 * Virtual time.
 *
 * @param stopAfterMs when the user stops the execution; never without it
 * @param random what the clock's random number is
 */
export function virtualTime(stopAfterMs = Infinity, random = 0.5): VirtualTime {
	const start = Date.UTC(2026, 0, 1);
	const stop = new AbortController();
	const sleeps: VirtualTime['sleeps'] = [];
	let elapsed = 0;
	const pass = (ms: number) => {
		if (stop.signal.aborted) return;
		elapsed = Math.min(elapsed + ms, stopAfterMs);
		if (elapsed === stopAfterMs) stop.abort();
	};
	pass(0);
	return {
		sleeps,
		pass,
		signal: stop.signal,
		elapsed: () => elapsed,
		now: () => start + elapsed,
		random: () => random,
		sleep: async (ms, signal) => {
			if (signal?.aborted) return;
			sleeps.push({ at: elapsed, ms });
			pass(ms);
			await Promise.resolve();
		},
	};
}
