import fc from 'fast-check';
import { getCredentialOwnRequestAllowedDomains, isDomainAllowed } from 'n8n-workflow';
import type { IExecuteFunctions } from 'n8n-workflow';

import {
	readCredential,
	readRequestTarget,
	rootOrIssue,
	tokenOf,
} from 'nodes/XpertAi/transport/credential';
import { EMPTY_WORDS } from '../../support/thrown';

/** Endings that all mean the same service. */
const SUFFIXES = ['', '/', '//', '/api', '/api/', '/api/ai', '/api/ai/', '/API', '/Api/AI/'];

describe('the service root', () => {
	it.each([
		['is an address', 'https://api.example.com', 'https://api.example.com'],
		['is trimmed', '  https://api.example.com\n', 'https://api.example.com'],
		['is in small letters', 'HTTPS://API.Example.COM', 'https://api.example.com'],
		['has no default port', 'https://api.example.com:443', 'https://api.example.com'],
		['has no path of the API', 'https://api.example.com:8443/api', 'https://api.example.com:8443'],
		['has a path', 'https://example.com/xpert', 'https://example.com/xpert'],
		[
			'has no path of the API behind its own',
			'https://example.com/xpert/api/ai/',
			'https://example.com/xpert',
		],
		[
			'has its path in its own letters',
			'https://example.com/Xpert/API/',
			'https://example.com/Xpert',
		],
		[
			'has a path that ends like the API',
			'https://example.com/my-api',
			'https://example.com/my-api',
		],
		['has a path called ai', 'https://example.com/ai', 'https://example.com/ai'],
		['has a path below the API', 'https://example.com/api/v2', 'https://example.com/api/v2'],
		['has no query and no hash', 'https://example.com/api/ai?tenant=1#top', 'https://example.com'],
		['may be an IPv6', 'https://[2001:db8::1]:8443/api', 'https://[2001:db8::1]:8443'],
		['may be one word', 'https://api', 'https://api'],
		['may be a word before /ai', 'https://api/ai', 'https://api/ai'],
		['may be the word api', 'https://api/api', 'https://api'],
		[
			'may have dots in its path',
			'https://example.com/a.b/..c/...',
			'https://example.com/a.b/..c/...',
		],
		['may have other letters', 'https://münchen.example', 'https://xn--mnchen-3ya.example'],
		['may lack its port', 'https://example.com:/api', 'https://example.com'],
		['may have doubled slashes', 'https://example.com/a//b', 'https://example.com/a//b'],
		[
			'may have an address in its path',
			'https://example.com/https://a@b',
			'https://example.com/https://a@b',
		],
		[
			'may be long',
			`https://example.com/${'a'.repeat(1980)}`,
			`https://example.com/${'a'.repeat(1980)}`,
		],
	])('%s', (_, baseUrl, root) => {
		expect(rootOrIssue(baseUrl, false)).toEqual({ root });
	});

	it('is the same however often it is read', () => {
		const roots = Array.from({ length: 20_000 }, () =>
			rootOrIssue('https://münchen.example', false),
		);
		expect(roots.filter((service) => 'issue' in service)).toEqual([]);
	});

	it('is the same for every spelling of the same address', () => {
		// A path that itself ends in /api or /api/ai is one of the spellings.
		const pathPrefix = fc
			.array(fc.stringMatching(/^[a-z0-9_-]{1,8}$/), { maxLength: 3 })
			.map((parts) => parts.map((part) => `/${part}`).join(''))
			.filter((path) => !/\/api(\/ai)?$/i.test(path));
		fc.assert(
			fc.property(
				fc.webAuthority({ withPort: true }),
				pathPrefix,
				fc.constantFrom(...SUFFIXES),
				fc.constantFrom('', ' ', '\n'),
				(authority, path, suffix, blank) => {
					const root = `https://${authority}${path}`;
					expect(rootOrIssue(`${blank}${root}${suffix}${blank}`, false)).toEqual(
						rootOrIssue(root, false),
					);
				},
			),
		);
	});
});

describe('plain http', () => {
	it.each([
		'http://localhost:3000',
		'http://LOCALHOST',
		'http://xpert.localhost',
		'http://a.my-xpert.localhost',
		'http://127.0.0.1:3000',
		'http://127.1',
		'http://127.255.255.254',
		'http://[::1]:3000',
		'http://[0:0:0:0:0:0:0:1]',
	])('is taken on this machine: %s', (baseUrl) => {
		const { origin } = new URL(baseUrl);
		expect(rootOrIssue(`${baseUrl}/api`, false)).toEqual({ root: origin });
	});

	it.each([
		'http://api.example.com',
		'http://api.example.com/https://x',
		'http://api.example.com/http://localhost',
		'http://127',
		'http://192.168.1.10:3000',
		'http://0.0.0.0',
		'http://128.0.0.1',
		'http://localhost.example.com',
		'http://notlocalhost',
		'http://127.0.0.1.example.com',
		'http://[::2]',
		'http://[::21]',
		'http://[2001:db8::1]',
		'http://localhost.',
		'http://ⓛocalhost',
	])('elsewhere needs the switch: %s', (baseUrl) => {
		expect(rootOrIssue(baseUrl, false)).toEqual({
			issue: expect.stringContaining('Allow Insecure HTTP') as string,
		});
		const root = expect.stringContaining(new URL(baseUrl).origin) as string;
		expect(rootOrIssue(baseUrl, true)).toEqual({ root });
	});
});

describe('what is no Base URL', () => {
	const NO_ADDRESS = [
		...['api.example.com', '//api.example.com', 'ftp://api.example.com', 'file:///etc/passwd'],
		...['javascript:alert(1)', 'https:api.example.com', 'https://', 'https://a b.example.com'],
		...['https://example.com:99999', 'https://host\\.localhost', 'see https://example.com'],
		...['https://example.com/./b', 'https://example.com/a/..', 'https://example.com/a/../b'],
		...['https://example.com/%2E./b', 'https://example.com/a b', 'https://example.com/a\\b'],
		...['https://%61pi.example.com', `https://example.com/${'a'.repeat(1981)}`],
	];

	it.each([
		['nothing', ['', '   '], 'is empty'],
		['what is no address', NO_ADDRESS, 'must start with https://'],
		[
			'a user in the address',
			[
				'https://user:pass@api.example.com',
				'https://user@api.example.com',
				'http://user@localhost',
			],
			'user name or password',
		],
		['a password in the address', ['https://:pass@api.example.com/api'], 'user name or password'],
	])('refuses %s with a way out', (_, addresses, words) => {
		for (const [baseUrl, allowInsecureHttp] of addresses.flatMap((address) =>
			[false, true].map((allows) => [address, allows] as const),
		)) {
			const { issue } = rootOrIssue(baseUrl, allowInsecureHttp) as { issue: string };
			expect(issue).toContain(words);
			expect(issue).not.toMatch(EMPTY_WORDS);
			expect(issue).not.toContain('user:pass');
		}
	});
});

/** Hosts and list entries that are often the same, or nearly. */
const part = fc.constantFrom('a', 'api', 'A', 'example');
const host = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'));
const entry = fc
	.tuple(fc.constantFrom('', '*.', ' ', '*', '.'), host, fc.constantFrom('', '.', ' '))
	.map((parts) => parts.join(''));
const list = fc
	.array(fc.oneof(entry, fc.constantFrom('', ' ', '*.')), { minLength: 1, maxLength: 4 })
	.map((entries) => entries.join(','));

/** Where a credential that is whole leads to. */
const targetOf = (fields: Record<string, string>, baseUrl = 'http://a.example') =>
	readRequestTarget({ baseUrl, allowInsecureHttp: true, accessToken: 'token', ...fields });

/** Whether a list of domains lets a credential lead to an address. */
function isAllowedHost(address: string, allowedDomains: string): boolean {
	const target = targetOf({ allowedHttpRequestDomains: 'domains', allowedDomains }, address);
	if ('issue' in target) expect(target.issue).toContain('The allowed domains');
	return 'root' in target;
}

describe('the hosts a list of domains allows', () => {
	it('are those it allows on a host of today, which enforces the list itself', () => {
		fc.assert(
			fc.property(host, fc.constantFrom('', '.', ':8443', '/path'), list, (name, end, domains) => {
				fc.pre(domains.trim() !== '');
				const url = `https://${name}${end}`;
				expect(isAllowedHost(url, domains)).toBe(isDomainAllowed({ url, allowedDomains: domains }));
			}),
			{ numRuns: 500 },
		);
	});
});

describe('the restriction of a credential', () => {
	it('is what a host of today reads off it', () => {
		fc.assert(
			fc.property(
				fc.constantFrom('all', 'none', 'domains', undefined),
				fc.oneof(list, fc.constant(undefined), fc.constant('')),
				(allowedHttpRequestDomains, allowedDomains) => {
					const credential = {
						...(allowedHttpRequestDomains && { allowedHttpRequestDomains }),
						...(allowedDomains !== undefined && { allowedDomains }),
					};
					const target = targetOf(credential);
					const read = () => getCredentialOwnRequestAllowedDomains(credential);
					if ('root' in target) expect(target.allowedDomains).toBe(read());
					else if (!allowedDomains?.trim()) expect(read).toThrow('No allowed domains specified');
					else
						expect(isDomainAllowed({ url: 'http://a.example', allowedDomains: `${read()}` })).toBe(
							false,
						);
				},
			),
		);
	});
});

it.each([
	['is the text', 'a-token', 'a-token'],
	['has no blanks around it', ' a-token\n', 'a-token'],
	['has no "bearer" before it', 'bearer  a-token', 'a-token'],
	['is that of a header', 'Authorization: Bearer a-token', 'a-token'],
	['is that of a header with tabs', 'Authorization:\tBearer\ta-token', 'a-token'],
	['is all of a text that begins otherwise', 'my Bearer a-token', 'my Bearer a-token'],
	['is all of a word', 'Bearera-token', 'Bearera-token'],
])('the token %s', (_, accessToken, token) => {
	expect(tokenOf({ accessToken })).toBe(token);
});

describe('a credential whose expressions give nothing', () => {
	it.each([
		['here, where its expressions have no item', undefined],
		['for item 3', 3],
	])('refuses all requests, with the words: %s', async (where, itemIndex) => {
		const getCredentials = async () => await Promise.reject(new Error('no such node'));
		const context = { getCredentials } as unknown as IExecuteFunctions;
		const credential = await readCredential(context, itemIndex);
		const refused = { issue: `The credential could not be read ${where}: no such node` };
		expect([credential, readRequestTarget(credential)]).toEqual([refused, refused]);
	});
});
