/** The wait before something that goes on is looked at for the first time, in milliseconds. */
export const FIRST_PAUSE_MS = 2_000;

const LONGEST_PAUSE_MS = 15_000;

/** The wait after a wait of so many milliseconds: looks become rarer, up to one in 15 seconds. */
export function longerPause(pause: number): number {
	return Math.min(LONGEST_PAUSE_MS, pause * 1.5);
}
