import { mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer as createTlsServer } from 'node:tls';

import { listen } from './support/listen';
import { expectAllToFail, expectAllToSucceed, useNetwork } from './support/network';
import { startProxy, type Conduct, type ForwardProxy } from './support/networkProxy';
import selfSigned from './support/selfSigned.json';

// Each test starts a process that loads n8n; this is only for what hangs.
jest.setTimeout(600_000);

const network = useNetwork();
const PASSWORD = 'proxy-s3cret';
const OPERATOR = `Basic ${Buffer.from(`operator:${PASSWORD}`).toString('base64')}`;

let proxy: ForwardProxy;
/** The variables that send everything through it. */
let viaProxy: Record<'HTTP_PROXY' | 'HTTPS_PROXY', string>;

async function useProxy(conduct?: Conduct): Promise<void> {
	proxy = await startProxy(conduct);
	const url = `http://operator:${PASSWORD}@${proxy.address}`;
	viaProxy = { HTTP_PROXY: url, HTTPS_PROXY: url };
}

afterEach(async () => await proxy?.close());

/** Every request reached the server with the token, and none with the password of the proxy. */
function expectSigned(): void {
	for (const { headers } of network.sandbox.requests.all) {
		expect(headers.authorization).toBe(`Bearer ${network.sandbox.accessToken}`);
		expect(headers['proxy-authorization']).toBeUndefined();
	}
	for (const { headers } of proxy.seen) expect(headers['proxy-authorization']).toBe(OPERATOR);
}

describe('a proxy', () => {
	it('gets every request when HTTP_PROXY names it, with the token for the server only', async () => {
		await useProxy();
		const env = { HTTP_PROXY: viaProxy.HTTP_PROXY };
		expectAllToSucceed(await network.callAll({ env, secrets: [PASSWORD] }), network.sandbox);
		const { requests, url } = network.sandbox;
		const arrived = requests.all.map(({ method, path: to }) => [method, url + to]);
		expect(proxy.seen.map(({ method, target }) => [method, target])).toEqual(arrived);
		expectSigned();
	});

	it('gets nothing when NO_PROXY names the host', async () => {
		await useProxy();
		const env = { ...viaProxy, NO_PROXY: 'example.com,127.0.0.1' };
		expectAllToSucceed(await network.callAll({ env }), network.sandbox);
		expect(proxy.seen).toEqual([]);
	});

	it('gives a tunnel for https:// when ALL_PROXY names it, and cannot read what goes through', async () => {
		await useProxy();
		const server = createTlsServer(selfSigned, (near) => {
			const far = connect(Number(new URL(network.sandbox.url).port), '127.0.0.1');
			[near, far].forEach((socket) => socket.on('error', () => socket.destroy()));
			near.pipe(far).pipe(near);
		});
		const host = `localhost:${await listen(server)}`;
		const file = path.join(mkdtempSync(path.join(tmpdir(), 'xpertai-proxy-')), 'certificate.pem');
		writeFileSync(file, selfSigned.cert);
		const env = { ALL_PROXY: viaProxy.HTTPS_PROXY, NODE_EXTRA_CA_CERTS: file };
		const credential = { baseUrl: `https://${host}` };
		const reports = await network.callAll({ env, credential, secrets: [PASSWORD] });
		server.close();
		expectAllToSucceed(reports, network.sandbox);
		expect(proxy.seen).toHaveLength(network.sandbox.requests.all.length);
		for (const { method, target, headers } of proxy.seen)
			expect([method, target, headers.authorization]).toEqual(['CONNECT', host, undefined]);
		expectSigned();
		expect(proxy.tunnelled().length).toBeGreaterThan(0);
		expect(proxy.tunnelled().includes(network.sandbox.accessToken)).toBe(false);
	});
});

const unreached = (why: string) => `The server could not be reached: ${why}`;

describe('a proxy that does not let requests through', () => {
	const refused = (status: number, body: string, torn = false) => ({ status, body, torn });
	const [http, https] = [{}, { baseUrl: 'https://xpert.localhost' }];
	const PAGE = '<html><title>Bad Gateway</title> Authorization: Bearer sandbox-token';
	const NO_PASSWORD = 'The proxy between n8n and the server asks for a user name and password.';
	const UNFINISHED = 'The server could not finish the request.';
	const WHO = 'Who are you?';
	const CHECK = 'and the proxy if n8n uses one';
	const CLOSED = unreached('the connection was closed before an answer came (ECONNRESET)');
	const NO_TUNNEL = unreached('the proxy closed the connection without an answer');
	const BAD_GATEWAY = 'The server answered 502: an HTML page with the title "Bad Gateway"';
	const UNNAMED = 'The proxy answered 407: Proxy Authentication Required';

	it.each<[string, object, Conduct, words: string, hint: string, httpCode: string | undefined]>([
		[
			'a token in its words',
			http,
			refused(407, 'No, sandbox-token'),
			'The proxy answered 407: No, ***',
			NO_PASSWORD,
			'407',
		],
		['no password', https, refused(407, WHO), `The proxy answered 407: ${WHO}`, NO_PASSWORD, '407'],
		['words that break off', https, refused(407, WHO, true), UNNAMED, NO_PASSWORD, '407'],
		['no server', http, refused(502, PAGE), BAD_GATEWAY, UNFINISHED, '502'],
		['no server behind TLS', https, refused(502, PAGE), BAD_GATEWAY, UNFINISHED, '502'],
		['no patience', http, 'close', CLOSED, 'a proxy broke off', 'ECONNRESET'],
		['no tunnel', https, 'close', NO_TUNNEL, CHECK, undefined],
	])('fails in plain words: %s', async (_title, credential, conduct, words, hint, httpCode) => {
		await useProxy(conduct);
		const reports = await network.callAll({ env: viaProxy, credential, secrets: [PASSWORD] });
		expectAllToFail(reports, { words, hint, httpCode });
		expect(network.sandbox.requests.all).toEqual([]);
		// Each call has been tried; what may pass, several times.
		expect(proxy.seen.length).toBeGreaterThanOrEqual(reports.length);
	});

	it('fails in plain words when nothing listens there', async () => {
		await useProxy();
		await proxy.close();
		const words = unreached('nothing accepts connections at this address (ECONNREFUSED)');
		const reports = await network.callAll({ env: viaProxy, secrets: [PASSWORD] });
		expectAllToFail(reports, { words, hint: CHECK, httpCode: 'ECONNREFUSED' });
	});
});

describe("n8n's SSRF protection", () => {
	const PROTECTED = { N8N_SSRF_PROTECTION_ENABLED: 'true' };
	const ALLOWED = { ...PROTECTED, N8N_SSRF_ALLOWED_IP_RANGES: '127.0.0.0/8' };
	const byName = () => ({ baseUrl: network.sandbox.url.replace('127.0.0.1', 'localhost') });

	it.each<[string, Record<string, string>, blocked: string, isBehindProxy: boolean]>([
		['a blocked address', PROTECTED, '127.0.0.1', false],
		['a blocked name', { ...ALLOWED, N8N_SSRF_BLOCKED_HOSTNAMES: 'localhost' }, 'localhost', false],
		['a blocked address behind a proxy', PROTECTED, '127.0.0.1', true],
	])('holds back every request to %s, and says so once', async (_what, env, blocked, isBehind) => {
		await useProxy();
		const variables = { ...env, ...(isBehind && { HTTP_PROXY: viaProxy.HTTP_PROXY }) };
		const reports = await network.callAll({ env: variables, credential: byName() });
		expectAllToFail(reports, {
			words: `n8n's SSRF protection does not allow requests to ${blocked}`,
			hint: 'N8N_SSRF_ALLOWED_IP_RANGES or its host name in N8N_SSRF_ALLOWED_HOSTNAMES.',
		});
		expect(reports.map(({ name, blocked: tries }) => [name, tries])).toEqual(
			reports.map(({ name }) => [name, 1]),
		);
		expect([network.sandbox.requests.all, proxy.seen]).toEqual([[], []]);
		const submit = reports.find(({ name }) => name === 'E3');
		expect(submit?.error?.message).toContain('Documents: 1 not sent');
	});

	it.each([
		['address', ALLOWED],
		['name', { ...PROTECTED, N8N_SSRF_ALLOWED_HOSTNAMES: 'localhost' }],
	])('lets requests through to an allowed %s', async (_what, env) => {
		const reports = await network.callAll({ env, credential: byName() });
		expectAllToSucceed(reports, network.sandbox);
	});
});
