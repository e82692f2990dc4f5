import fc from 'fast-check';
import { type ICredentialDataDecryptedObject, type INodeTypes, Workflow } from 'n8n-workflow';

import { XpertAiApi } from 'credentials/XpertAiApi.credentials';
import { CREDENTIAL_NAME } from 'nodes/XpertAi/transport/api';
import { parseUrl, rootOrIssue, tokenOf } from 'nodes/XpertAi/transport/credential';
import { node } from '../nodes/support/node';

const credential = new XpertAiApi();
const { request, rules = [] } = credential.test;

const noTypes = {
	getByName: () => undefined,
	getByNameAndVersion: () => undefined,
	getKnownTypes: () => ({}),
};
const workflow = new Workflow({
	nodes: [],
	connections: {},
	active: false,
	nodeTypes: noTypes as unknown as INodeTypes,
});

const evaluate = (expression: unknown, data: ICredentialDataDecryptedObject) =>
	workflow.expression.getSimpleParameterValue(
		node,
		String(expression),
		'internal',
		{ $credentials: data },
		undefined,
		'',
	);

/** Where the test of the credential goes, as axios joins the two. */
function testUrl(baseUrl: string, allowInsecureHttp = false): string {
	const base = String(evaluate(request.baseURL, { baseUrl, accessToken: 't', allowInsecureHttp }));
	return `${base.replace(/\/+$/, '')}/${String(request.url).replace(/^\/+/, '')}`;
}

describe('the credential', () => {
	it('is the one the node signs its requests with', () => {
		expect(credential.name).toBe(CREDENTIAL_NAME);
	});

	it.each([
		['the token', 't0k'],
		['the token in blanks', ' t0k\n'],
		['Bearer before it', 'Bearer t0k'],
		['bearer before it, and a line break behind', 'bearer\tt0k\r\n'],
		['the whole header', 'Authorization: Bearer t0k'],
		['a token that looks like an expression', 'sk-t0k-{{1}}$&'],
	])('signs with the bare token where somebody pasted %s', async (_, accessToken) => {
		const token = accessToken.trim().split(/\s/).at(-1);
		const sent = { url: 'https://host', headers: { Accept: 'application/json' } };
		const signed = await credential.authenticate({ accessToken }, sent);
		const Authorization = `Bearer ${token}`;
		expect(signed).toEqual({ ...sent, headers: { ...sent.headers, Authorization } });
		expect(tokenOf({ accessToken })).toBe(token);
	});

	it('hides the token, and no other field', () => {
		const hidden = credential.properties.filter(({ typeOptions }) => typeOptions?.password);
		expect(hidden.map(({ name }) => name)).toEqual(['accessToken']);
	});

	it('says in one line what the codes mean that n8n shows where no answer comes', () => {
		const { hint = '' } = credential.properties.find(({ name }) => name === 'baseUrl') ?? {};
		for (const code of ['ENOTFOUND', 'ECONNREFUSED', 'EPROTO']) expect(hint).toContain(`${code}: `);
		expect(hint.length).toBeLessThan(120);
	});
});

describe('the test of the credential', () => {
	it('counts with an empty filter, which changes nothing, and follows no redirect', () => {
		expect(request).toMatchObject({
			method: 'POST',
			url: '/api/ai/assistants/count',
			body: '{}',
			headers: { 'Content-Type': 'application/json' },
			disableFollowRedirect: true,
		});
	});

	it.each([
		[401, /make one under Settings → API Keys/],
		[403, /may not use this server$/],
		[404, /enter only the host, such as https:\/\/api.example.com$/],
		// What n8n makes of an address that is refused.
		[405, /Allow Insecure HTTP/],
	])('explains status %i', (status, message) => {
		const properties = rules.map((rule) => rule.properties);
		const found = properties.find((one) => 'value' in one && one.value === status);
		expect(found).toHaveProperty('message', expect.stringMatching(message));
	});

	it('sends nothing over http for a switch that is not on', () => {
		for (const allowInsecureHttp of [false, undefined, 'false', 'true', 1, {}]) {
			const data = { baseUrl: 'http://api.example.com', allowInsecureHttp } as never;
			expect(evaluate(request.baseURL, data)).toBe('data:,');
		}
		expect(evaluate(request.baseURL, {})).toBe('data:,');
		expect(testUrl('http://xpert:3000/api', true)).toBe(
			'http://xpert:3000/api/ai/assistants/count',
		);
	});

	/** Addresses made of what programs read in different ways. */
	const hostile = fc
		.tuple(
			fc.constantFrom('http://', 'https://', 'HTTP://', 'http:/', 'http:\\\\', 'https:', '//', ''),
			fc.array(
				fc.oneof(
					fc.constantFrom('localhost', '127.0.0.1', '127.1', '[::1]', '[::2]', '.localhost'),
					fc.constantFrom('evil.example', 'user:pass@', '0x7f.1', '2130706433', ':80', ':99999'),
					fc.constantFrom('//', '..', '/api', '/api/ai', '/../', '/./', '/%2e%2e/'),
					fc.constantFrom('%2e', '%2f', '%00', ...'@\\/:.。．?#;\t\n\r \0\u00a0\u00ad\u200bKſü'),
					fc.string({ unit: 'binary', maxLength: 2 }),
				),
				{ maxLength: 6 },
			),
			fc.constantFrom('', '/', '/api', '/api/ai/', '?x', '#x'),
		)
		.map(([scheme, pieces, end]) => scheme + pieces.join('') + end);

	it('goes where the node goes, over http to this machine alone, whatever the Base URL', () => {
		let accepted = 0;
		fc.assert(
			fc.property(hostile, fc.boolean(), (baseUrl, allowed) => {
				const service = rootOrIssue(baseUrl, allowed);
				const url = testUrl(baseUrl, allowed);
				const goes = parseUrl(url);
				if ('issue' in service) return expect(goes?.protocol ?? 'data:').toBe('data:');
				accepted += 1;
				expect(goes?.href).toBe(new URL(`${service.root}/api/ai/assistants/count`).href);
				if (goes?.protocol === 'http:' && !allowed)
					expect(goes.hostname).toMatch(/^((.+\.)?localhost|127(\.\d{1,3}){3}|\[::1\])$/);
			}),
			{ numRuns: 3_000 },
		);
		expect(accepted).toBeGreaterThan(30);
	});
});
