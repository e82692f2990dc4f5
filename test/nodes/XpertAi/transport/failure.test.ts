import fc from 'fast-check';
import { pick } from 'lodash';

import * as classify from 'nodes/XpertAi/transport/failure';
import { apiError } from 'nodes/XpertAi/execution/apiError';
import type { Failure } from 'nodes/XpertAi/transport/failure';

import { node } from '../../support/node';
import { EMPTY_WORDS } from '../../support/thrown';
import { failure } from '../ingest/support/outcomes';

type Facts = Omit<Failure, 'method' | 'path'>;

const at = { method: 'POST', path: '/api/ai/knowledges/1/bulk' };
const errorFor = (facts: Facts, itemIndex?: number) =>
	apiError({ ...at, ...facts }, { node, itemIndex });

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
/** What Node.js says of certificates that it rejects: https://nodejs.org/api/tls.html#x509-certificate-error-codes. */
const CERTIFICATE_FAULTS = [
	...['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'CERT_REVOKED', 'CERT_REJECTED', 'CERT_UNTRUSTED'],
	...['CERT_CHAIN_TOO_LONG', 'CERT_SIGNATURE_FAILURE', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
	...['ERROR_IN_CERT_NOT_AFTER_FIELD', 'ERROR_IN_CERT_NOT_BEFORE_FIELD', 'HOSTNAME_MISMATCH'],
	...['ERR_TLS_CERT_ALTNAME_INVALID', 'INVALID_CA', 'INVALID_PURPOSE', 'PATH_LENGTH_EXCEEDED'],
	...['SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY'],
	...['UNABLE_TO_DECRYPT_CERT_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT'],
	...['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
];
const UNREACHED = 'The server could not be reached:';

describe('the error a user reads', () => {
	it.each<[string, Facts, string]>([
		['The request was not sent', { kind: 'invalidCredential' }, 'Open the Xpert AI credential'],
		[
			"n8n's SSRF protection does not allow requests to 10.0.0.5",
			{ kind: 'blocked', reason: '10.0.0.5' },
			'N8N_SSRF_ALLOWED_IP_RANGES',
		],
		['The execution was canceled before the server answered', { kind: 'cancelled' }, ''],
		[
			"The server's answer cannot be read: it is empty (HTTP 201)",
			{ kind: 'unreadable', reason: 'it is empty', status: 201 },
			'Enter the address of an Xpert AI server as Base URL in the credential',
		],
		[
			'The server redirects to https://sso.example.com, which the node does not follow with your token (HTTP 302)',
			{ kind: 'redirect', status: 302, reason: 'https://sso.example.com' },
			'Enter the address the server points to',
		],
		[
			'The server redirects to another address, which the node does not follow with your token (HTTP 301)',
			{ kind: 'redirect', status: 301 },
			'Enter the address the server points to',
		],
		[
			'Failed: no model',
			{ kind: 'unsuccessful', reason: 'Failed: <img src=x onerror=alert(1)>no <b>model</b>' },
			'',
		],
		['It did not end well', { kind: 'unsuccessful' }, ''],
		['The server did not answer in time', { kind: 'timeout' }, 'It may still have done the work'],
		[`${UNREACHED} the connection broke`, { kind: 'network' }, 'Check the Base URL'],
		[
			`${UNREACHED} the connection was closed before an answer came (ECONNRESET)`,
			network('ECONNRESET'),
			'The server or a proxy broke off',
		],
		[
			`${UNREACHED} the address speaks http, not https (ERR_SSL_PACKET_LENGTH_TOO_LONG)`,
			network('ERR_SSL_PACKET_LENGTH_TOO_LONG'),
			'Allow Insecure HTTP',
		],
		[
			`${UNREACHED} no secure connection could be agreed on (EPROTO)`,
			network('EPROTO', 'write EPROTO: sslv3 alert handshake failure'),
			'Check the Base URL',
		],
		[
			`${UNREACHED} the proxy closed the connection without an answer`,
			network(undefined, 'Proxy connection ended before receiving CONNECT response'),
			'the proxy if n8n uses one',
		],
		[
			`${UNREACHED} its certificate has expired (CERT_HAS_EXPIRED)`,
			network('CERT_HAS_EXPIRED'),
			'in NODE_EXTRA_CA_CERTS',
		],
		[`${UNREACHED} No proxy`, network(undefined, 'No proxy'), 'the proxy if n8n uses one'],
		[`${UNREACHED} odd (EODD)`, network('EODD', 'odd'), 'Check the Base URL'],
		['The proxy answered 407: it gave no reason', status(407), 'a user name and password'],
		[
			'This key may not do this (HTTP 403)',
			status(403),
			"The server knows this key. A user's key runs no threads in private workspaces, an assistant's key only those of its assistant; a workspace's key creates and updates no knowledgebases, and stores no first document of one.",
		],
		[
			'The server answered 404: it gave no reason',
			status(404),
			'the address of an Xpert AI server',
		],
		[
			'The server answered 404: it gave no reason',
			status(404, { missing: 'record' }),
			'Check the IDs and names you have given',
		],
		[
			'The server says that it failed: no room (HTTP 200)',
			status(200, { reason: 'no room' }),
			'the request ID in the log',
		],
		[
			'The server says that it failed: it gave no reason (HTTP 201)',
			status(201),
			'part of the work',
		],
		['The server answered 408: it gave no reason', status(408), 'Run it again later'],
		['The server answered 418: it gave no reason', status(418), ''],
		[
			'The server takes no more requests just now (HTTP 429)',
			status(429),
			'Wait, then run it again',
		],
		['The server answered 500: it gave no reason', status(500), 'an ID that is not a UUID'],
		['The server answered 501: it gave no reason', status(501), 'does not offer this operation'],
		[
			'The server answered 400: This is not yet implemented.',
			status(400, { reason: 'This is not yet implemented.' }),
			'does not offer this operation',
		],
		['The server answered 502: it gave no reason', status(502), 'Run it again later'],
	])('is: %s', (message, facts, hint) => {
		const error = errorFor(facts, 3);
		expect(error.message).toBe(message);
		expect(error.description ?? '').toEqual(hint && expect.stringContaining(hint));
		expect(error.description ?? '').not.toContain(at.path);
		expect(`${error.message} ${error.description}`).not.toMatch(EMPTY_WORDS);
		expect(error.httpCode).toBe(facts.status?.toString() ?? facts.code ?? null);
		expect(error.context).toMatchObject({ itemIndex: 3, data: { ...at, ...facts } });
		expect(error.node).toBe(node);
	});

	const CODES = ['ENOTFOUND', 'EAI_AGAIN', 'ECONNRESET', 'EPIPE', 'EHOSTUNREACH', 'ENETUNREACH'];
	it.each([...CODES, 'ECONNREFUSED', 'ERR_BAD_RESPONSE', 'EPROTO'])(
		'says %s in plain words',
		(code) => {
			const { message } = errorFor(network(code));
			expect(message).toMatch(new RegExp(`^${UNREACHED} .{9,} \\(${code}\\)$`));
			expect(message).not.toContain('words of the system');
		},
	);

	it.each(CERTIFICATE_FAULTS)('says %s in plain words, and where to name an authority', (code) => {
		const { message, description } = errorFor(network(code));
		expect(message).toMatch(new RegExp(`^${UNREACHED} its certificate .{9,} \\(${code}\\)$`));
		expect(description).toContain('NODE_EXTRA_CA_CERTS');
	});

	it('says with the next step how long the server asks to wait', () => {
		const failure = { ...at, ...status(418), retryAfterMs: 89_001 };
		const { description } = apiError(failure, { node, statusAdvice: { 418: 'Check "Thread".' } });
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

const PREDICATES = pick(classify, [
	...([
		'certainlyNotDone',
		'isRebuildingIndex',
		'suggestsWrongServer',
		'isNotFoundFromOtherServer',
	] as const),
	...(['isNeverSent', 'mayMeanNoRoute', 'isOutcomeUnknown', 'isInputRejected'] as const),
	...([
		'isTokenRejected',
		'isTooLarge',
		'isTransient',
		'mayHaveStoppedPartway',
		'mayMeanNoRecord',
	] as const),
]);
const STATUSES = Array.from({ length: 500 }, (_one, index) => 100 + index);
const of404 = (facts: Partial<Failure> = {}): Facts => ({ kind: 'status', status: 404, ...facts });
const BUSY: Facts = { kind: 'status', status: 400, reason: 'Embedding rebuild is running' };

type Predicate = keyof typeof PREDICATES;

/** Which predicates a failure meets. */
const meanings = (facts: Facts) =>
	Object.entries(PREDICATES).flatMap(([name, means]) => (means(failure(facts)) ? [name] : []));

describe('a status without more', () => {
	it.each<[Predicate, number[]]>([
		['isTransient', [404, 408, 425, 429, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530]],
		[
			'isOutcomeUnknown',
			[...STATUSES.slice(100, 200), 404, 408, 425, ...STATUSES.filter((status) => status > 501)],
		],
		['certainlyNotDone', [429]],
		['isInputRejected', [400, 422]],
		['mayHaveStoppedPartway', [400, 422, 500]],
		['mayMeanNoRecord', [500]],
		['isTokenRejected', [401, 403]],
		['isTooLarge', [413]],
		['isNotFoundFromOtherServer', [404]],
		['suggestsWrongServer', []],
		['mayMeanNoRoute', [404, 405, 501]],
		['isRebuildingIndex', []],
	])('%s is meant by its statuses', (name, statuses) => {
		const found = STATUSES.filter((status) =>
			PREDICATES[name](failure({ kind: 'status', status })),
		);
		expect(found).toEqual(statuses);
	});

	it('says nothing with a redirect', () => {
		const redirects = STATUSES.map((status) => failure({ kind: 'redirect', status }));
		const { isTooLarge, mayMeanNoRecord, isTransient } = PREDICATES;
		const { isNotFoundFromOtherServer, mayMeanNoRoute } = PREDICATES;
		const all = [
			isTooLarge,
			mayMeanNoRecord,
			isTransient,
			isNotFoundFromOtherServer,
			mayMeanNoRoute,
		];
		for (const means of all) expect(redirects.filter(means)).toEqual([]);
	});
});

const NEVER_SENT: Predicate[] = ['isTransient', 'certainlyNotDone', 'isNeverSent'];
const LOST: Predicate[] = ['isTransient', 'isOutcomeUnknown'];

describe('a failure', () => {
	it.each<[string, Facts, Predicate[]]>([
		['network', { kind: 'network' }, LOST],
		['timeout', { kind: 'timeout' }, LOST],
		['timeout with ECONNREFUSED', { kind: 'timeout', code: 'ECONNREFUSED' }, LOST],
		['timeout with ECONNRESET', { kind: 'timeout', code: 'ECONNRESET' }, LOST],
		['unreadable', { kind: 'unreadable', status: 200 }, [...LOST, 'suggestsWrongServer']],
		['invalid credential', { kind: 'invalidCredential' }, ['certainlyNotDone', 'isNeverSent']],
		['blocked', { kind: 'blocked' }, ['certainlyNotDone', 'isNeverSent']],
		['cancelled', { kind: 'cancelled' }, []],
		['redirect', { kind: 'redirect' }, []],
		['unsuccessful', { kind: 'unsuccessful' }, []],
		['status', { kind: 'status' }, []],

		['ECONNREFUSED', { kind: 'network', code: 'ECONNREFUSED' }, NEVER_SENT],
		['ENOTFOUND', { kind: 'network', code: 'ENOTFOUND' }, NEVER_SENT],
		['EAI_AGAIN', { kind: 'network', code: 'EAI_AGAIN' }, NEVER_SENT],
		['EHOSTUNREACH', { kind: 'network', code: 'EHOSTUNREACH' }, NEVER_SENT],
		['ENETUNREACH', { kind: 'network', code: 'ENETUNREACH' }, NEVER_SENT],
		['ECONNRESET', { kind: 'network', code: 'ECONNRESET' }, LOST],
		['EPIPE', { kind: 'network', code: 'EPIPE' }, LOST],
		['ERR_SOCKET_CLOSED', { kind: 'network', code: 'ERR_SOCKET_CLOSED' }, LOST],
		['EPROTO', { kind: 'network', code: 'EPROTO' }, ['certainlyNotDone', 'isNeverSent']],
		[
			'ERR_SSL_WRONG_VERSION_NUMBER',
			{ kind: 'network', code: 'ERR_SSL_WRONG_VERSION_NUMBER' },
			['certainlyNotDone', 'isNeverSent'],
		],
		[
			'ERR_SSL_PACKET_LENGTH_TOO_LONG',
			{ kind: 'network', code: 'ERR_SSL_PACKET_LENGTH_TOO_LONG' },
			['certainlyNotDone', 'isNeverSent'],
		],
		...CERTIFICATE_FAULTS.map((code): [string, Facts, Predicate[]] => [
			code,
			{ kind: 'network', code },
			['certainlyNotDone', 'isNeverSent'],
		]),

		[
			'a failure that is reported under status 200',
			{ kind: 'status', status: 200 },
			['isOutcomeUnknown'],
		],
		[
			'status 503 with Retry-After',
			{ kind: 'status', status: 503, retryAfterMs: 0 },
			['isTransient', 'certainlyNotDone'],
		],
		['status 502 with Retry-After', { kind: 'status', status: 502, retryAfterMs: 0 }, LOST],
		[
			'a knowledgebase that is being rebuilt',
			BUSY,
			['isTransient', 'certainlyNotDone', 'isRebuildingIndex'],
		],
		[
			'another 409 of a knowledgebase',
			{ ...BUSY, reason: 'No embedding rebuild is running' },
			['isInputRejected', 'mayHaveStoppedPartway'],
		],
		[
			'the same reason with status 500',
			{ ...BUSY, status: 500 },
			['mayMeanNoRecord', 'mayHaveStoppedPartway'],
		],

		[
			'404 of a record',
			of404({ missing: 'record' }),
			['mayMeanNoRecord', 'isInputRejected', 'mayHaveStoppedPartway'],
		],
		['404 of a route', of404({ missing: 'route' }), ['certainlyNotDone', 'mayMeanNoRoute']],
		['404 of somebody else', of404(), [...LOST, 'isNotFoundFromOtherServer', 'mayMeanNoRoute']],
		[
			'404 of a proxy',
			of404({ hasServerNeverAnswered: true }),
			[...LOST, 'isNotFoundFromOtherServer', 'suggestsWrongServer', 'mayMeanNoRoute'],
		],
	])('%s means what follows from it', (_, facts, expected) => {
		expect(meanings(facts).sort()).toEqual([...expected].sort());
	});
});
