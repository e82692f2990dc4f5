import { builtModule } from './builtModule';

type ClockModule = typeof import('../../../nodes/XpertAi/transport/clock');

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
 * Has all time of the built node pass so many times faster for the tests that surround the call, not only what it
 * waits: for tests of what happens while it is busy.
 */
export function useFastClock(times = SOONER): void {
	const { systemClock } = builtModule<ClockModule>('nodes/XpertAi/transport/clock.js');
	const { now } = systemClock;
	useShortSleeps(times);
	beforeAll(() => {
		const began = now();
		systemClock.now = () => began + (now() - began) * times;
	});
	afterAll(() => {
		systemClock.now = now;
	});
}
