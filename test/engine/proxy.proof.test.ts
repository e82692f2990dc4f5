import { mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer as createTlsServer } from 'node:tls';

import { selfSigned } from './support/faultMatrixTls';
import { listen } from './support/listen';
import { expectAllToFail, expectAllToSucceed, useNetwork } from './support/network';
import { startProxy } from './support/networkProxy';
import type { Conduct, ForwardProxy } from './support/networkProxy';
import { WORDS } from './support/networkWords';

// Each test starts a process that loads n8n; this is only for what hangs.
jest.setTimeout(600_000);

const network = useNetwork();
const PASSWORD = 'proxy-s3cret';

let proxy: ForwardProxy;
/** The variables that send everything through it. */
let viaProxy: Record<'HTTP_PROXY' | 'HTTPS_PROXY', string>;

async function useProxy(conduct?: Conduct, hosts?: Record<string, string>): Promise<void> {
	proxy = await startProxy(conduct, hosts);
	const url = `http://operator:${PASSWORD}@${proxy.address}`;
	viaProxy = { HTTP_PROXY: url, HTTPS_PROXY: url };
}

afterEach(async () => await proxy.close());

const requests = () => network.sandbox.requests.all;
const signed = () => `Bearer ${network.sandbox.accessToken}`;
const operator = `Basic ${Buffer.from(`operator:${PASSWORD}`).toString('base64')}`;

describe('a proxy for http://', () => {
	it('gets every request when HTTP_PROXY names it, with the token for the server only', async () => {
		await useProxy();
		const env = { HTTP_PROXY: viaProxy.HTTP_PROXY };
		const reports = await network.callAll({ env, secrets: [PASSWORD] });
		expectAllToSucceed(reports, network.sandbox);
		const arrived = requests().map(({ method, path: to }) => [method, network.sandbox.url + to]);
		expect(proxy.seen.map(({ method, target }) => [method, target])).toEqual(arrived);
		for (const { headers } of proxy.seen) expect(headers['proxy-authorization']).toBe(operator);
		for (const { headers } of requests()) {
			expect(headers.authorization).toBe(signed());
			expect(headers['proxy-authorization']).toBeUndefined();
		}
	});

	it('is asked for hosts whose names it alone knows', async () => {
		await useProxy('forward', { 'xpert.localhost': new URL(network.sandbox.url).host });
		const credential = { baseUrl: 'http://xpert.localhost' };
		const reports = await network.callAll({ env: viaProxy, credential });
		expectAllToSucceed(reports, network.sandbox);
		expect(proxy.seen).toHaveLength(requests().length);
	});

	it.each<[string, () => Record<string, string>]>([
		['NO_PROXY names the host', () => ({ ...viaProxy, NO_PROXY: 'example.com,127.0.0.1' })],
		['only HTTPS_PROXY names it', () => ({ HTTPS_PROXY: viaProxy.HTTPS_PROXY })],
	])('gets nothing when %s', async (_when, env) => {
		await useProxy();
		const reports = await network.callAll({ env: env() });
		expectAllToSucceed(reports, network.sandbox);
		expect(proxy.seen).toEqual([]);
	});
});

/** A server with TLS in front of the sandbox, by a certificate that is in the file. */
async function startTlsFront() {
	const certificate = selfSigned('localhost');
	const server = createTlsServer(certificate, (near) => {
		const far = connect(Number(new URL(network.sandbox.url).port), '127.0.0.1');
		[near, far].forEach((socket) => socket.on('error', () => socket.destroy()));
		near.pipe(far).pipe(near);
	});
	const file = path.join(mkdtempSync(path.join(tmpdir(), 'xpertai-proxy-')), 'certificate.pem');
	writeFileSync(file, certificate.cert);
	const host = `localhost:${await listen(server)}`;
	return { host, credential: { baseUrl: `https://${host}` }, file, close: () => server.close() };
}

describe('a proxy for https://', () => {
	let front: Awaited<ReturnType<typeof startTlsFront>>;
	beforeEach(async () => {
		await useProxy();
		front = await startTlsFront();
	});
	afterEach(() => front.close());

	it('gives a tunnel to every request when ALL_PROXY names it, and cannot read what goes through', async () => {
		const env = { ALL_PROXY: viaProxy.HTTPS_PROXY, NODE_EXTRA_CA_CERTS: front.file };
		const { credential } = front;
		const reports = await network.callAll({ env, credential, secrets: [PASSWORD] });
		expectAllToSucceed(reports, network.sandbox);
		expect(proxy.seen).toHaveLength(requests().length);
		for (const { method, target, headers } of proxy.seen) {
			expect([method, target]).toEqual(['CONNECT', front.host]);
			expect(headers.authorization).toBeUndefined();
			expect(headers['proxy-authorization']).toBe(operator);
		}
		for (const { headers } of requests()) {
			expect(headers.authorization).toBe(signed());
			expect(headers['proxy-authorization']).toBeUndefined();
		}
		expect(proxy.tunnelled().length).toBeGreaterThan(0);
		expect(proxy.tunnelled().includes(network.sandbox.accessToken)).toBe(false);
	});

	it('does not make n8n accept a certificate nobody has signed', async () => {
		const reports = await network.callAll({ env: viaProxy, credential: front.credential });
		expectAllToFail(reports, {
			words: WORDS.notTrusted,
			hint: 'Check the Base URL of the credential',
			httpCode: 'DEPTH_ZERO_SELF_SIGNED_CERT',
		});
		expect(proxy.seen.length).toBeGreaterThan(0);
		expect(requests()).toEqual([]);
	});
});

describe('a proxy that does not let requests through', () => {
	const refused = (status: number, body: string, torn = false) => ({ status, body, torn });
	const echo = (title: string) =>
		`<html><title>${title}</title> Authorization: Bearer sandbox-token`;
	const badGateway = {
		words: WORDS.badGateway,
		hint: 'The server could not finish the request.',
		httpCode: '502',
	};
	const noPassword = {
		hint: 'The proxy between n8n and the server asks for a user name and password.',
		httpCode: '407',
	};
	const unreached = { hint: 'and the proxy if n8n uses one' };

	it.each([
		[
			'wants a password',
			refused(407, 'Who are you, sandbox-token?'),
			{ ...noPassword, words: WORDS.noPassword('Who are you, ***?') },
			{ ...noPassword, words: WORDS.noPassword('Who are you, ***?') },
		],
		[
			'wants a password, on a page that breaks off',
			refused(407, 'Who are you?', true),
			{ ...noPassword, words: WORDS.noPassword('Who are you?') },
			{ ...noPassword, words: WORDS.noPassword('Proxy Authentication Required') },
		],
		['finds no server', refused(502, echo('Bad Gateway')), badGateway, badGateway],
		[
			'closes the connection',
			'close' as const,
			{
				...unreached,
				words: WORDS.closed,
				httpCode: 'ECONNRESET',
			},
			{
				...unreached,
				words: WORDS.noTunnel,
			},
		],
	])('fails in plain words when it %s', async (_title, conduct, overHttp, overHttps) => {
		await useProxy(conduct);
		const [http = [], https = []] = await network.callWithEach({
			env: viaProxy,
			credentials: [{}, { baseUrl: 'https://xpert.localhost' }],
			secrets: [PASSWORD],
		});
		expectAllToFail(http, overHttp);
		expectAllToFail(https, overHttps);
		expect(requests()).toEqual([]);
		// Each call has been tried; what may pass, several times.
		expect(proxy.seen.length).toBeGreaterThanOrEqual(http.length + https.length);
	});

	it('fails in plain words when nothing listens there', async () => {
		await useProxy();
		await proxy.close();
		const reports = await network.callAll({ env: viaProxy, secrets: [PASSWORD] });
		expectAllToFail(reports, {
			...unreached,
			words: WORDS.nobodyThere,
			httpCode: 'ECONNREFUSED',
		});
	});
});
