import fc from 'fast-check';

import { serviceRoot } from '../../../../nodes/XpertAi/transport/baseUrl';
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

	it('read again is itself', () => {
		fc.assert(
			fc.property(fc.webUrl({ validSchemes: ['https'] }), (baseUrl) => {
				const first = serviceRoot(baseUrl, false);
				fc.pre('root' in first && !/\/api(\/ai)?$/i.test(new URL(first.root).pathname));
				expect('root' in first && serviceRoot(first.root, false)).toEqual(first);
			}),
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

	it('needs the switch where another address only stands in its path', () => {
		for (const path of ['https://x', 'http://localhost'])
			expect(serviceRoot(`http://api.example.com/${path}`, false)).toHaveProperty('refusal');
	});

	it.each([
		'http://api.example.com',
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
		const { origin } = new URL(baseUrl);
		expect(serviceRoot(baseUrl, true)).toEqual({ root: origin, origin });
	});

	it('is refused for every public host, with any spelling', () => {
		fc.assert(
			fc.property(fc.domain(), fc.constantFrom(...SUFFIXES), (host, suffix) => {
				expect(serviceRoot(`http://${host}${suffix}`, false)).toHaveProperty('refusal');
			}),
		);
	});
});

describe('what is no Base URL', () => {
	it.each([
		['', 'empty'],
		['   ', 'empty'],
		['api.example.com', 'starts with https://'],
		['//api.example.com', 'starts with https://'],
		['ftp://api.example.com', 'starts with https://'],
		['file:///etc/passwd', 'starts with https://'],
		['javascript:alert(1)', 'starts with https://'],
		['https:api.example.com', 'starts with https://'],
		['https://', 'starts with https://'],
		['https://a b.example.com', 'starts with https://'],
		['https://example.com:99999', 'starts with https://'],
		['https://host\\.localhost', 'starts with https://'],
		['see https://example.com', 'starts with https://'],
		['https://example.com/./b', 'starts with https://'],
		['https://example.com/a/..', 'starts with https://'],
		['https://example.com/a/../b', 'starts with https://'],
		['https://example.com/%2E./b', 'starts with https://'],
		['https://example.com/a b', 'starts with https://'],
		['https://example.com/a\\b', 'starts with https://'],
		['https://%61pi.example.com', 'starts with https://'],
		[`https://example.com/${'a'.repeat(1981)}`, 'starts with https://'],
		['https://user:pass@api.example.com', 'user name or password'],
		['https://user@api.example.com', 'user name or password'],
		['http://user@localhost', 'user name or password'],
		['https://:pass@api.example.com/api', 'user name or password'],
	])('%j is refused with a way out', (baseUrl, words) => {
		for (const allowInsecureHttp of [false, true]) {
			const service = serviceRoot(baseUrl, allowInsecureHttp);
			expect(service).toEqual({ refusal: expect.stringContaining(words) as string });
			expect('refusal' in service && service.refusal).not.toMatch(EMPTY_WORDS);
		}
	});

	it('never repeats a password', () => {
		expect(JSON.stringify(serviceRoot('https://me:hunter2@api.example.com', true))).not.toContain(
			'hunter2',
		);
	});

	it('never throws, whatever is typed', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, allowed) => {
				const service = serviceRoot(text, allowed);
				expect(Object.keys(service)).toEqual(
					'refusal' in service ? ['refusal'] : ['root', 'origin'],
				);
			}),
		);
	});
});
