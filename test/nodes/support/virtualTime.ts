import type { Clock } from '../../../nodes/XpertAi/transport/clock';

/** Time that passes only in waits and requests, so that hours take no real time. */
export interface VirtualTime extends Clock {
	/** Milliseconds since the test began. */
	elapsed: () => number;
	/** Lets so much time pass, as a slow request does, or as much as there is until the execution is stopped. */
	pass: (ms: number) => void;
	/** How long each wait was to be, in milliseconds. */
	waits: number[];
	signal: AbortSignal;
}

/**
 * Virtual time; its random number is always the same.
 *
 * @param stopAfterMs when the user stops the execution; never without it
 */
export function virtualTime(stopAfterMs = Infinity): VirtualTime {
	const start = Date.UTC(2026, 0, 1);
	const stop = new AbortController();
	const waits: number[] = [];
	let elapsed = 0;
	const pass = (ms: number) => {
		if (stop.signal.aborted) return;
		elapsed = Math.min(elapsed + ms, stopAfterMs);
		if (elapsed === stopAfterMs) stop.abort();
	};
	pass(0);
	return {
		waits,
		pass,
		signal: stop.signal,
		elapsed: () => elapsed,
		now: () => start + elapsed,
		monotonic: () => elapsed,
		random: () => 0.5,
		// What is to happen later does not: time passes at once, and a test ends before it.
		later: () => undefined,
		sleep: async (ms, signal) => {
			if (signal?.aborted) return;
			waits.push(ms);
			// Who does not await it goes on before that time has passed.
			await Promise.resolve();
			pass(ms);
		},
	};
}
