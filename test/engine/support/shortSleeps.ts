import { FakeClock } from '../../../sandbox';
import { builtModule } from './builtModule';
import { isClockInUse } from './clock';

type ClockModule = typeof import('../../../nodes/XpertAi/transport/clock');

/*
 * Deprecated: `clock.ts` has one clock that takes no real time. On that clock all of this does nothing, but for
 * `useNoLeaseRenewal` and `useFakeClock`.
 */

/** So much sooner the built node looks again, or tries again. */
const SOONER = 20;

/**
 * Has the built node wait a fraction of its time between requests, for tests that wait for what comes of them.
 *
 * @param sooner how many times sooner it goes on
 * @returns what has it wait as long as ever
 */
export function shortenSleeps(sooner = SOONER): () => void {
	const { systemClock } = builtModule<ClockModule>('nodes/XpertAi/transport/clock.js');
	if (isClockInUse()) return () => undefined;
	const { sleep, later } = systemClock;
	systemClock.sleep = async (ms, signal) => await sleep(ms / sooner, signal);
	systemClock.later = (ms, work) => later(ms / sooner, work);
	return () => Object.assign(systemClock, { sleep, later });
}

/** The same for the tests that surround the call. */
export function useShortSleeps(sooner = SOONER): void {
	let restore: () => void;
	beforeAll(() => {
		restore = shortenSleeps(sooner);
	});
	afterAll(() => restore());
}

/**
 * Keeps the built node from renewing its lease in the tests that surround the call, for tests that pick a request by
 * its number: on a busy machine a renewal comes in between. No run of these tests waits for another one's renewal.
 */
export function useNoLeaseRenewal(): void {
	const { systemClock } = builtModule<ClockModule>('nodes/XpertAi/transport/clock.js');
	// Taken before short sleeps begin: these are taken back first, and would stay for the files that follow.
	const { later } = systemClock;
	beforeAll(() => {
		systemClock.later = () => undefined;
	});
	afterAll(() => {
		systemClock.later = later;
	});
}

/** Gives the built node time that stands still until a test moves it on, for the tests that surround the call. */
export function useFakeClock(): FakeClock {
	const { systemClock } = builtModule<ClockModule>('nodes/XpertAi/transport/clock.js');
	const clock = new FakeClock();
	let before: typeof systemClock;
	beforeAll(() => {
		before = { ...systemClock };
		Object.assign(systemClock, {
			now: () => clock.now(),
			sleep: async (ms) => await clock.sleep(ms),
			later: (ms, work) => void clock.sleep(ms).then(work),
		} satisfies Partial<typeof systemClock>);
	});
	afterAll(() => {
		Object.assign(systemClock, before);
	});
	return clock;
}

/**
 * Has all time of the built node pass so many times faster for the tests that surround the call, not only what it
 * waits: for tests of what happens while it is busy.
 */
export function useFastClock(times = SOONER): void {
	const { systemClock } = builtModule<ClockModule>('nodes/XpertAi/transport/clock.js');
	const { now } = systemClock;
	useShortSleeps(times);
	beforeAll(() => {
		if (isClockInUse()) return;
		const began = now();
		systemClock.now = () => began + (now() - began) * times;
	});
	afterAll(() => {
		systemClock.now = now;
	});
}
