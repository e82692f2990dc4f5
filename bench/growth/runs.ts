import { range } from 'lodash';

import { inThreadQueues } from '../../nodes/XpertAi/operations/thread/run/threadQueues';
import type { Growing } from './growing';

const AT_ONCE = 5;

/** The order of runs on different threads. */
export const runs: Growing = (size) => {
	const work = range(size).map((index) => ({
		threadId: `thread ${index}`,
		run: async () => await Promise.resolve(index),
	}));
	return async () => {
		await inThreadQueues(work, AT_ONCE, () => true);
		return { requests: 0, bytes: 0 };
	};
};
