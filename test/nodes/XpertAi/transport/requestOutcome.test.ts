import { Readable } from 'node:stream';

import { UserError } from 'n8n-workflow';

import { CREDENTIAL, sendOnce, wrap, wrapped } from '../../support/sender';
import type { Exchange } from '../../support/sender';

const WHERE = { method: 'POST', path: '/api/ai/assistants/count' };

const outcomeOf = async (exchange: Exchange) => (await sendOnce(exchange)).outcome;

async function failureOf(exchange: Exchange) {
	const outcome = await outcomeOf(exchange);
	if (outcome.ok) throw new Error('the request succeeded');
	return outcome.failure;
}

describe('a success', () => {
	it('is every 2xx, whatever its content type', async () => {
		for (const status of [200, 201, 202, 204, 299]) {
			expect(await outcomeOf({ status, body: '{"a":1}' })).toEqual({
				ok: true,
				status,
				answer: { a: 1 },
			});
		}
	});

	it('may be text that only looks like something else, where it is JSON', async () => {
		const answer = '{name} is here';
		expect(await outcomeOf({ body: JSON.stringify(answer) })).toMatchObject({ ok: true, answer });
	});

	it('takes an answer that n8n has parsed already', async () => {
		expect(await outcomeOf({ body: { a: 1 } })).toMatchObject({ ok: true, answer: { a: 1 } });
	});
});

describe('a 2xx that is not what the request is for', () => {
	const checkAnswer = (answer: unknown) => (answer === 7 ? undefined : 'it is not a seven');

	it('is unreadable, in the words of the request', async () => {
		const headers = { 'x-request-id': 'r' };
		expect(await failureOf({ status: 201, body: '8', headers, request: { checkAnswer } })).toEqual({
			...WHERE,
			kind: 'unreadable',
			status: 201,
			requestId: 'r',
			reason: 'it is not a seven',
		});
		expect(await outcomeOf({ body: '7', request: { checkAnswer } })).toMatchObject({ ok: true });
	});

	it.each(['', '{"status":"done"}', 'done'])(
		'is unreadable in place of a stream: %j',
		async (text) => {
			const body = Readable.from([Buffer.from(text)]);
			const stream = { onEvent: () => undefined };
			const expected = { kind: 'unreadable', reason: 'it is no stream of events' };
			expect(await failureOf({ body, request: { stream } })).toMatchObject(expected);
		},
	);
});

describe('an answer that is not a success', () => {
	it.each([400, 404, 503])('%i carries status, reason and request id', async (status) => {
		const headers = { 'x-request-id': 'r-1' };
		expect(await failureOf({ status, body: '{"message":"Name Exist"}', headers })).toEqual({
			...WHERE,
			kind: 'status',
			status,
			reason: 'Name Exist',
			requestId: 'r-1',
		});
	});

	it('falls back to the words beside the status', async () => {
		expect(
			await failureOf({ status: 503, body: '', statusMessage: 'Service Unavailable' }),
		).toMatchObject({ kind: 'status', reason: 'Service Unavailable' });
	});
});

describe('a redirect is not followed', () => {
	it.each([
		[{ location: 'https://sso.example.com/login?state=abc' }, 'https://sso.example.com'],
		[{ location: 'http://api.example.com/api/ai' }, 'http://api.example.com'],
		[{ location: '/login' }, 'another path of the same server'],
		[{}, 'another address'],
	])('%j', async (headers, reason) => {
		for (const status of [301, 302, 303, 307, 308]) {
			expect(await failureOf({ status, headers: headers as Record<string, string> })).toEqual({
				...WHERE,
				kind: 'redirect',
				status,
				reason,
				requestId: undefined,
			});
		}
	});
});

describe('no answer at all', () => {
	it.each(['ECONNABORTED', 'ETIMEDOUT'])('%s is a timeout', async (code) => {
		expect(await failureOf({ thrown: wrapped(code, 'timeout of 5000ms exceeded') })).toMatchObject({
			kind: 'timeout',
			code,
		});
	});

	it.each(['ECONNREFUSED', 'ENOTFOUND', 'ECONNRESET', 'EPIPE', 'CERT_HAS_EXPIRED'])(
		'%s is the network',
		async (code) => {
			expect(await failureOf({ thrown: wrapped(code, `connect ${code} 127.0.0.1:1`) })).toEqual({
				...WHERE,
				kind: 'network',
				code,
				reason: `connect ${code} 127.0.0.1:1`,
			});
		},
	);

	it.each(['SsrfBlockedIpError', 'SsrfBlockedHostnameError'])(
		"is n8n's SSRF protection when that threw %s, before or while connecting",
		async (name) => {
			const what = name === 'SsrfBlockedIpError' ? { ip: '10.0.0.5' } : { hostname: '10.0.0.5' };
			const block = Object.assign(new UserError('The request was blocked'), { name, ...what });
			// While connecting, axios puts an error of its own around it, under the same name.
			const around = Object.assign(new Error('The request was blocked', { cause: block }), {
				name,
			});
			for (const thrown of [block, wrap(block), wrap(around)]) {
				expect(await failureOf({ thrown })).toEqual({
					...WHERE,
					kind: 'blocked',
					reason: '10.0.0.5',
				});
			}
		},
	);

	it('is a stop when the execution was stopped, whatever the code', async () => {
		expect(await failureOf({ thrown: wrapped('ERR_CANCELED', 'canceled') })).toMatchObject({
			kind: 'cancelled',
		});
		const late = { thrown: wrapped('ECONNRESET', 'socket hang up'), stopped: true };
		expect(await failureOf(late)).toMatchObject({ kind: 'cancelled' });
		const { sent } = await sendOnce({ stopped: true, request: { totalMs: 60_000 } });
		expect(sent[0]?.signal?.aborted).toBe(true);
	});

	it.each([
		[new UserError('Domain not allowed'), 'Domain not allowed'],
		[new Error('socket hang up'), 'socket hang up'],
		[{ code: 'ENOTFOUND', message: 'getaddrinfo' }, 'getaddrinfo'],
		['odd', undefined],
		[undefined, undefined],
		[null, undefined],
	])('is never an exception: %p', async (thrown, reason) => {
		expect(await failureOf({ thrown })).toMatchObject({ kind: 'network', reason });
	});

	it('keeps nothing of the request the error of axios carries', async () => {
		const error = Object.assign(new Error('connect ECONNREFUSED'), {
			code: 'ECONNREFUSED',
			config: { headers: { Authorization: `Bearer ${CREDENTIAL.accessToken}` } },
		});
		expect(Object.keys(await failureOf({ thrown: error })).sort()).toEqual(
			['code', 'kind', 'method', 'path', 'reason'].sort(),
		);
	});
});

describe('an answer that breaks off', () => {
	const torn = (status: number, headers = {}) =>
		wrap(
			Object.assign(new Error('stream has been aborted'), {
				code: 'ERR_BAD_RESPONSE',
				response: { status, statusText: 'Not now', headers },
			}),
		);

	it.each([400, 407, 413, 502])('after its head said %i is known by its head', async (status) => {
		const headers = { 'x-request-id': 'r-1' };
		expect(await failureOf({ thrown: torn(status, headers) })).toEqual({
			...WHERE,
			kind: 'status',
			status,
			reason: 'Not now',
			requestId: 'r-1',
		});
	});

	it.each([200, 201, 302])('after its head said %i is the network', async (status) => {
		expect(await failureOf({ thrown: torn(status) })).toMatchObject({
			kind: 'network',
			code: 'ERR_BAD_RESPONSE',
		});
	});
});

describe('a 404', () => {
	const RECORD =
		'{"message":"The requested record was not found","error":"Not Found","statusCode":404}';
	const ROUTE =
		'{"message":"Cannot POST /api/ai/knowledges/search","error":"Not Found","statusCode":404}';
	const STRAY = [
		'{"message":"no Route matched with those values"}',
		'{"message":["Cannot POST /api/ai/x"],"statusCode":404}',
		'{"message":"Not Found","statusCode":400}',
		'<html><title>404 Not Found</title></html>',
		'<pre>Cannot POST /api/ai/x</pre>',
		'Cannot POST /api/ai/x',
		'404 page not found',
		'[]',
		'',
	];

	it.each([
		RECORD,
		`{"message":"Workspace 'x' was not found","statusCode":404}`,
		`{"message":"Workspace 'Cannot GET /x' was not found","statusCode":404}`,
	])('of the API misses a record: %s', async (body) => {
		expect(await failureOf({ status: 404, body })).toMatchObject({ missing: 'record' });
	});

	it('of the API that names its route misses the route', async () => {
		expect(await failureOf({ status: 404, body: ROUTE })).toMatchObject({ missing: 'route' });
	});

	it.each(STRAY)('of anything else says nothing of the API: %s', async (body) => {
		expect((await failureOf({ status: 404, body })).missing).toBeUndefined();
	});

	it.each([400, 410, 500])('is meant by no other status: %i', async (status) => {
		for (const body of [RECORD, ROUTE])
			expect((await failureOf({ status, body })).missing).toBeUndefined();
	});
});

describe('the token in what others say', () => {
	const { accessToken } = CREDENTIAL;

	it('is hidden in each field of a failure', async () => {
		const body = JSON.stringify({ query: 'INSERT', code: accessToken, column: accessToken });
		const headers = { 'x-request-id': `r-${accessToken}` };
		const path = `/threads/${accessToken}`;
		const failure = await failureOf({ status: 400, body, headers, request: { path } });
		expect(failure).toMatchObject({
			requestId: 'r-***',
			path: '/api/ai/threads/***',
			reason: expect.stringContaining('database code ***') as string,
		});
		expect(JSON.stringify(failure)).not.toContain(accessToken);
	});

	it('is hidden in what the network says, and in its code', async () => {
		const thrown = wrapped(accessToken, `Invalid value "Bearer ${accessToken}" for header`);
		const failure = await failureOf({ thrown });
		expect(failure).toMatchObject({ kind: 'network', code: '***' });
		expect(JSON.stringify(failure)).not.toContain(accessToken);
	});

	it('stays in the answer of a success, which is handed on as it came', async () => {
		const answer = { id: accessToken };
		expect(await outcomeOf({ body: JSON.stringify(answer) })).toMatchObject({ ok: true, answer });
	});
});

it('no field of a failure holds the markup of others', async () => {
	const markup = '<img src=x onerror=alert(1)>';
	const headers = { 'x-request-id': `r${markup}1` };
	const failure = await failureOf({ status: 400, body: `{"message":"no ${markup}"}`, headers });
	expect(failure).toMatchObject({ reason: 'no', requestId: 'r 1' });
});
