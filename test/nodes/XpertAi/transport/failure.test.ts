import fc from 'fast-check';

import { toNodeApiError } from '../../../../nodes/XpertAi/transport/failure';
import type { Failure } from '../../../../nodes/XpertAi/transport/failure';
import { node } from '../../support/node';
import { EMPTY_WORDS } from '../../support/thrown';

const at = { method: 'POST', path: '/api/ai/knowledges/1/bulk' };
const errorFor = (failure: Omit<Failure, 'method' | 'path'>, itemIndex?: number) =>
	toNodeApiError({ ...at, ...failure }, { node, itemIndex });

/** Every kind of failure, its message and how to go on. */
const KINDS: Array<[Omit<Failure, 'method' | 'path'>, string, string]> = [
	[
		{ kind: 'refused', reason: 'The Access Token of the credential is empty' },
		'The Access Token of the credential is empty',
		'Open the Xpert AI credential',
	],
	[{ kind: 'refused' }, 'The request was not sent', 'Open the Xpert AI credential'],
	[
		{ kind: 'blocked', reason: '10.0.0.5' },
		"n8n's SSRF protection does not allow requests to 10.0.0.5",
		'N8N_SSRF_ALLOWED_IP_RANGES',
	],
	[{ kind: 'cancelled' }, 'The execution was canceled before the server answered', ''],
	[
		{ kind: 'timeout', code: 'ECONNABORTED' },
		'The server did not answer in time',
		'The server may still have done the work',
	],
	[
		{ kind: 'network', code: 'ECONNREFUSED' },
		'The server could not be reached: nothing accepts connections at this address (ECONNREFUSED)',
		'Check the Base URL',
	],
	[
		{ kind: 'network', code: 'CERT_HAS_EXPIRED', reason: 'certificate has expired' },
		'The server could not be reached: its certificate has expired (CERT_HAS_EXPIRED)',
		'Check the Base URL',
	],
	[{ kind: 'network' }, 'The server could not be reached: the connection broke', 'Check the Base'],
	[
		{
			kind: 'network',
			code: 'EPROTO',
			reason: 'write EPROTO 806C:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:',
		},
		'The server could not be reached: the address speaks http, not https (EPROTO)',
		'Enter the Base URL with http://',
	],
	[
		{ kind: 'network', code: 'ERR_SSL_PACKET_LENGTH_TOO_LONG', reason: 'packet length too long' },
		'The server could not be reached: the address speaks http, not https (ERR_SSL_PACKET_LENGTH_TOO_LONG)',
		'Allow Insecure HTTP',
	],
	[
		{ kind: 'network', code: 'EPROTO', reason: 'write EPROTO: sslv3 alert handshake failure' },
		'The server could not be reached: no secure connection could be agreed on (EPROTO)',
		'Check the Base URL',
	],
	[
		{ kind: 'network', reason: 'Proxy connection ended before receiving CONNECT response' },
		'The server could not be reached: the proxy closed the connection without an answer',
		'the proxy if n8n uses one',
	],
	[
		{ kind: 'status', status: 407, reason: 'Proxy Authentication Required' },
		'The proxy answered 407: Proxy Authentication Required',
		'asks for a user name and password',
	],
	[
		{ kind: 'redirect', status: 302, reason: 'https://sso.example.com' },
		'The server redirects to https://sso.example.com, which the node does not follow with your token (HTTP 302)',
		'Enter the address the server points to',
	],
	[
		{ kind: 'unreadable', status: 200, reason: 'it is an HTML page' },
		"The server's answer cannot be read: it is an HTML page (HTTP 200)",
		'Base URL is the address of an Xpert AI server',
	],
	[{ kind: 'status', status: 418 }, 'The server answered 418: it gave no reason', ''],
];

/** Statuses with advice of their own. */
const STATUSES: Array<[number, string]> = [
	[401, 'Check the Access Token'],
	[404, 'leads to an Xpert AI server'],
	[413, '50 MB'],
	[429, 'Wait, then run it again'],
	[500, 'an ID that is not a UUID'],
	[502, 'Run it again later'],
];

describe('the error a user reads', () => {
	it.each(KINDS)('%j', (failure, message, hint) => {
		const error = errorFor(failure);
		expect(error.message).toBe(message);
		expect(error.description).toContain(hint);
		expect(error.description).toContain('Request: POST /api/ai/knowledges/1/bulk.');
		expect(`${error.message} ${error.description}`).not.toMatch(EMPTY_WORDS);
	});

	it.each(STATUSES)('tells with status %i how to go on', (status, hint) => {
		const error = errorFor({ kind: 'status', status, reason: 'no' });
		expect(error.message).toBe(`The server answered ${status}: no`);
		expect(error.description).toContain(hint);
		expect(error.description).not.toMatch(EMPTY_WORDS);
		expect(error.httpCode).toBe(String(status));
	});

	it.each(['ENOTFOUND', 'EAI_AGAIN', 'ECONNRESET', 'EPIPE', 'EHOSTUNREACH', 'ENETUNREACH'])(
		'says %s in plain words',
		(code) => {
			const error = errorFor({ kind: 'network', code, reason: 'syscall words' });
			expect(error.message).not.toContain('syscall words');
			expect(error.message).toMatch(
				new RegExp(`^The server could not be reached: .+ \\(${code}\\)$`),
			);
			expect(error.httpCode).toBe(code);
		},
	);

	it('says of a missing record that it is one, not that the address is wrong', () => {
		const { description } = errorFor({ kind: 'status', status: 404, missing: 'record' });
		expect(description).toContain('Check the IDs and names you have given');
		expect(description).not.toContain('Base URL');
	});

	it('says how to go on in the words of whoever asked, where they know more', () => {
		const failure = { ...at, kind: 'status' as const, status: 500, requestId: 'r' };
		expect(toNodeApiError(failure, { node, hint: 'Check "Thread".' }).description).toBe(
			'Check "Thread". Request: POST /api/ai/knowledges/1/bulk. Request ID: r.',
		);
	});

	it('quotes what a success tells of a run without its markup', () => {
		const reason = 'The run failed: <img src=x onerror=alert(1)>no <b>model</b>';
		expect(errorFor({ kind: 'unsuccessful', reason }).message).toBe('The run failed: no model');
		expect(errorFor({ kind: 'unsuccessful' }).message).toBe('It did not end well');
	});

	it('shows the request id for the log of the server', () => {
		const { description } = errorFor({ kind: 'status', status: 500, requestId: 'abc-1' });
		expect(description).toContain('Request ID: abc-1.');
		expect(errorFor({ kind: 'status', status: 500 }).description).not.toContain('Request ID');
	});

	it('says how often the request was sent, and how long the server asks to wait', () => {
		const { description } = errorFor({
			kind: 'status',
			status: 429,
			attempts: 3,
			retryAfterMs: 89_001,
		});
		expect(description).toContain('Tries: 3. The server asks to wait 90 seconds.');
		expect(errorFor({ kind: 'status', status: 429, attempts: 1 }).description).not.toMatch(
			/Tries|asks to wait/,
		);
	});

	it('carries the item it is about, and the facts for other code', () => {
		const error = errorFor({ kind: 'status', status: 404, requestId: 'r' }, 3);
		expect(error.context.itemIndex).toBe(3);
		expect(error.context.data).toEqual({ ...at, kind: 'status', status: 404, requestId: 'r' });
		expect(error.node).toBe(node);
	});

	it.each(['ECONNREFUSED', 'ENOENT', 'ETIMEDOUT', 'EACCES', 'getaddrinfo'])(
		'keeps its message when the reason mentions %s, which n8n would reword',
		(code) => {
			const reason = `connect ${code} 10.0.0.1:5432`;
			expect(errorFor({ kind: 'status', status: 500, reason }).message).toBe(
				`The server answered 500: ${reason}`,
			);
		},
	);

	it('keeps its message whatever the reason is', () => {
		fc.assert(
			fc.property(
				fc.string({ minLength: 1 }),
				// What a proxy says is told as such.
				fc.integer({ min: 400, max: 599 }).filter((status) => status !== 407),
				(reason, status) => {
					const error = errorFor({ kind: 'status', status, reason });
					expect(error.message).toBe(`The server answered ${status}: ${reason}`);
					expect(error.httpCode).toBe(String(status));
				},
			),
		);
	});
});
