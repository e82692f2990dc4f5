import { setTimeout as wait } from 'node:timers/promises';

/** Time as the sandbox sees it; tests may pass a fake one. `now` is in milliseconds since 1970. */
export interface Clock {
	now(): number;
	sleep(ms: number): Promise<void>;
}

/** The machine's own time. Its sleeps are unreferenced, so a long run never holds up a closed sandbox. */
export const systemClock: Clock = {
	now: () => Date.now(),
	sleep: async (ms) => {
		await wait(ms, undefined, { ref: false });
	},
};

/** The clock's present moment the way the API writes it (ISO 8601, UTC, milliseconds). */
export const timestamp = (clock: Clock): string => new Date(clock.now()).toISOString();
