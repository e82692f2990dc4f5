import fc from 'fast-check';

import { serviceRoot } from '../../../../nodes/XpertAi/transport/credential';
import { EMPTY_WORDS } from '../../support/thrown';

/** Endings that all mean the same service. */
const SUFFIXES = ['', '/', '//', '/api', '/api/', '/api/ai', '/api/ai/', '/API', '/Api/AI/'];

describe('the service root', () => {
	it.each([
		['https://api.example.com', 'https://api.example.com'],
		['  https://api.example.com\n', 'https://api.example.com'],
		['HTTPS://API.Example.COM', 'https://api.example.com'],
		['https://api.example.com:443', 'https://api.example.com'],
		['https://api.example.com:8443/api', 'https://api.example.com:8443'],
		['https://example.com/xpert', 'https://example.com/xpert'],
		['https://example.com/xpert/api/ai/', 'https://example.com/xpert'],
		['https://example.com/Xpert/API/', 'https://example.com/Xpert'],
		['https://example.com/my-api', 'https://example.com/my-api'],
		['https://example.com/ai', 'https://example.com/ai'],
		['https://example.com/api/v2', 'https://example.com/api/v2'],
		['https://example.com/api/ai?tenant=1#top', 'https://example.com'],
		['https://[2001:db8::1]:8443/api', 'https://[2001:db8::1]:8443'],
		['https://api', 'https://api'],
		['https://api/ai', 'https://api/ai'],
		['https://api/api', 'https://api'],
		['https://example.com/a.b/..c/...', 'https://example.com/a.b/..c/...'],
		['https://münchen.example', 'https://xn--mnchen-3ya.example'],
		['https://example.com:/api', 'https://example.com'],
		['https://example.com/a//b', 'https://example.com/a//b'],
		['https://example.com/https://a@b', 'https://example.com/https://a@b'],
		[`https://example.com/${'a'.repeat(1980)}`, `https://example.com/${'a'.repeat(1980)}`],
	])('of %j is %s', (baseUrl, root) => {
		expect(serviceRoot(baseUrl, false)).toEqual({ root, origin: new URL(root).origin });
	});

	it('is the same however often it is read', () => {
		const roots = Array.from({ length: 20_000 }, () =>
			serviceRoot('https://münchen.example', false),
		);
		expect(roots.filter((service) => 'refusal' in service)).toEqual([]);
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
					expect(serviceRoot(`${blank}${root}${suffix}${blank}`, false)).toEqual(
						serviceRoot(root, false),
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
		expect(serviceRoot(`${baseUrl}/api`, false)).toEqual({ root: origin, origin });
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
		expect(serviceRoot(baseUrl, false)).toEqual({
			refusal: expect.stringContaining('Allow Insecure HTTP') as string,
		});
		expect(serviceRoot(baseUrl, true)).toHaveProperty('origin', new URL(baseUrl).origin);
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
		...['', '   '].map((baseUrl) => [baseUrl, 'is empty']),
		...NO_ADDRESS.map((baseUrl) => [baseUrl, 'starts with https://']),
		['https://user:pass@api.example.com', 'user name or password'],
		['https://user@api.example.com', 'user name or password'],
		['http://user@localhost', 'user name or password'],
		['https://:pass@api.example.com/api', 'user name or password'],
	])('refuses %j with a way out: %s', (baseUrl, words) => {
		for (const allowInsecureHttp of [false, true]) {
			const { refusal } = serviceRoot(baseUrl, allowInsecureHttp) as { refusal: string };
			expect(refusal).toContain(words);
			expect(refusal).not.toMatch(EMPTY_WORDS);
			expect(refusal).not.toContain('user:pass');
		}
	});
});
