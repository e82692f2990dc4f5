import type { FaultRule } from '../../sandbox';
import { turnsWhile } from '../../sandbox/clock';
import { useSandbox } from './support/useSandbox';

const { sandbox, client } = useSandbox();

const create = (name = 'x') => client.post<unknown>('/api/ai/knowledges', { name });

async function statuses(count: number): Promise<number[]> {
	const all: number[] = [];
	for (let place = 0; place < count; place += 1) all.push((await create(`k${place}`)).status);
	return all;
}

describe('a fault', () => {
	it('holds requests before the work until the rules are cleared', async () => {
		sandbox.faults.add({ endpoint: 'E1', do: 'hold' });
		const before = sandbox.store.knowledgebases.size;
		const answers = Promise.all([create(), create()]);
		await turnsWhile(() => sandbox.requests.all.length < 2, Infinity);
		await turnsWhile(() => true, 50);
		expect(sandbox.store.knowledgebases.size).toBe(before);
		sandbox.faults.clear();
		expect((await answers).map(({ status }) => status).sort()).toEqual([201, 400]);
	});

	it.each<[string, Partial<FaultRule>, number[]]>([
		['the nth request', { nth: 2 }, [201, 500, 201]],
		['several of them', { nth: [1, 3] }, [500, 201, 500]],
		['a number of times', { times: 2 }, [500, 500, 201]],
		['no other method', { method: 'put' }, [201, 201, 201]],
		['paths that fit', { path: '/knowledges$' }, [500, 500, 500]],
		['no other endpoint', { endpoint: 'E2' }, [201, 201, 201]],
	])('meets %s', async (_which, match, expected) => {
		sandbox.faults.add({ ...match, do: 'status', status: 500 } as FaultRule);
		expect(await statuses(3)).toEqual(expected);
	});

	it('is refused over HTTP when it makes no sense', async () => {
		for (const rule of [{ do: 'explode' }, { do: 'drop', path: '(' }]) {
			expect((await client.post<unknown>('/sandbox/faults', [rule])).status).toBe(400);
		}
	});
});
