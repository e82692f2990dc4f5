import path from 'node:path';

import { projectRoot } from '../../../host/paths';
import type * as Clocks from '../../../nodes/XpertAi/transport/clock';
import { scaledClock } from '../../../sandbox';

/** Lets time pass so many times as fast for the built node, until jest restores its mocks. */
export function hurryNode(factor: number): void {
	const file = path.join(projectRoot, 'dist/nodes/XpertAi/transport/clock.js');
	const { systemClock } = jest.requireActual<typeof Clocks>(file);
	const fast = scaledClock(factor);
	jest.spyOn(systemClock, 'now').mockImplementation(fast.now);
	jest.spyOn(systemClock, 'sleep').mockImplementation(async (ms) => await fast.sleep(ms));
}
