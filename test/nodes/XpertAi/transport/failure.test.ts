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
			{ kind: 'unreadable', reason: 'it is empty', status: 201 },
			"The server's answer cannot be read: it is empty (HTTP 201)",
			'Enter the address of an Xpert AI server as Base URL in the credential',
		],
		[
			{ kind: 'redirect', status: 302, reason: 'https://sso.example.com' },
			'The server redirects to https://sso.example.com, which the node does not follow with your token (HTTP 302)',
			'Enter the address the server points to',
		],
		[
			{ kind: 'redirect', status: 301 },
			'The server redirects to another address, which the node does not follow with your token (HTTP 301)',
			'Enter the address the server points to',
		],
		[
			{ kind: 'unsuccessful', reason: 'Failed: <img src=x onerror=alert(1)>no <b>model</b>' },
			'Failed: no model',
			'',
		],
		[{ kind: 'unsuccessful' }, 'It did not end well', ''],
		[{ kind: 'timeout' }, 'The server did not answer in time', 'It may still have done the work'],
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
		[network(undefined, 'No proxy'), `${UNREACHED} No proxy`, 'the proxy if n8n uses one'],
		[network('EODD', 'odd'), `${UNREACHED} odd (EODD)`, 'Check the Base URL'],
		[status(407), 'The proxy answered 407: it gave no reason', 'a user name and password'],
		[
			status(403),
			'This key may not do this (HTTP 403)',
			"The server knows this key. A user's key runs no threads in private workspaces, an assistant's key only those of its assistant; a workspace's key creates and updates no knowledgebases, and stores no first document of one.",
		],
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
		[status(408), 'The server answered 408: it gave no reason', ''],
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
		expect(error.description ?? '').toEqual(hint && expect.stringContaining(hint));
		expect(error.description ?? '').not.toContain(at.path);
		expect(`${error.message} ${error.description}`).not.toMatch(EMPTY_WORDS);
		expect(error.httpCode).toBe(facts.status?.toString() ?? facts.code ?? null);
		expect(error.context).toMatchObject({ itemIndex: 3, data: { ...at, ...facts } });
		expect(error.node).toBe(node);
	});

	const CODES = ['ENOTFOUND', 'EAI_AGAIN', 'ECONNRESET', 'EPIPE', 'ECONNREFUSED'];
	it.each([...CODES, 'ERR_BAD_RESPONSE', 'EPROTO'])('says %s in plain words', (code) => {
		const { message } = errorFor(network(code));
		expect(message).toMatch(new RegExp(`^${UNREACHED} .{9,} \\(${code}\\)$`));
		expect(message).not.toContain('words of the system');
	});

	it('says with the next step how long the server asks to wait', () => {
		const failure = { ...at, ...status(418), retryAfterMs: 89_001 };
		const { description } = apiError(failure, { node, statusHints: { 418: 'Check "Thread".' } });
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
	...(['certainlyNotDone', 'isBusy', 'isForeignAnswer', 'isForeignNotFound'] as const),
	...(['isNeverSent', 'isNoRoute', 'isOutcomeUnknown', 'isRejection'] as const),
	...([
		'isTokenRefused',
		'isTooLarge',
		'isTransient',
		'mayBePartlyDone',
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
		['isOutcomeUnknown', [404, 408, 425, ...STATUSES.filter((status) => status > 501)]],
		['certainlyNotDone', [429]],
		['isRejection', [400, 422]],
		['mayBePartlyDone', [400, 422, 500]],
		['mayMeanNoRecord', [500]],
		['isTokenRefused', [401, 403]],
		['isTooLarge', [413]],
		['isForeignNotFound', [404]],
		['isForeignAnswer', []],
		['isNoRoute', [404, 405, 501]],
		['isBusy', []],
	])('%s: %j', (name, statuses) => {
		const found = STATUSES.filter((status) =>
			PREDICATES[name](failure({ kind: 'status', status })),
		);
		expect(found).toEqual(statuses);
	});

	it('says nothing with a redirect', () => {
		const redirects = STATUSES.map((status) => failure({ kind: 'redirect', status }));
		const { isTooLarge, mayMeanNoRecord, isTransient } = PREDICATES;
		const { isForeignNotFound, isNoRoute } = PREDICATES;
		const all = [isTooLarge, mayMeanNoRecord, isTransient, isForeignNotFound, isNoRoute];
		for (const means of all) expect(redirects.filter(means)).toEqual([]);
	});
});

const NEVER_SENT: Predicate[] = ['isTransient', 'certainlyNotDone', 'isNeverSent'];
const LOST: Predicate[] = ['isTransient', 'isOutcomeUnknown'];

describe('a failure', () => {
	it.each<[Facts, Predicate[]]>([
		[{ kind: 'network' }, LOST],
		[{ kind: 'timeout' }, LOST],
		[{ kind: 'timeout', code: 'ECONNREFUSED' }, LOST],
		[{ kind: 'timeout', code: 'ECONNRESET' }, LOST],
		[{ kind: 'unreadable', status: 200 }, [...LOST, 'isForeignAnswer']],
		[{ kind: 'refused' }, ['certainlyNotDone', 'isNeverSent']],
		[{ kind: 'blocked' }, ['certainlyNotDone', 'isNeverSent']],
		[{ kind: 'cancelled' }, []],
		[{ kind: 'redirect' }, []],
		[{ kind: 'unsuccessful' }, []],
		[{ kind: 'status' }, []],

		[{ kind: 'network', code: 'ECONNREFUSED' }, NEVER_SENT],
		[{ kind: 'network', code: 'ENOTFOUND' }, NEVER_SENT],
		[{ kind: 'network', code: 'EAI_AGAIN' }, NEVER_SENT],
		[{ kind: 'network', code: 'EHOSTUNREACH' }, NEVER_SENT],
		[{ kind: 'network', code: 'ENETUNREACH' }, NEVER_SENT],
		[{ kind: 'network', code: 'ECONNRESET' }, LOST],
		[{ kind: 'network', code: 'EPIPE' }, LOST],
		[{ kind: 'network', code: 'ERR_SOCKET_CLOSED' }, LOST],
		[{ kind: 'network', code: 'EPROTO' }, ['certainlyNotDone', 'isNeverSent']],
		[
			{ kind: 'network', code: 'ERR_SSL_WRONG_VERSION_NUMBER' },
			['certainlyNotDone', 'isNeverSent'],
		],
		[
			{ kind: 'network', code: 'ERR_SSL_PACKET_LENGTH_TOO_LONG' },
			['certainlyNotDone', 'isNeverSent'],
		],
		...[
			'CERT_HAS_EXPIRED',
			'DEPTH_ZERO_SELF_SIGNED_CERT',
			'ERR_TLS_CERT_ALTNAME_INVALID',
			'SELF_SIGNED_CERT_IN_CHAIN',
			'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
			'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
		].map((code): [Facts, Predicate[]] => [
			{ kind: 'network', code },
			['certainlyNotDone', 'isNeverSent'],
		]),

		[{ kind: 'status', status: 503, retryAfterMs: 0 }, ['isTransient', 'certainlyNotDone']],
		[{ kind: 'status', status: 502, retryAfterMs: 0 }, LOST],
		[BUSY, ['isTransient', 'certainlyNotDone', 'isBusy']],
		[{ ...BUSY, reason: 'No embedding rebuild is running' }, ['isRejection', 'mayBePartlyDone']],
		[{ ...BUSY, status: 500 }, ['mayMeanNoRecord', 'mayBePartlyDone']],

		[of404({ missing: 'record' }), ['mayMeanNoRecord', 'isRejection', 'mayBePartlyDone']],
		[of404({ missing: 'route' }), ['certainlyNotDone', 'isNoRoute']],
		[of404(), [...LOST, 'isForeignNotFound', 'isNoRoute']],
		[of404({ unanswered: true }), [...LOST, 'isForeignNotFound', 'isForeignAnswer', 'isNoRoute']],
	])('%j means %j', (facts, expected) => {
		expect(meanings(facts).sort()).toEqual([...expected].sort());
	});
});
