import axios from 'axios';
import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { range } from 'lodash';

import { threadLocator } from '../../nodes/XpertAi/pickers/locators';
import { sendByHelper } from '../contenders/platform';
import { atOnce } from '../contenders/atOnce';
import { platformWork } from '../platform/work';
import { createEngine } from '../support/engine';
import { watchMemory } from '../support/memory';
import { serveTask } from '../support/processes';
import type { Target } from '../support/server';

/** Threads to be read, one an item. */
export interface ThreadTask {
	target: Target;
	contender: 'get' | 'axios' | 'helper';
	items: number;
	warmUp: number;
	/** Requests at once of the helper. */
	concurrency: number;
}

/** What came of it. */
export interface ThreadMeasurement {
	seconds: number;
	cpuSeconds: number;
	read: number;
}

serveTask<ThreadTask>(async (task): Promise<ThreadMeasurement> => {
	const read = await CONTENDERS[task.contender](task);
	await read(task.warmUp);
	const { result, seconds, cpuSeconds } = await watchMemory(
		async () => await read(task.items),
		SAMPLE_MS,
	);
	return { seconds, cpuSeconds, read: result };
});

const SAMPLE_MS = 1000;

/** The field of the thread, as most workflows fill it, and how nodes read it. */
const FROM_ITEM = { __rl: true, mode: 'id', value: '={{ $json.threadId }}' };
const RESOLVED = { extractValue: true };

/** Reads so many threads; gives how many of them it was given. */
type Read = (items: number) => Promise<number>;

const CONTENDERS: Record<ThreadTask['contender'], (task: ThreadTask) => Promise<Read>> = {
	get: async ({ target }) => {
		const engine = await createEngine('xpertAi', target.credential);
		const parameters = { resource: 'thread', operation: 'get', threadId: FROM_ITEM };
		return async (items) => {
			const output = await engine.run(
				parameters,
				range(items).map((index) => ({ json: { threadId: threadOf(target, index) } })),
			);
			return output.filter(({ json }) => json.status === 'idle').length;
		};
	},
	helper: async ({ target, concurrency }) => {
		platformWork.properties = [threadLocator('The thread to read')];
		const engine = await createEngine('platform', target.credential);
		return async (items) => {
			platformWork.run = async (context) =>
				await atOnce(concurrency, range(items), async (index) => {
					const id: unknown = context.getNodeParameter('threadId', index, '', RESOLVED);
					const url = `${rootOf(target)}/${String(id)}`;
					const thread = await sendByHelper(context, { method: 'GET', url });
					return isIdle(thread) ? 1 : 0;
				});
			const [output] = await engine.run(
				{ threadId: FROM_ITEM },
				range(items).map((index) => ({ json: { threadId: threadOf(target, index) } })),
			);
			return Number(output?.json.done);
		};
	},
	axios: async ({ target }) => {
		const client = axios.create({
			httpAgent: new Agent({ keepAlive: true }),
			httpsAgent: new TlsAgent({ keepAlive: true }),
			headers: { Authorization: `Bearer ${target.credential.accessToken}` },
		});
		return async (items) =>
			await atOnce(1, range(items), async (index) => {
				const { data } = await client.get<unknown>(urlOf(target, index));
				return isIdle(data) ? 1 : 0;
			});
	},
};

const threadOf = ({ threadIds }: Target, index: number): string =>
	threadIds[index % threadIds.length] ?? '';

const rootOf = ({ credential }: Target): string => `${credential.baseUrl}/api/ai/threads`;

const urlOf = (target: Target, index: number): string =>
	`${rootOf(target)}/${threadOf(target, index)}`;

const isIdle = (thread: unknown): boolean =>
	typeof thread === 'object' && thread !== null && 'status' in thread && thread.status === 'idle';
