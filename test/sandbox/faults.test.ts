import { setTimeout as wait } from 'node:timers/promises';
import type { FaultRule } from '../../sandbox';
import { until } from './support/client';
import { useSandbox } from './support/useSandbox';

const { sandbox, client } = useSandbox();

const create = (name = 'x') => client.post<unknown>('/api/ai/knowledges', { name });
let seeded: number;
beforeEach(() => (seeded = sandbox.store.knowledgebases.size));
const stored = () => sandbox.store.knowledgebases.size - seeded;

describe('what can go wrong', () => {
	it('holds requests before the work until the rules are cleared', async () => {
		sandbox.faults.add({ endpoint: 'E1', do: 'hold' });
		const answers = Promise.all([create(), create()]);
		await until(
			async () => sandbox.requests.all.length,
			(arrived) => arrived === 2,
		);
		await wait(50);
		expect(stored()).toBe(0);
		sandbox.faults.clear();
		expect((await answers).map(({ status }) => status).sort()).toEqual([201, 400]);
		expect(stored()).toBe(1);
	});

	it('is still there when the client has gone before its answer is begun', async () => {
		sandbox.faults.add(
			{ do: 'truncate', times: 1 },
			{ do: 'delay', ms: 50, when: 'after', times: 1 },
		);
		const impatient = client.post('/api/ai/knowledges', { name: 'y' }, { timeout: 20 });
		await expect(impatient).rejects.toThrow('timeout');
		await wait(100);
		expect((await create()).status).toBe(201);
	});

	it('lets several rules act on one request', async () => {
		sandbox.faults.add({ do: 'delay', ms: 50 }, { do: 'status', status: 503 });
		const start = Date.now();
		expect((await create()).status).toBe(503);
		expect(Date.now() - start).toBeGreaterThanOrEqual(45);
	});
});

describe('which requests it happens to', () => {
	const statuses = async (count: number) => {
		const all: number[] = [];
		for (let i = 0; i < count; i += 1) all.push((await create(`k${i}`)).status);
		return all;
	};

	it.each<[string, Partial<FaultRule>, number[]]>([
		['only the nth', { nth: 2 }, [201, 500, 201]],
		['several of them', { nth: [1, 3] }, [500, 201, 500]],
		['a number of times', { times: 2 }, [500, 500, 201]],
		['those of a method', { method: 'put' }, [201, 201, 201]],
		['those whose path fits', { path: '/knowledges$' }, [500, 500, 500]],
		['those of another endpoint', { endpoint: 'E2' }, [201, 201, 201]],
	])('%s', async (_which, match, expected) => {
		sandbox.faults.add({ ...match, do: 'status', status: 500 } as FaultRule);
		expect(await statuses(3)).toEqual(expected);
	});
});

describe('one of several things', () => {
	it('is drawn by chance, the same for the same seed, and no oftener than asked', async () => {
		const rule: FaultRule = {
			endpoint: 'E1',
			probability: 0.9,
			seed: 3,
			times: 10,
			do: 'oneOf',
			actions: [
				{ do: 'status', status: 500 },
				{ do: 'status', status: 502 },
				{ do: 'status', status: 503 },
			],
		};
		const drawn: number[][] = [];
		for (let round = 0; round < 2; round += 1) {
			sandbox.reset();
			sandbox.faults.add(rule);
			const statuses: number[] = [];
			for (let i = 0; i < 14; i += 1) statuses.push((await create(`k${i}`)).status);
			drawn.push(statuses);
		}
		expect(drawn[0]).toEqual(drawn[1]);
		expect(new Set(drawn[0])).toEqual(new Set([201, 500, 502, 503]));
		expect(drawn[0]?.filter((status) => status !== 201)).toHaveLength(10);
		expect(sandbox.faults.list()).toMatchObject([{ fired: 10 }]);
	});
});

describe('faults over HTTP', () => {
	it('are refused when they make no sense', async () => {
		for (const rule of [{ do: 'explode' }, { do: 'drop', path: '(' }]) {
			expect((await client.post<unknown>('/sandbox/faults', [rule])).status).toBe(400);
		}
		expect(sandbox.faults.list()).toEqual([]);
	});
});
