import { Readable } from 'node:stream';

import fc from 'fast-check';
import { UserError } from 'n8n-workflow';
import { z } from 'zod';

import { anySuccessfulAnswer, recordSchemaWith } from 'nodes/XpertAi/transport/answerSchemas';
import type { Failure } from 'nodes/XpertAi/transport/failure';
import type { ApiRequest } from 'nodes/XpertAi/transport/request';
import { multipartBody } from 'nodes/XpertAi/transport/multipart';

import { CREDENTIAL, type Exchange, sendOnce, wrap, wrapped } from '../../support/sender';
import { EMPTY_WORDS } from '../../support/thrown';

const WHERE = { method: 'POST', path: '/api/ai/assistants/count' };

async function failureOf(exchange: Exchange): Promise<Failure> {
	const { outcome } = await sendOnce(exchange);
	if (outcome.ok) throw new Error('the request succeeded');
	return outcome.failure;
}

describe('what is handed to n8n', () => {
	const handed = async (exchange: Exchange) => (await sendOnce(exchange)).sent[0]?.options;

	it('is one request with the credential and nothing that leaves its server', async () => {
		const { sent } = await sendOnce({});
		expect(sent).toEqual([
			{
				credentialName: 'xpertAiApi',
				signal: expect.any(AbortSignal),
				options: {
					method: 'POST',
					url: 'https://api.example.com/api/ai/assistants/count',
					headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
					body: Buffer.from('{}'),
					encoding: 'text',
					timeout: 5000,
					returnFullResponse: true,
					ignoreHttpStatusErrors: true,
					disableFollowRedirect: true,
					sendCredentialsOnCrossOriginRedirect: false,
					allowedDomains: undefined,
				},
			},
		]);
	});

	it('leaves the content type of a form to the form', async () => {
		const file = { name: 'a', mimeType: 'text/plain', content: Buffer.from('') };
		const form = multipartBody(file, {});
		const headers = { Accept: 'application/json' };
		expect(await handed({ request: { body: form } })).toMatchObject({ body: form, headers });
		const without = await handed({ request: { method: 'GET', body: undefined } });
		expect([without?.body, without?.headers]).toEqual([undefined, headers]);
	});

	it('passes JSON text on byte by byte', async () => {
		const body = '{"a": 1e2, "ü": "\\u0000", "big": 12345678901234567890}';
		expect(String((await handed({ request: { body } }))?.body)).toBe(body);
	});

	it.each([
		[0.4, 1],
		[7.2, 8],
		[1e15, 2 ** 31 - 1],
	])('has a timeout that timers take: %d ms is %i', async (timeoutMs, timeout) => {
		expect((await handed({ request: { timeoutMs } }))?.timeout).toBe(timeout);
	});

	const body = multipartBody({ name: 'a', mimeType: '', content: Buffer.from('') }, {});
	const stream = { onEvent: () => undefined };

	it.each<[string, Partial<ApiRequest>, number[]]>([
		['the whole answer', {}, [5000]],
		['silence while a file is sent', { body }, []],
		['silence while a file is sent, and all of it', { body, totalMs: 8.5 }, [9]],
		['silence in a stream', { stream }, []],
		['silence in a stream, and all of it', { stream, totalMs: 1e15 }, [2 ** 31 - 1]],
	])('limits %s', async (_, request, limits) => {
		const timer = jest.spyOn(AbortSignal, 'timeout');
		await sendOnce({ request });
		expect(timer.mock.calls.flat()).toEqual(limits);
		timer.mockRestore();
	});

	it.each([
		['from its beginning', stream, {}],
		['from behind the last event', { ...stream, lastEventId: '1-0' }, { 'Last-Event-ID': '1-0' }],
	])('asks for a stream %s', async (_, asked, further) => {
		const options = await handed({ request: { body: undefined, stream: asked } });
		expect(options?.headers).toEqual({ Accept: 'text/event-stream', ...further });
	});

	it('carries the allowed domains of the credential', async () => {
		const allowedDomains = '  example.com, api.example.com ';
		const credential = { allowedHttpRequestDomains: 'domains', allowedDomains };
		expect((await handed({ credential }))?.allowedDomains).toBe('example.com, api.example.com');
	});

	it('goes over http where the switch allows it', async () => {
		const credential = { baseUrl: 'http://xpert.internal:3000', allowInsecureHttp: true };
		expect((await handed({ credential }))?.url).toMatch(/^http:\/\/xpert.internal:3000\/api\/ai/);
	});

	it('is stopped with the execution', async () => {
		const { sent } = await sendOnce({ stopped: true, request: { totalMs: 60_000 } });
		expect(sent[0]?.signal?.aborted).toBe(true);
	});
});

describe('a credential that cannot be used', () => {
	const http = { baseUrl: 'http://api.example.com' };
	const listed = (allowedDomains?: string) => ({
		allowedHttpRequestDomains: 'domains',
		allowedDomains,
	});

	it.each<[string, string, Record<string, unknown>]>([
		['an empty token', 'The Access Token of the credential is empty', { accessToken: '' }],
		['a token with a line break', 'a line break', { accessToken: 'abc\r\nX-Evil: 1' }],
		['a token with a space', 'holds a space', { accessToken: 'abc def' }],
		['a token in other letters', 'another character', { accessToken: 'ключ' }],
		['an empty address', 'The Base URL is empty', { baseUrl: '' }],
		['http to another host', 'Allow Insecure HTTP', http],
		['a switch that is a text', 'Allow Insecure HTTP', { ...http, allowInsecureHttp: 'false' }],
		['a password in the address', 'user name or password', { baseUrl: 'https://a:b@example.com' }],
		['no allowed host', 'but lists none', listed()],
		[
			'another allowed host',
			'do not include the host of its Base URL (https://api.example.com)',
			listed('example.com'),
		],
		['an allowed host below it', 'do not include the host', listed('*.api.example.com')],
	])('sends nothing with %s', async (_, words, credential) => {
		const { outcome, sent } = await sendOnce({ credential });
		expect(sent).toEqual([]);
		const reason = expect.stringContaining(words) as string;
		expect(outcome).toEqual({
			ok: false,
			failure: { ...WHERE, kind: 'invalidCredential', reason },
		});
		expect(outcome.ok || outcome.failure.reason).not.toMatch(EMPTY_WORDS);
	});

	it('never sends a token that could break out of its header', async () => {
		const token = fc.string({ unit: 'binary', minLength: 1 });
		await fc.assert(
			fc.asyncProperty(token, async (accessToken) => {
				const { sent } = await sendOnce({ credential: { accessToken } });
				expect(sent).toHaveLength(/^[\x21-\x7e]+$/.test(accessToken.trim()) ? 1 : 0);
			}),
		);
	});
});

describe('a success', () => {
	const schema = z.custom<number>((answer) => answer === 7, 'it is not a seven');
	const { accessToken } = CREDENTIAL;

	it.each<[string, Exchange, unknown]>([
		...[200, 201, 202, 204, 299].map(
			(status) => [`read of status ${status}`, { status, body: '{"a":1}' }, { a: 1 }] as never,
		),
		['a text with braces', { body: '"{name} is here"' }, '{name} is here'],
		['what n8n has parsed', { body: { parsedByN8n: 1 } }, { parsedByN8n: 1 }],
		['held against its schema', { body: '7', request: { schema } }, 7],
		['given with the token in an ID', { body: `{"id":"${accessToken}"}` }, { id: accessToken }],
		[
			'given without the token in an error',
			{ body: `{"error":"no ${accessToken}"}` },
			{ error: 'no ***' },
		],
		[
			'given with the time of the server',
			{ headers: { date: 'Thu, 01 Jan 2026 12:00:00 GMT' } },
			3,
		],
	])('is %s', async (_, exchange, answer) => {
		const { outcome } = await sendOnce(exchange);
		const serverTime = exchange.headers && Date.UTC(2026, 0, 1, 12);
		expect(outcome).toEqual({ ok: true, status: exchange.status ?? 201, answer, serverTime });
	});

	it('is unreadable where its check finds a flaw', async () => {
		const headers = { 'x-request-id': 'r' };
		const expected = { status: 201, requestId: 'r', reason: 'it is not a seven' };
		const failure = await failureOf({ body: '8', headers, request: { schema } });
		expect(failure).toEqual({ ...WHERE, kind: 'unreadable', ...expected });
	});

	it.each([
		['nothing', ''],
		['JSON', '{"status":"done"}'],
		['a word', 'done'],
	])('is unreadable in place of a stream: %s', async (_, text) => {
		const body = Readable.from([Buffer.from(text)]);
		const failure = await failureOf({ body, request: { stream: { onEvent: () => undefined } } });
		const expected = { kind: 'unreadable', reason: 'it is no stream of events' };
		expect(failure).toMatchObject(expected);
	});
});

/** The error for an answer that broke off behind its head. */
const torn = (status: number) =>
	wrap(
		Object.assign(new Error('stream has been aborted'), {
			code: 'ERR_BAD_RESPONSE',
			response: { status, statusText: 'Not now', headers: { 'x-request-id': 'r-1' } },
		}),
	);

describe('a failure', () => {
	const headers = { 'x-request-id': 'r-1' };
	const NOT_NOW = { reason: 'Not now', requestId: 'r-1' };
	const TORN = { kind: 'network', code: 'ERR_BAD_RESPONSE' };

	it.each<[string, Exchange, Partial<Failure> | object]>([
		[
			'JSON that breaks off',
			{ status: 200, body: '[1, 2' },
			{ kind: 'unreadable', reason: 'it breaks off or is not valid JSON' },
		],
		...[400, 503].map((status): [string, Exchange, object] => [
			`status ${status} with a reason`,
			{ status, body: '{"message":"Name Exist"}', headers },
			{ kind: 'status', status, reason: 'Name Exist', requestId: 'r-1' },
		]),
		...['', '""'].map((body): [string, Exchange, object] => [
			`a status with no more than its message${body && ', and an empty text as JSON'}`,
			{ status: 503, body, statusMessage: 'Away' },
			{ kind: 'status', reason: 'Away' },
		]),
		[
			'a status with Retry-After',
			{ status: 429, headers: { 'retry-after': '7' } },
			{ kind: 'status', retryAfterMs: 7000 },
		],
		...[300, 301, 302, 303, 307, 308].map((status): [string, Exchange, object] => [
			`status ${status}, which leads elsewhere`,
			{ status, headers: { location: 'https://sso.example.com/login?state=abc' } },
			{ kind: 'redirect', status, reason: 'https://sso.example.com' },
		]),
		[
			'a redirect to a path',
			{ status: 302, headers: { location: '/login' } },
			{ kind: 'redirect', reason: 'another path of the same server' },
		],
		[
			'a redirect that leads to no server',
			{ status: 302, headers: { location: 'mailto:admin@example.com' } },
			{ kind: 'redirect', reason: 'mailto:' },
		],
		['a redirect to nowhere', { status: 302 }, { kind: 'redirect', reason: undefined }],
		[
			'a stream that was refused',
			{ thrown: torn(400) },
			{ kind: 'status', status: 400, ...NOT_NOW },
		],
		[
			'a stream of a bad gateway',
			{ thrown: torn(502) },
			{ kind: 'status', status: 502, ...NOT_NOW },
		],
		['a stream that leads elsewhere', { thrown: torn(302) }, TORN],
		...['ECONNABORTED', 'ETIMEDOUT'].map((code): [string, Exchange, object] => [
			`a timeout (${code})`,
			{ thrown: wrapped(code, 'x') },
			{ kind: 'timeout', code },
		]),
		[
			'an execution that was stopped',
			{ thrown: wrapped('ERR_CANCELED', 'x') },
			{ kind: 'cancelled' },
		],
		[
			'a connection that broke when the execution was stopped',
			{ thrown: wrapped('ECONNRESET', 'x'), stopped: true },
			{ kind: 'cancelled' },
		],
		[
			'a connection that was refused',
			{ thrown: wrapped('ECONNREFUSED', 'connect 127.0.0.1:1') },
			{ kind: 'network', code: 'ECONNREFUSED', reason: 'connect 127.0.0.1:1' },
		],
		[
			'a domain that is not allowed',
			{ thrown: new UserError('Domain not allowed') },
			{ reason: 'Domain not allowed' },
		],
		[
			'a host that is not known',
			{ thrown: { code: 'ENOTFOUND', message: 'getaddrinfo' } },
			{ kind: 'network', code: 'ENOTFOUND', reason: 'getaddrinfo' },
		],
		...Object.entries({ 'a text': 'odd', nothing: undefined, null: null }).map(
			([name, thrown]): [string, Exchange, object] => [
				`an error that is ${name}`,
				{ thrown },
				{ kind: 'network', reason: undefined },
			],
		),
	])('is told of %s', async (_, exchange, expected) => {
		expect(await failureOf(exchange)).toMatchObject({ ...WHERE, ...expected });
	});

	describe('that a success reports itself', () => {
		const record = recordSchemaWith('id');
		const NO_ROOM = { message: 'No room' };

		it.each<[string, number, object, Partial<Failure>]>([
			['a status', 200, { statusCode: 500, ...NO_ROOM }, { status: 500, reason: 'No room' }],
			[
				'a status with a list of words',
				201,
				{ statusCode: 400, message: ['a', 'b'] },
				{ status: 400, reason: 'a; b' },
			],
			['a status alone', 201, { statusCode: 503 }, { status: 503, reason: undefined }],
			[
				'a missing record',
				200,
				{ statusCode: 404, message: 'Not here' },
				{ status: 404, missing: 'record' },
			],
			['no success', 201, { success: false }, { status: 201, reason: undefined }],
			[
				'no success, and why',
				200,
				{ success: false, ...NO_ROOM },
				{ status: 200, reason: 'No room' },
			],
		])('has its status and its words: %s', async (_, status, body, expected) => {
			const statusMessage = 'OK';
			for (const schema of [record, anySuccessfulAnswer]) {
				const exchange = { status, statusMessage, body: JSON.stringify(body), request: { schema } };
				expect(await failureOf(exchange)).toMatchObject({ kind: 'status', ...expected });
			}
		});

		it.each<[string, object]>([
			['a status that is none of a failure', { statusCode: 201 }],
			['a status in text', { statusCode: '500' }],
			['a count', { statusCode: 4711 }],
			['a success', { success: true }],
			['a message', { message: 'no' }],
		])('is none in %s', async (_, body) => {
			const { outcome } = await sendOnce({ body: JSON.stringify(body) });
			expect(outcome).toMatchObject({ ok: true, answer: body });
		});

		it('is none in a record that is what was asked for', async () => {
			const answer = { id: 'a', success: false, statusCode: 500 };
			const exchange = { body: JSON.stringify(answer), request: { schema: record } };
			expect((await sendOnce(exchange)).outcome).toMatchObject({ ok: true, answer });
		});
	});

	it('waits until the date of a Retry-After, by the clock of this machine', async () => {
		jest.useFakeTimers({ now: Date.UTC(2026, 0, 31, 8, 0, 0) });
		const retry = { 'retry-after': 'Sat, 31 Jan 2026 08:00:20 GMT' };
		const failure = await failureOf({ status: 503, headers: retry });
		jest.useRealTimers();
		expect(failure.retryAfterMs).toBe(20_000);
	});

	it.each(['ip', 'hostname'])(
		"is n8n's SSRF protection before and while connecting: %s",
		async (key) => {
			const name = key === 'ip' ? 'SsrfBlockedIpError' : 'SsrfBlockedHostnameError';
			const block = Object.assign(new UserError('Blocked'), { name, [key]: '10.0.0.5' });
			// While connecting, axios puts an error of its own around it, under the same name.
			const around = Object.assign(new Error('Blocked', { cause: block }), { name });
			for (const thrown of [block, wrap(block), wrap(around)])
				expect(await failureOf({ thrown })).toEqual({
					...WHERE,
					kind: 'blocked',
					reason: '10.0.0.5',
				});
		},
	);

	it.each([
		['is a timeout', false, 'timeout', 'ECONNABORTED'],
		['is cancelled where the execution was stopped', true, 'cancelled', 'ERR_CANCELED'],
	])('after totalMs %s', async (_, stopped, kind, code) => {
		const timer = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
		const thrown = wrapped('ERR_CANCELED', 'canceled');
		const failure = await failureOf({ thrown, stopped, request: { totalMs: 60_000 } });
		timer.mockRestore();
		expect(failure).toMatchObject({ kind, code });
	});

	it('keeps nothing of the request that an error of axios carries', async () => {
		const config = { headers: { Authorization: `Bearer ${CREDENTIAL.accessToken}` } };
		const thrown = Object.assign(new Error('connect'), { code: 'ECONNREFUSED', config });
		const keys = Object.keys(await failureOf({ thrown }));
		expect(keys.sort()).toEqual(['code', 'kind', 'method', 'path', 'reason']);
	});

	it('holds neither the token nor markup in any field', async () => {
		const { accessToken: token } = CREDENTIAL;
		const failures = [
			await failureOf({
				status: 400,
				body: { query: 'INSERT', code: token, column: '<img src=x>' },
				headers: { 'x-request-id': `r<img src=x>-${token}` },
				request: { path: `/threads/${token}` },
			}),
			await failureOf({ thrown: wrapped(token, `Invalid value "Bearer ${token}" for header`) }),
		];
		expect(failures).toMatchObject([
			{ requestId: 'r -***', path: '/api/ai/threads/***' },
			{ kind: 'network', code: '***' },
		]);
		expect(failures[0]?.reason).toContain('database code ***');
		expect(JSON.stringify(failures)).not.toMatch(new RegExp(`${token}|<img`));
	});
});

describe('a 404', () => {
	const RECORD = '{"message":"The requested record was not found","statusCode":404}';
	const ROUTE = '{"message":"Cannot POST /api/ai/knowledges/search","statusCode":404}';

	it.each<[string, number, string, Failure['missing']]>([
		['a record that is missing', 404, RECORD, 'record'],
		[
			'a record with a route in its name',
			404,
			`{"message":"Workspace 'Cannot GET /x' was not found","statusCode":404}`,
			'record',
		],
		['a route that is missing', 404, ROUTE, 'route'],
		[
			'nothing with the words of a proxy',
			404,
			'{"message":"no Route matched with those values"}',
			undefined,
		],
		[
			'nothing with a list of messages',
			404,
			'{"message":["Cannot POST /api/ai/x"],"statusCode":404}',
			undefined,
		],
		[
			'nothing with another status in the body',
			404,
			'{"message":"Not Found","statusCode":400}',
			undefined,
		],
		['nothing with a page', 404, '<pre>Cannot POST /api/ai/x</pre>', undefined],
		['nothing with text', 404, 'Cannot POST /api/ai/x', undefined],
		['nothing with a list', 404, '[]', undefined],
		['nothing without a body', 404, '', undefined],
		['nothing with status 400', 400, RECORD, undefined],
		['nothing with status 500', 500, ROUTE, undefined],
	])('is told of %s', async (_, status, body, missing) => {
		expect((await failureOf({ status, body })).missing).toBe(missing);
	});
});
