import { set } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';
import dns from 'node:dns';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';

import { COPILOT_ID } from 'sandbox';
import { PROPERTIES } from '../nodes/support/properties';
import { ALL_CASES } from './support/cases';
import { placesOf, watchConsole } from './support/faultMatrixSecrets';
import { useFixture } from './support/fixture';
import { ending } from './support/ingest';
import { whileListening } from './support/listen';
import { createPollEngine, type PollEngine } from './support/pollEngine';
import selfSigned from './support/selfSigned.json';

const fixture = useFixture();
const { add, sent } = fixture;

/** The parameters that hold an ID or a name; they are where addresses may come in. */
const ID_NAMES = [
	...PROPERTIES.filter(({ type }) => type === 'resourceLocator').map(({ name }) => name),
	'namespace_prefix',
	'documentIds',
];

const HOSTILE_IDS = [
	'https://evil.example/x',
	'//evil.example/x',
	'\\\\evil.example\\x',
	'@evil.example/',
	'x@evil.example:80/#',
	'../../..//evil.example',
	'.evil.example',
	'%2f%2fevil.example',
	'x?redirect=https://evil.example',
];

const isId = (name: string) => ID_NAMES.includes(name);

const withIds = (parameters: INodeParameters, id: string): INodeParameters =>
	Object.fromEntries(
		Object.entries(parameters).map(([name, value]) => [name, isId(name) ? id : value]),
	);

const WITH_IDS = ALL_CASES.filter(({ good }) => Object.keys(good({} as never)).some(isId));

describe('an ID that looks like an address', () => {
	it.each(WITH_IDS)('stays an ID ($calls)', async ({ good }) => {
		const lookup = jest.spyOn(dns, 'lookup');
		try {
			for (const id of HOSTILE_IDS) {
				fixture.sandbox.requests.clear();
				const result = await fixture.run(withIds(good(fixture.world), id));
				const own = sent();
				expect(own.filter(({ endpoint }) => endpoint === undefined)).toEqual([]);
				// Either it went to the server of the credential, or it was refused in plain words.
				expect(own.length > 0 || result.error?.name === 'NodeOperationError').toBe(true);
				expect(placesOf(fixture.sandbox.accessToken, result)).toEqual([]);
			}
			expect(
				lookup.mock.calls.map(([host]) => host).filter((host) => host !== '127.0.0.1'),
			).toEqual([]);
		} finally {
			lookup.mockRestore();
		}
	});
});

describe('the hosts a credential allows', () => {
	const elsewhere = { allowedHttpRequestDomains: 'domains', allowedDomains: 'api.example.com' };

	it.each(ALL_CASES)('hold for $calls', async ({ good }) => {
		const { error } = await fixture.run(good(fixture.world), { credential: elsewhere });
		expect(error?.name).toBe('NodeApiError');
		expect(error?.message).toMatch(
			/^The allowed domains of the credential do not include the host of its Base URL/,
		);
		expect(sent()).toEqual([]);
	});

	it('hold for the lists in the editor', async () => {
		const { url: baseUrl, accessToken } = fixture.sandbox;
		const methods = Object.keys(fixture.engine.nodeType.methods?.listSearch ?? {});
		expect(methods.length).toBeGreaterThan(0);
		for (const method of methods) {
			await expect(
				fixture.engine.listSearch(method, { baseUrl, accessToken, ...elsewhere }),
			).rejects.toThrow('allowed domains');
		}
		expect(sent()).toEqual([]);
	});
});

/** Where the API is on a port of this machine. */
const addressOf = (port: number) => `http://127.0.0.1:${port}/api/ai`;

/** A server that answers everything with 400. */
const refusing = (headers: object | undefined, body: string) =>
	createServer((_request, response) => response.writeHead(400, { ...headers }).end(body));

describe('a redirect to another origin', () => {
	it.each(ALL_CASES)('is not followed ($calls)', async ({ good }) => {
		const reached: unknown[] = [];
		const other = createServer((request, response) => {
			reached.push(request.headers);
			response.end('{}');
		});
		await whileListening(other, async (port) => {
			for (const status of [301, 302, 303, 307, 308]) {
				fixture.sandbox.faults.clear();
				add({ do: 'redirect', to: addressOf(port), status });
				const result = await fixture.run(good(fixture.world));
				expect(result.error?.message).toContain('which the node does not follow with your token');
				expect(placesOf(fixture.sandbox.accessToken, result)).toEqual([]);
			}
		});
		expect(reached).toEqual([]);
	});
});

type Repeated = [string, (token: string) => { headers?: object; body: string }];

/** All ways in which a server may repeat the token of a request in what it says of a failure. */
const REPEATED: Repeated[] = [
	['as its reason', (token) => ({ body: JSON.stringify({ message: `no ${token}` }) })],
	['as the title of a page', (token) => ({ body: `<html><title>${token}</title></html>` })],
	['as a request ID', (token) => ({ headers: { 'x-request-id': token }, body: '{}' })],
	[
		'as the code of a database',
		(token) => ({ body: JSON.stringify({ query: 'x', code: token, column: token }) }),
	],
	['in an address', (token) => ({ body: `/login?token=${encodeURIComponent(token)}` })],
	...(['hex', 'base64', 'base64url'] as const).map(
		(encoding): Repeated => [
			`in ${encoding}, alone and as a header`,
			(token) => {
				const [alone, header] = [token, `Bearer ${token}`].map((text) => encoded(text, encoding));
				return { headers: { 'x-request-id': alone }, body: JSON.stringify({ message: header }) };
			},
		],
	),
];

const encoded = (text: string, encoding: BufferEncoding) => Buffer.from(text).toString(encoding);

/** How a token is looked for. In base64 its last letters depend on what follows. */
const writtenAs = (token: string) => [
	token,
	encodeURIComponent(token),
	encoded(token, 'hex'),
	encoded(token, 'base64').slice(0, -4),
	encoded(`Bearer ${token}`, 'base64').slice(12, -4),
];

describe('a token that the server repeats in a failure', () => {
	it.each(REPEATED)('%s comes out nowhere, of no operation', async (_, repeat) => {
		const { accessToken } = fixture.sandbox;
		const { headers, body } = repeat(accessToken);
		const output = watchConsole();
		await whileListening(refusing(headers, body), async (port) => {
			const credential = { baseUrl: `http://127.0.0.1:${port}` };
			for (const { good } of ALL_CASES) {
				for (const onError of [undefined, 'continueErrorOutput'] as const) {
					const result = await fixture.run(good(fixture.world), { credential, onError });
					for (const written of writtenAs(accessToken))
						expect(placesOf(written, [result.error, result.outputs, result.hints])).toEqual([]);
				}
			}
		}).finally(() => {
			const printed = output.stop();
			for (const written of writtenAs(accessToken)) expect(printed).not.toContain(written);
		});
	});
});

describe('the answer of a success', () => {
	it('comes out as it is, also where it holds the token: it is the work of the workflow', async () => {
		const { accessToken } = fixture.sandbox;
		const { items } = await fixture.run({
			resource: 'knowledgebase',
			operation: 'create',
			name: accessToken,
		});
		expect(items[0]?.json.name).toBe(accessToken);
	});

	it.each([undefined, 'continueErrorOutput'] as const)(
		'is quoted without it where it tells of a run that has failed (On Error: %s)',
		async (onError) => {
			const { accessToken } = fixture.sandbox;
			add({ do: 'run', outcome: 'fail', error: `No ${accessToken}` });
			const run = ALL_CASES.find(({ endpoint }) => endpoint === 'E4');
			const result = await fixture.run(run?.good(fixture.world) ?? {}, { onError });
			expect(JSON.stringify([result.outputs, result.error])).toContain('No ***');
			expect(placesOf(accessToken, [result.error, result.outputs, result.hints])).toEqual([]);
		},
	);

	it('is quoted without it where it tells of a document', async () => {
		const { accessToken, store } = fixture.sandbox;
		const knowledgebase = store.knowledgebases.get(fixture.world.knowledgebaseId);
		Object.assign(knowledgebase ?? {}, { copilotModelId: COPILOT_ID });
		const submit = ALL_CASES.find(({ endpoint }) => endpoint === 'E3');
		const { metadata } = ending('error', 10, `No ${accessToken}`);
		const parameters = { ...submit?.good(fixture.world), options: { afterStoring: 'wait' } };
		set(parameters, 'documentFields.value.metadata', JSON.stringify(metadata));
		const { outputs, hints } = await fixture.run(parameters, { onError: 'continueErrorOutput' });
		expect(JSON.stringify(outputs)).toContain('No ***');
		expect(placesOf(accessToken, [outputs, hints])).toEqual([]);
	});
});

describe('the trigger', () => {
	let polls: PollEngine;
	beforeAll(async () => {
		polls = await createPollEngine();
	});

	const given = (changes: object = {}) => {
		const { url: baseUrl, accessToken } = fixture.sandbox;
		return { parameters: {}, credential: { baseUrl, accessToken, ...changes } };
	};

	it.each(REPEATED)('shows no token that the server repeats %s', async (_, repeat) => {
		const { accessToken } = fixture.sandbox;
		const { headers, body } = repeat(accessToken);
		const active = await polls.activate(given());
		await whileListening(refusing(headers, body), async (port) => {
			const elsewhere = given({ baseUrl: `http://127.0.0.1:${port}` });
			const { error } = await polls.test(elsewhere);
			expect(error?.name).toBe('NodeApiError');
			await expect(polls.activate(elsewhere)).rejects.toThrow('400');
			for (const written of writtenAs(accessToken))
				expect(placesOf(written, [error, active.memory(), active.stored()])).toEqual([]);
		}).finally(async () => await active.deactivate());
	});

	it('keeps to the hosts that the credential allows', async () => {
		const elsewhere = { allowedHttpRequestDomains: 'domains', allowedDomains: 'api.example.com' };
		const { error } = await polls.test(given(elsewhere));
		expect(error?.message).toMatch(/^The allowed domains of the credential do not include/);
		expect(sent()).toEqual([]);
	});

	it('sends nothing where nobody has signed the certificate', async () => {
		let requests = 0;
		const server = createTlsServer(selfSigned, (_, response) => {
			requests += 1;
			response.end('{}');
		});
		await whileListening(server, async (port) => {
			const { error } = await polls.test(given({ baseUrl: `https://localhost:${port}` }));
			expect(error?.message).toContain('could not be reached: its certificate is self-signed');
			expect(placesOf(fixture.sandbox.accessToken, error)).toEqual([]);
		});
		expect(requests).toBe(0);
	});
});

describe('the client secret of a chat session', () => {
	const chatSession = ALL_CASES.find(({ endpoint }) => endpoint === 'E6');

	it('comes out of Chat Session: Create only', async () => {
		for (const { endpoint, good } of ALL_CASES) {
			const { items } = await fixture.run(good(fixture.world));
			expect(placesOf('client_secret', items).length > 0).toBe(endpoint === 'E6');
		}
	});

	it('stands in no error when its answer breaks off', async () => {
		add({
			do: 'status',
			status: 200,
			body: '{"client_secret":"secret-4711","expires_a',
		});
		const parameters = chatSession?.good(fixture.world) ?? {};
		const stopped = await fixture.run(parameters);
		const goesOn = await fixture.run(parameters, { onError: 'continueErrorOutput' });
		expect(stopped.error?.message).toContain('it breaks off');
		expect(placesOf('secret-4711', [stopped, goesOn])).toEqual([]);
	});
});
