import type { Clock } from '../../../../../nodes/XpertAi/transport/clock';

/** Time that passes only when somebody waits for it, and a note of each wait. */
export interface StoppedClock extends Clock {
	waits: number[];
	/** Lets time pass without anybody waiting, as a slow request does. */
	pass: (ms: number) => void;
}

/** A stopped clock; its random number is always the same. */
export function stoppedClock(random = 0.5): StoppedClock {
	let now = Date.UTC(2026, 0, 1);
	const waits: number[] = [];
	return {
		waits,
		now: () => now,
		random: () => random,
		pass: (ms) => (now += ms),
		sleep: async (ms, signal) => {
			if (signal?.aborted) return;
			waits.push(ms);
			now += ms;
			await Promise.resolve();
		},
	};
}
