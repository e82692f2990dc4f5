import { SANDBOX_ASSISTANT_ID, startSandbox } from '../../sandbox';
import { clientFor } from './support/client';
import { useSandbox } from './support/useSandbox';

const { client } = useSandbox({ dialect: 'langgraph' });

describe('lists', () => {
	const post = (path: string, body: object) => client.post<unknown>(`/api/ai/${path}`, body);

	it('of assistants heed limit, offset, graph and metadata', async () => {
		const names = async (body: object) =>
			((await post('assistants/search', body)).data as Array<{ name: string }>).map((a) => a.name);
		expect(await names({})).toHaveLength(3);
		expect(await names({ limit: 1, offset: 1 })).toEqual(['echo']);
		expect(await names({ offset: 3 })).toEqual([]);
		expect(await names({ graph_id: 'broken' })).toEqual(['broken']);
		expect(await names({ metadata: { slug: 'echo' } })).toEqual(['echo']);
		expect((await post('assistants/search', { limit: 0 })).status).toBe(400);
		const { status, data, headers } = await post('assistants/count', { graph_id: 'echo' });
		expect([status, data]).toEqual([200, 1]);
		expect(headers['content-type']).toMatch(/^application\/json/);
	});

	it('of store items heed filter, words and page; namespaces are cut and unique', async () => {
		const prefix = [SANDBOX_ASSISTANT_ID, 'users'];
		const keys = async (body: object) =>
			(await post('store/items/search', { namespace_prefix: prefix, ...body })).data;
		expect(await keys({ filter: { color: 'red' } })).toMatchObject({ items: [{ key: 'profile' }] });
		expect(await keys({ query: 'ADA' })).toMatchObject({ items: { length: 1 } });
		expect(await keys({ limit: 1, offset: 1 })).toMatchObject({ items: { length: 1 } });
		expect((await post('store/items/search', {})).status).toBe(400);
		const { status, data } = await post('store/namespaces', { max_depth: 2 });
		expect([status, data]).toEqual([
			200,
			{ namespaces: [prefix, [SANDBOX_ASSISTANT_ID, 'notes']] },
		]);
	});
});

it.each(['', '/lang/graph'])('lies under the prefix "%s" when told so', async (prefix) => {
	const other = await startSandbox({ dialect: 'langgraph', prefix });
	const { data } = await clientFor(other).post<number>(`${prefix}/assistants/count`, {});
	expect(data).toBe(3);
	await other.close();
});
