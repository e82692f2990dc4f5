import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { times } from 'lodash';

import type { FaultRule } from '../../sandbox/faults';
import { AN_HOUR, stopOnce, useFixture } from './support/fixture';

const fixture = useFixture();
const count = { resource: 'assistant', operation: 'count' };

/** A server that answers what no sandbox would, in n8n's real request helper. */
async function withServer(listener: RequestListener, work: (url: string) => Promise<void>) {
	const server: Server = createServer(listener);
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	try {
		await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
	} finally {
		server.closeAllConnections();
		server.close();
	}
}

describe('answers of a success', () => {
	it.each([
		[201, 'text/html', '7', { count: 7 }],
		[200, 'application/json', '7', { count: 7 }],
		[202, 'text/plain', ' 7\n', { count: 7 }],
	])('%i %s %j is read by its content', async (status, type, body, expected) => {
		await withServer(
			(_, response) => response.writeHead(status, { 'Content-Type': type }).end(body),
			async (baseUrl) => {
				const { items } = await fixture.run(count, { credential: { baseUrl } });
				expect(items[0]?.json).toEqual(expected);
			},
		);
	});

	it('of a delete are what n8n has for all of them', async () => {
		const { items } = await fixture.run({
			resource: 'knowledgebase',
			operation: 'delete',
			knowledgebaseId: fixture.world.knowledgebaseId,
		});
		expect(items[0]?.json).toEqual({ deleted: true });
	});

	it.each([
		['text/html', '<!DOCTYPE html><title>Sign in</title>', 'it is an HTML page'],
		['application/json', '{"id": "1", "na', 'it breaks off or is not valid JSON'],
	])('that are no answers of this API are refused (%s)', async (type, body, words) => {
		await withServer(
			(_, response) => response.writeHead(200, { 'Content-Type': type }).end(body),
			async (baseUrl) => {
				const { error } = await fixture.run(count, { credential: { baseUrl } });
				expect(error?.message).toContain(words);
			},
		);
	});
});

describe('a success without any answer', () => {
	it.each([
		['knowledgebase', { operation: 'create', name: 'n' }],
		['conversation', { operation: 'create' }],
	])('of a write in %s is no answer, and the write may be done', async (resource, parameters) => {
		fixture.sandbox.faults.add({ do: 'status', status: 201, body: '' });
		const { error } = await fixture.run({ resource, ...parameters });
		expect(error?.message).toBe("The server's answer cannot be read: it is empty (HTTP 201)");
		expect(error?.description).toContain('The server may have done the work.');
		expect(fixture.sandbox.requests.all).toHaveLength(1);
	});

	it('of a read is asked for again, and never taken for one', async () => {
		fixture.sandbox.faults.add({ do: 'status', status: 200, body: '' });
		const { error } = await fixture.run(count);
		expect(error?.message).toBe("The server's answer cannot be read: it is empty (HTTP 200)");
		expect(error?.description).toContain('Tries: 3.');
		expect(fixture.sandbox.requests.all).toHaveLength(3);
	});
});

describe('a request whose answer is lost', () => {
	const lose = () => fixture.sandbox.faults.add({ do: 'drop', when: 'after', nth: 1 });

	it('is sent again when it only reads', async () => {
		lose();
		const { items } = await fixture.run(count);
		expect(items[0]?.json).toEqual({ count: 4 });
		expect(fixture.sandbox.requests.all).toHaveLength(2);
	});

	it('is not sent again when it makes something', async () => {
		lose();
		const before = fixture.sandbox.store.knowledgebases.size;
		const { error } = await fixture.run({
			resource: 'knowledgebase',
			operation: 'create',
			name: 'only once',
		});
		expect(error?.message).toContain('the connection was closed before an answer came');
		expect(fixture.sandbox.store.knowledgebases.size).toBe(before + 1);
	});
});

describe('a server that asks to wait longer than the node does', () => {
	it('is not asked again, and its wish is told', async () => {
		const headers = { 'Retry-After': '120' };
		fixture.sandbox.faults.add({ do: 'status', status: 429, headers });
		const { error } = await fixture.run(count);
		expect(error?.description).toContain('The server asks to wait 120 seconds.');
		expect(fixture.sandbox.requests.all).toHaveLength(1);
	});
});

describe('the access token', () => {
	it('is sent once when the server does not accept it', async () => {
		const { error } = await fixture.run(count, { credential: { accessToken: 'wrong' } });
		expect(error?.message).toBe('The server answered 401: Unauthorized');
		expect(error?.description).toContain('Check the Access Token');
		expect(fixture.sandbox.requests.all).toHaveLength(1);
	});

	it('does not follow a redirect', async () => {
		const reached: string[] = [];
		await withServer(
			(request, response) => {
				reached.push(String(request.headers.authorization));
				response.end('1');
			},
			async (elsewhere) => {
				fixture.sandbox.faults.add({ do: 'redirect', to: `${elsewhere}/api/ai/assistants/count` });
				const { error } = await fixture.run(count);
				expect(error?.message).toContain(`The server redirects to ${elsewhere}`);
				expect(reached).toEqual([]);
			},
		);
	});

	it('stays out of a reason that repeats it', async () => {
		fixture.sandbox.faults.add({
			do: 'status',
			status: 400,
			body: { message: `bad header Bearer ${fixture.sandbox.accessToken}` },
		});
		const { error } = await fixture.run(count);
		expect(error?.message).toBe('The server answered 400: bad header Bearer ***');
		expect(JSON.stringify(error)).not.toContain(fixture.sandbox.accessToken);
	});

	it('is sent to a host the credential allows', async () => {
		const { items } = await fixture.run(count, {
			credential: { allowedHttpRequestDomains: 'domains', allowedDomains: '127.0.0.1' },
		});
		expect(items[0]?.json).toEqual({ count: 4 });
	});
});

/** Reads of one node that go on side by side. */
const AT_ONCE = 5;

describe('a server that does not answer', () => {
	it('is given up after the Timeout', async () => {
		fixture.sandbox.faults.add({ do: 'delay', ms: AN_HOUR });
		const create = { resource: 'conversation', operation: 'create', options: { timeout: 0.2 } };
		const { error } = await fixture.run(create);
		expect(error?.message).toBe('The server did not answer in time');
	});

	it('is named when nothing listens', async () => {
		const { error } = await fixture.run(count, { credential: { baseUrl: 'http://127.0.0.1:9' } });
		expect(error?.message).toBe(
			'The server could not be reached: nothing accepts connections at this address (ECONNREFUSED)',
		);
	});

	it('is named when it drops the connection', async () => {
		fixture.sandbox.faults.add({ do: 'drop' });
		const { error } = await fixture.run(count);
		expect(error?.message).toContain('the connection was closed before an answer came');
	});

	it.each<[string, FaultRule]>([
		['while it is silent', { do: 'delay', ms: AN_HOUR }],
		['between two tries', { do: 'status', status: 429, headers: { 'Retry-After': '20' } }],
	])('is left at once when the execution is stopped %s', async (_, fault) => {
		fixture.sandbox.faults.add(fault);
		const stop = stopOnce(() => fixture.sandbox.requests.all.length === AT_ONCE);
		const { run } = await fixture.run(count, {
			items: times(AT_ONCE + 2, () => ({ json: {} })),
			onError: 'continueRegularOutput',
			onStart: stop.onStart,
		});
		const waitedMs = stop.waitedMs();
		expect(run.status).not.toBe('success');
		expect(waitedMs).toBeLessThan(1_000);
		expect(fixture.sandbox.requests.all).toHaveLength(AT_ONCE);
	});
});

describe('errors of real servers', () => {
	it('explains a raw database error without its SQL', async () => {
		const { error } = await fixture.run({
			resource: 'document',
			operation: 'submit',
			options: { afterStoring: 'nothing' },
			knowledgebaseId: fixture.world.knowledgebaseId,
			source: 'json',
			jsonBody: '[{"id":"abc","folder":"secret folder"}]',
		});
		expect(error?.message).toContain('an ID that is not a UUID');
		const words = [error?.message, error?.description, JSON.stringify(error?.context)].join();
		expect(words).not.toMatch(/SELECT|INSERT|secret folder/);
	});

	it('says plainly that a server cannot copy threads', async () => {
		const { error } = await fixture.run({
			resource: 'thread',
			operation: 'copy',
			threadId: fixture.world.threadId,
		});
		expect(error?.message).toBe('The server answered 400: This feature is not yet implemented.');
	});
});
