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

	it('may be a bare number, a text or nothing at all', async () => {
		expect(await outcomeOf({ body: '3' })).toMatchObject({ ok: true, answer: 3 });
		expect(await outcomeOf({ body: 'deleted' })).toMatchObject({ ok: true, answer: 'deleted' });
		expect(await outcomeOf({ status: 204, body: '' })).toMatchObject({
			ok: true,
			answer: undefined,
		});
	});

	it.each(['[draft] hello', '{name} is here', '<html>', ''])(
		'may be the JSON text %j',
		async (answer) => {
			expect(await outcomeOf({ body: JSON.stringify(answer) })).toMatchObject({ ok: true, answer });
		},
	);

	it('takes an answer that n8n has parsed already', async () => {
		expect(await outcomeOf({ body: { a: 1 } })).toMatchObject({ ok: true, answer: { a: 1 } });
	});
});

describe('a 2xx that is no answer of this API', () => {
	it.each([
		['<!doctype html><html><title>Sign in</title></html>', 'HTML page'],
		['<html></html>', 'HTML page'],
		['[{"id":"1","name":"a"},{"id":', 'breaks off'],
		['{"items":[', 'breaks off'],
		['\n\n\n{"role":"ai","content":"Hal', 'breaks off'],
	])('%j is unreadable', async (body, words) => {
		expect(await failureOf({ status: 200, body, headers: { 'x-request-id': 'r' } })).toEqual({
			...WHERE,
			kind: 'unreadable',
			status: 200,
			requestId: 'r',
			reason: expect.stringContaining(words) as string,
		});
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
});

describe('an answer that is not a success', () => {
	it.each([400, 401, 403, 404, 409, 413, 422, 429, 500, 502, 503])(
		'%i carries status, reason and request id',
		async (status) => {
			const headers = { 'x-request-id': 'r-1' };
			expect(await failureOf({ status, body: '{"message":"Name Exist"}', headers })).toEqual({
				...WHERE,
				kind: 'status',
				status,
				reason: 'Name Exist',
				requestId: 'r-1',
			});
		},
	);

	it('falls back to the words beside the status', async () => {
		expect(
			await failureOf({ status: 503, body: '', statusMessage: 'Service Unavailable' }),
		).toMatchObject({ kind: 'status', reason: 'Service Unavailable' });
	});

	it('shows an HTML page by its title only', async () => {
		const body = '<html><head><title>502 Bad Gateway</title></head><body>long</body></html>';
		const { reason } = await failureOf({ status: 502, body });
		expect(reason).toContain('502 Bad Gateway');
		expect(reason).not.toContain('long');
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
	it.each([
		'{"message":"The requested record was not found","error":"Not Found","statusCode":404}',
		`{"message":"Workspace 'x' was not found","statusCode":404}`,
	])('of the API misses a record: %s', async (body) => {
		expect(await failureOf({ status: 404, body })).toMatchObject({ missing: 'record' });
	});

	it.each([
		'{"message":"Cannot POST /api/ai/x","error":"Not Found","statusCode":404}',
		'{"message":"no Route matched with those values"}',
		'<html><title>404 Not Found</title></html>',
		'404 page not found',
		'[]',
		'',
	])('of anything else does not: %s', async (body) => {
		expect(await failureOf({ status: 404, body })).not.toHaveProperty('isRecordMissing');
	});

	it('is meant by no other status', async () => {
		const body = '{"message":"not found","statusCode":404}';
		expect(await failureOf({ status: 400, body })).not.toHaveProperty('isRecordMissing');
	});
});

describe('the code of a database', () => {
	it.each([
		['{"query":"INSERT","code":"22021"}', '22021'],
		['{"query":"INSERT","driverError":{"code":"22P02"}}', '22P02'],
	])('is kept from its raw answer: %s', async (body, databaseCode) => {
		expect(await failureOf({ status: 400, body })).toMatchObject({ databaseCode });
	});

	it.each(['{"message":"no","code":"22021"}', '{"query":"INSERT"}', 'code 22021'])(
		'is not read into other answers: %s',
		async (body) => {
			expect(await failureOf({ status: 400, body })).not.toHaveProperty('databaseCode');
		},
	);
});

describe('the token in a reason', () => {
	const { accessToken } = CREDENTIAL;

	it.each([
		`Unknown key ${accessToken}`,
		`authorization: bearer ${accessToken}, ${accessToken}`,
		`{"message":"no such token ${accessToken}"}`,
		`<html><title>${accessToken}</title></html>`,
	])('is hidden in %s', async (body) => {
		const { reason } = await failureOf({ status: 401, body });
		expect(reason).toContain('***');
		expect(reason).not.toContain(accessToken);
	});

	it('is hidden also where it stands encoded, as in addresses', async () => {
		const token = 'a+b/c.$1=(x)';
		const encoded = encodeURIComponent(token);
		const { outcome } = await sendOnce({
			credential: { accessToken: token },
			request: { path: `/threads/${encoded}` },
			status: 404,
			body: `Cannot POST /threads/${encoded} with ${token}`,
		});
		expect(outcome).toMatchObject({
			failure: {
				reason: 'Cannot POST /threads/*** with ***',
				path: '/api/ai/threads/***',
			},
		});
	});

	it('that no address can hold is refused like any other that is none', async () => {
		const { outcome } = await sendOnce({ credential: { accessToken: 'a\ud800' } });
		expect(outcome).toMatchObject({ failure: { kind: 'refused' } });
	});

	it('is hidden in what the network says', async () => {
		const thrown = wrapped('X', `Invalid value "Bearer ${accessToken}" for header`);
		expect(JSON.stringify(await failureOf({ thrown }))).not.toContain(accessToken);
	});

	it('is hidden also where a long reason is cut', async () => {
		for (let length = 470; length < 505; length++) {
			const body = `${'a'.repeat(length)} ${accessToken} and more${' b'.repeat(60)}`;
			const { reason } = await failureOf({ status: 401, body });
			expect(reason).not.toContain(accessToken.slice(0, 6));
		}
	});
});
