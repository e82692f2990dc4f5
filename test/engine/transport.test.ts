import { type RequestListener, createServer } from 'node:http';

import { times } from 'lodash';

import type { FaultRule } from 'sandbox/faults';
import { AN_HOUR, stopOnce, useFixture } from './support/fixture';
import { listen } from './support/listen';

const fixture = useFixture();
const { add, sent } = fixture;
const COUNT = { resource: 'assistant', operation: 'count' };
const CREATE = { resource: 'knowledgebase', operation: 'create', name: 'New' };

/** A server that answers what no sandbox would, in n8n's real request helper. */
async function withServer(listener: RequestListener, work: (baseUrl: string) => Promise<void>) {
	const server = createServer(listener);
	try {
		await work(`http://127.0.0.1:${await listen(server)}`);
	} finally {
		server.closeAllConnections();
		server.close();
	}
}

it.each(['text/html', 'application/json'])(
	'an answer of %s is read by its content',
	async (type) => {
		await withServer(
			(_, response) => response.writeHead(201, { 'Content-Type': type }).end(' 7\n'),
			async (baseUrl) => {
				const { items } = await fixture.run(COUNT, { credential: { baseUrl } });
				expect(items[0]?.json).toEqual({ count: 7 });
			},
		);
	},
);

it('a redirect is not followed with the token', async () => {
	const reached: string[] = [];
	await withServer(
		(request, response) => {
			reached.push(String(request.headers.authorization));
			response.end('1');
		},
		async (elsewhere) => {
			add({ do: 'redirect', to: `${elsewhere}/api/ai/assistants/count` });
			const { error } = await fixture.run(COUNT);
			expect(error?.message).toContain(`The server redirects to ${elsewhere}`);
			expect(reached).toEqual([]);
		},
	);
});

describe('a request whose answer is lost', () => {
	beforeEach(() => void add({ do: 'drop', when: 'after', nth: 1 }));

	it('is sent again when it only reads', async () => {
		const { items } = await fixture.run(COUNT);
		expect(items[0]?.json).toEqual({ count: fixture.sandbox.store.assistants.size });
		expect(sent()).toHaveLength(2);
	});

	it('is not sent again when it makes something', async () => {
		const before = fixture.sandbox.store.knowledgebases.size;
		const { error } = await fixture.run(CREATE);
		expect(error?.message).toContain('the connection was closed before an answer came');
		expect(fixture.sandbox.store.knowledgebases.size).toBe(before + 1);
	});
});

/** Reads of one node that go on side by side. */
const AT_ONCE = 5;

describe('a server that does not answer', () => {
	it.each<[string, FaultRule]>([
		['while it is silent', { do: 'delay', ms: AN_HOUR }],
		['between two tries', { do: 'status', status: 429, headers: { 'Retry-After': '20' } }],
	])('is left at once when the execution is stopped %s', async (_, fault) => {
		add(fault);
		const stop = stopOnce(() => sent().length === AT_ONCE);
		const { run } = await fixture.run(COUNT, {
			items: times(AT_ONCE + 2, () => ({ json: {} })),
			onError: 'continueRegularOutput',
			onStart: stop.onStart,
		});
		expect(run.status).not.toBe('success');
		expect(stop.waitedMs()).toBeLessThan(1_000);
		expect(sent()).toHaveLength(AT_ONCE);
	});
});
