import { builtModule } from './builtModule';

type ClockModule = typeof import('../../../nodes/XpertAi/transport/clock');

/** So much sooner the built node looks again, or tries again. */
const SOONER = 20;

/**
 * Has the built node wait a fraction of its time between requests, for tests that wait for what comes of them.
 *
 * @param sooner how many times sooner it goes on
 */
export function useShortSleeps(sooner = SOONER): void {
	const { systemClock } = builtModule<ClockModule>('nodes/XpertAi/transport/clock.js');
	const { sleep } = systemClock;
	beforeAll(() => {
		systemClock.sleep = async (ms, signal) => await sleep(ms / sooner, signal);
	});
	afterAll(() => {
		systemClock.sleep = sleep;
	});
}
