import { connect } from 'node:net';
import { SANDBOX_KNOWLEDGEBASE_ID, startSandbox } from '../../sandbox';
import { clientFor, newThread, runOn } from './support/client';
import { useSandbox } from './support/useSandbox';

const now = Date.UTC(2026, 0, 1);
const clock = { now: () => now, sleep: () => Promise.resolve() };
const { sandbox, client } = useSandbox({ accessToken: 'secret', clock });

describe('a sandbox', () => {
	it('is as at its start after a reset over HTTP', async () => {
		await client.post('/api/ai/knowledges', { name: 'x' });
		await client.post('/sandbox/faults', { do: 'status', status: 500 });
		expect((await client.post<unknown>('/sandbox/reset')).status).toBe(200);
		const { data } = await client.get<{ knowledgebases: unknown[]; assistants: unknown[] }>(
			'/sandbox/state',
		);
		expect(data.knowledgebases).toMatchObject([
			{ id: SANDBOX_KNOWLEDGEBASE_ID, storedDocuments: 0 },
		]);
		expect(data.assistants).toHaveLength(4);
		expect(sandbox.requests.all).toEqual([]);
		expect((await client.post('/api/ai/assistants/count', {})).status).toBe(201);
	});
});

describe('tokens', () => {
	it.each([
		['no token', undefined],
		['a wrong token', 'Bearer wrong'],
		['bearer in lower case', 'bearer secret'],
	])('answers 401 to %s, also on its own routes', async (_what, authorization) => {
		for (const path of ['/api/ai/assistants/count', '/sandbox/reset']) {
			const answer = await clientFor(sandbox).post<unknown>(
				path,
				{},
				{ headers: { authorization } },
			);
			expect([answer.status, answer.data]).toEqual([
				401,
				{ message: 'Unauthorized', statusCode: 401 },
			]);
		}
	});
});

describe('the request log', () => {
	it('has every request in order with headers, body and status, but not its own routes', async () => {
		await client.post('/api/ai/knowledges', { name: 'x' }, { headers: { 'X-Mine': '1' } });
		await client.get('/sandbox/requests');
		await client.get('/api/ai/threads/nope');
		expect(sandbox.requests.all).toMatchObject([
			{
				endpoint: 'E1',
				method: 'POST',
				path: '/api/ai/knowledges',
				headers: { 'x-mine': '1' },
				body: { name: 'x' },
				rawBody: '{"name":"x"}',
				byteLength: 12,
				arrivedAt: now,
				status: 201,
			},
			{ endpoint: 'E15', method: 'GET', status: 500 },
		]);
		const { data } = await client.get<unknown[]>('/sandbox/requests');
		expect(data).toHaveLength(2);
	});
});

describe('closing', () => {
	it('is prompt with an idle socket and a run under way', async () => {
		const busy = await startSandbox({ runMs: 60_000 });
		const busyClient = clientFor(busy);
		const thread = await newThread(busyClient);
		const run = runOn(busyClient, thread, 'hello').catch((error: Error) => error.message);
		const socket = connect(Number(new URL(busy.url).port), '127.0.0.1');
		await new Promise((resolve) => socket.once('connect', resolve));
		await new Promise((resolve) => setTimeout(resolve, 50));
		const start = Date.now();
		await busy.close();
		expect(Date.now() - start).toBeLessThan(10_000);
		expect(await run).toBe('socket hang up');
		socket.destroy();
	});
});
