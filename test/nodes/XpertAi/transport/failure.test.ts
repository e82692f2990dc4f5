import fc from 'fast-check';

import { CERTIFICATE_REASONS, toNodeApiError } from '../../../../nodes/XpertAi/transport/failure';
import type { Failure } from '../../../../nodes/XpertAi/transport/failure';
import { node } from '../../support/node';
import { EMPTY_WORDS } from '../../support/thrown';

type Facts = Omit<Failure, 'method' | 'path'>;

const at = { method: 'POST', path: '/api/ai/knowledges/1/bulk' };
const REQUEST = 'Request: POST /api/ai/knowledges/1/bulk.';
const errorFor = (facts: Facts, itemIndex?: number) =>
	toNodeApiError({ ...at, ...facts }, { node, itemIndex });

const network = (code?: string, reason = 'words of the system'): Facts => ({
	kind: 'network',
	code,
	reason,
});
const status = (value: number, facts: Partial<Facts> = {}): Facts => ({
	kind: 'status',
	status: value,
	...facts,
});
/** OpenSSL's words for an answer in plain text. */
const PLAIN = 'write EPROTO 806C:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:';
const PROXY = 'Proxy connection ended before receiving CONNECT response';
const UNREACHED = 'The server could not be reached:';

describe('the error a user reads', () => {
	it.each<[Facts, string, string]>([
		[{ kind: 'refused', reason: 'No token' }, 'No token', 'Open the Xpert AI credential'],
		[{ kind: 'refused' }, 'The request was not sent', 'Open the Xpert AI credential'],
		[
			{ kind: 'blocked', reason: '10.0.0.5' },
			"n8n's SSRF protection does not allow requests to 10.0.0.5",
			'N8N_SSRF_ALLOWED_IP_RANGES',
		],
		[{ kind: 'cancelled' }, 'The execution was canceled before the server answered', ''],
		[{ kind: 'timeout' }, 'The server did not answer in time', 'may still have done the work'],
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
		[
			{ kind: 'unsuccessful', reason: 'Failed: <img src=x onerror=alert(1)>no <b>model</b>' },
			'Failed: no model',
			'',
		],
		[{ kind: 'unsuccessful' }, 'It did not end well', ''],
		[{ kind: 'network' }, `${UNREACHED} the connection broke`, 'Check the Base URL'],
		[
			network('EPROTO', PLAIN),
			`${UNREACHED} the address speaks http, not https (EPROTO)`,
			'Enter the Base URL with http://',
		],
		[
			network('ERR_SSL_PACKET_LENGTH_TOO_LONG'),
			`${UNREACHED} the address speaks http, not https (ERR_SSL_PACKET_LENGTH_TOO_LONG)`,
			'Allow Insecure HTTP',
		],
		[
			network('EPROTO', 'write EPROTO: sslv3 alert handshake failure'),
			`${UNREACHED} no secure connection could be agreed on (EPROTO)`,
			'Check the Base URL',
		],
		[
			network(undefined, PROXY),
			`${UNREACHED} the proxy closed the connection without an answer`,
			'the proxy if n8n uses one',
		],
		[network('EODD', 'odd'), `${UNREACHED} odd (EODD)`, 'Check the Base URL'],
		[status(407), 'The proxy answered 407: it gave no reason', 'a user name and password'],
		[status(401, { reason: 'no' }), 'The server answered 401: no', 'Check the Access Token'],
		[status(404), 'The server answered 404: it gave no reason', 'leads to an Xpert AI server'],
		[
			status(404, { missing: 'record' }),
			'The server answered 404: it gave no reason',
			'Check the IDs and names you have given',
		],
		[status(408), 'The server answered 408: it gave no reason', 'raise the time limit'],
		[status(413), 'The server answered 413: it gave no reason', '50 MB'],
		[status(418), 'The server answered 418: it gave no reason', ''],
		[status(429), 'The server answered 429: it gave no reason', 'Wait, then run it again'],
		[status(500), 'The server answered 500: it gave no reason', 'an ID that is not a UUID'],
		[status(501), 'The server answered 501: it gave no reason', 'does not offer this operation'],
		[
			status(400, { reason: 'This is not yet implemented.' }),
			'The server answered 400: This is not yet implemented.',
			'does not offer this operation',
		],
		[status(502), 'The server answered 502: it gave no reason', 'Run it again later'],
	])('for %j is "%s"', (facts, message, hint) => {
		const error = errorFor(facts, 3);
		expect(error.message).toBe(message);
		expect(error.description).toContain(hint);
		expect(error.description).toMatch(new RegExp(`${hint ? ' ' : '^'}${REQUEST}$`));
		expect(`${error.message} ${error.description}`).not.toMatch(EMPTY_WORDS);
		expect(error.httpCode).toBe(facts.status?.toString() ?? facts.code ?? null);
		expect(error.context).toMatchObject({ itemIndex: 3, data: { ...at, ...facts } });
		expect(error.node).toBe(node);
	});

	const CODES = ['ENOTFOUND', 'EAI_AGAIN', 'ECONNRESET', 'EPIPE', 'EHOSTUNREACH', 'ENETUNREACH'];
	it.each([...CODES, 'ECONNREFUSED', 'ERR_BAD_RESPONSE', ...Object.keys(CERTIFICATE_REASONS)])(
		'says %s in plain words',
		(code) => {
			const { message } = errorFor(network(code));
			expect(message).toMatch(new RegExp(`^${UNREACHED} .{9,} \\(${code}\\)$`));
			expect(message).not.toContain('words of the system');
		},
	);

	it.each<[Partial<Facts>, string]>([
		[{ requestId: 'r' }, `${REQUEST} Request ID: r.`],
		[{ attempts: 1 }, REQUEST],
		[
			{ attempts: 3, retryAfterMs: 89_001 },
			`${REQUEST} Tries: 3. The server asks to wait 90 seconds.`,
		],
	])('ends with what is known: %j', (facts, end) => {
		const failure = { ...at, ...status(418), ...facts };
		const { description } = toNodeApiError(failure, { node, hint: 'Check "Thread".' });
		expect(description).toBe(`Check "Thread". ${end}`);
	});

	it('names no request where none failed', () => {
		const failure: Failure = { kind: 'unsuccessful', method: '', path: '' };
		expect(toNodeApiError(failure, { node }).description ?? '').toBe('');
	});

	it('keeps its message where n8n would reword it', () => {
		const codes = fc.constantFrom('ECONNREFUSED', 'ENOENT', 'ETIMEDOUT', 'EACCES', 'getaddrinfo');
		const reasons = fc.oneof(fc.string({ minLength: 1 }), codes);
		fc.assert(
			fc.property(reasons, fc.integer({ min: 500, max: 599 }), (reason, code) => {
				const { message } = errorFor(status(code, { reason }));
				expect(message).toBe(`The server answered ${code}: ${reason}`);
			}),
		);
	});
});
