import fc from 'fast-check';

import { CERTIFICATE_REASONS, toNodeApiError } from '../../../../nodes/XpertAi/transport/failure';
import type { Failure } from '../../../../nodes/XpertAi/transport/failure';
import { node } from '../../support/node';
import { EMPTY_WORDS } from '../../support/thrown';

type Facts = Omit<Failure, 'method' | 'path'>;

const at = { method: 'POST', path: '/api/ai/knowledges/1/bulk' };
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
const PROXY = 'Proxy connection ended before receiving CONNECT response';
const UNREACHED = 'The server could not be reached:';

describe('the error a user reads', () => {
	it.each<[Facts, string, string]>([
		[{ kind: 'refused' }, 'The request was not sent', 'Open the Xpert AI credential'],
		[
			{ kind: 'blocked', reason: '10.0.0.5' },
			"n8n's SSRF protection does not allow requests to 10.0.0.5",
			'N8N_SSRF_ALLOWED_IP_RANGES',
		],
		[{ kind: 'cancelled' }, 'The execution was canceled before the server answered', ''],
		[
			{ kind: 'redirect', status: 302, reason: 'https://sso.example.com' },
			'The server redirects to https://sso.example.com, which the node does not follow with your token (HTTP 302)',
			'Enter the address the server points to',
		],
		[
			{ kind: 'unsuccessful', reason: 'Failed: <img src=x onerror=alert(1)>no <b>model</b>' },
			'Failed: no model',
			'',
		],
		[{ kind: 'unsuccessful' }, 'It did not end well', ''],
		[{ kind: 'network' }, `${UNREACHED} the connection broke`, 'Check the Base URL'],
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
		[status(403), 'This key may not do this (HTTP 403)', ''],
		[
			status(404),
			'The server answered 404: it gave no reason',
			'the address of an Xpert AI server',
		],
		[
			status(404, { missing: 'record' }),
			'The server answered 404: it gave no reason',
			'Check the IDs and names you have given',
		],
		[status(408), 'The server answered 408: it gave no reason', 'Run it again later'],
		[status(418), 'The server answered 418: it gave no reason', ''],
		[
			status(429),
			'The server takes no more requests just now (HTTP 429)',
			'Wait, then run it again',
		],
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
		expect(error.description ?? '').toContain(hint);
		expect(error.description ?? '').not.toContain(at.path);
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

	it('says with the next step how long the server asks to wait', () => {
		const failure = { ...at, ...status(418), retryAfterMs: 89_001 };
		const { description } = toNodeApiError(failure, { node, hint: 'Check "Thread".' });
		expect(description).toBe('Check "Thread". The server asks to wait 90 seconds.');
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
