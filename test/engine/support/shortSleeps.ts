import { join } from 'node:path';

import { projectRoot } from '../../../host/paths';

type ClockModule = typeof import('../../../nodes/XpertAi/transport/clock');

/** So much sooner the built node looks again, or tries again. */
const SOONER = 20;

/**
 * Has the built node wait a fraction of its time between requests, for tests that wait for what comes of them.
 *
 * @param sooner how many times sooner it goes on
 */
export function useShortSleeps(sooner = SOONER): void {
	const { systemClock } = jest.requireActual<ClockModule>(
		join(projectRoot, 'dist/nodes/XpertAi/transport/clock.js'),
	);
	const { sleep } = systemClock;
	beforeAll(() => {
		systemClock.sleep = async (ms, signal) => await sleep(ms / sooner, signal);
	});
	afterAll(() => {
		systemClock.sleep = sleep;
	});
}
