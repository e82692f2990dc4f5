import fc from 'fast-check';
import { getCredentialOwnRequestAllowedDomains, isDomainAllowed } from 'n8n-workflow';
import type { IExecuteFunctions } from 'n8n-workflow';

import {
	readCredential,
	readRequestTarget,
	tokenOf,
} from '../../../../nodes/XpertAi/transport/credential';

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
	if ('refusal' in target) expect(target.refusal).toContain('The allowed domains');
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
					else if (/lists none/.test(target.refusal))
						expect(read).toThrow('No allowed domains specified');
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
	['a-token', 'a-token'],
	[' a-token\n', 'a-token'],
	['bearer  a-token', 'a-token'],
	['Authorization: Bearer a-token', 'a-token'],
	['Authorization:\tBearer\ta-token', 'a-token'],
	['my Bearer a-token', 'my Bearer a-token'],
	['Bearera-token', 'Bearera-token'],
])('the token in %j is %j', (accessToken, token) => {
	expect(tokenOf({ accessToken })).toBe(token);
});

describe('a credential whose expressions give nothing', () => {
	it.each([
		[undefined, 'here, where its expressions have no item'],
		[3, 'for item 3'],
	])('refuses all requests, of item %s in these words: %s', async (itemIndex, where) => {
		const getCredentials = async () => await Promise.reject(new Error('no such node'));
		const context = { getCredentials } as unknown as IExecuteFunctions;
		const credential = await readCredential(context, itemIndex);
		const refused = { refusal: `The credential could not be read ${where}: no such node` };
		expect([credential, readRequestTarget(credential)]).toEqual([refused, refused]);
	});
});
