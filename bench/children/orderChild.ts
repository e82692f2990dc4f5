import { inThreadOrder } from '../../nodes/XpertAi/operations/thread/run/threadOrder';
import { serveTask } from '../support/processes';

/** Runs to be put in order. */
export interface OrderTask {
	runs: number;
	sameThread: boolean;
}

serveTask<OrderTask>(async ({ runs, sameThread }) => {
	const work = Array.from({ length: runs }, (_, index) => ({
		threadId: sameThread ? 'thread' : `thread ${index}`,
		run: async () => index,
	}));
	const before = process.cpuUsage();
	const results = await inThreadOrder(work, 5, () => true);
	const { user, system } = process.cpuUsage(before);
	if (results.some((result, index) => result !== index)) throw new Error('The order is wrong');
	return { cpuSeconds: (user + system) / 1e6 };
});
