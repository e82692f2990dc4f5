import { createServer } from 'node:net';
import type { Server } from 'node:net';

import { listen } from './support/listen';
import { expectAllToFail, expectAllToSucceed, useNetwork } from './support/network';
import { startProxy } from './support/networkProxy';
import type { ForwardProxy } from './support/networkProxy';
import type { CallReport } from './support/networkRun';
import { WORDS } from './support/networkWords';

// Each test starts a process that loads n8n; this is only for what hangs.
jest.setTimeout(600_000);

const network = useNetwork();

const PROTECTED = { N8N_SSRF_PROTECTION_ENABLED: 'true' };
const LOOPBACK_ALLOWED = { ...PROTECTED, N8N_SSRF_ALLOWED_IP_RANGES: '127.0.0.0/8' };

const portOf = (url: string) => new URL(url).port;
const byName = () => `http://localhost:${portOf(network.sandbox.url)}`;

const blocked = (target: string) => ({
	words: WORDS.blocked(target),
	hint: 'N8N_SSRF_ALLOWED_IP_RANGES or its host name in N8N_SSRF_ALLOWED_HOSTNAMES.',
});

/** A run looks at its thread first, and ends where it cannot. */
function expectOneTryEach(reports: CallReport[]): void {
	expect(reports.map(({ name, blocked: tries }) => [name, tries])).toEqual(
		reports.map(({ name }) => [name, 1]),
	);
}

describe("n8n's SSRF protection", () => {
	let door: Server;
	let doorPort: number;
	let knocks: number;
	beforeEach(async () => {
		knocks = 0;
		door = createServer((socket) => {
			knocks += 1;
			socket.destroy();
		});
		doorPort = await listen(door);
	});
	afterEach(() => door.close());

	it('holds back every request to a blocked address, and says so once', async () => {
		const credential = { baseUrl: `http://localhost:${doorPort}` };
		const reports = await network.callAll({ env: PROTECTED, credential });
		expectAllToFail(reports, blocked('127.0.0.1'));
		expectOneTryEach(reports);
		expect(knocks).toBe(0);
		expect(reports.find(({ name }) => name === 'E3')?.error?.message).toContain(
			'Documents: 1 rejected',
		);
	});

	it('holds back requests to a host name that is blocked, whatever its address', async () => {
		const env = { ...LOOPBACK_ALLOWED, N8N_SSRF_BLOCKED_HOSTNAMES: 'localhost' };
		const credential = { baseUrl: `http://localhost:${doorPort}` };
		const reports = await network.callAll({ env, credential });
		expectAllToFail(reports, blocked('localhost'));
		expectOneTryEach(reports);
		expect(knocks).toBe(0);
	});

	it('lets requests through to an address that is allowed', async () => {
		const reports = await network.callAll({ env: LOOPBACK_ALLOWED });
		expectAllToSucceed(reports, network.sandbox);
	});

	it('lets requests through to a host name that is allowed', async () => {
		const env = { ...PROTECTED, N8N_SSRF_ALLOWED_HOSTNAMES: 'localhost' };
		const reports = await network.callAll({ env, credential: { baseUrl: byName() } });
		expectAllToSucceed(reports, network.sandbox);
	});

	it('need not judge a redirect to a blocked address: the node follows none', async () => {
		const elsewhere = `http://[::1]:${doorPort}`;
		network.sandbox.faults.add({ do: 'redirect', to: `${elsewhere}/api/ai`, status: 307 });
		const reports = await network.callAll({ env: LOOPBACK_ALLOWED });
		const words = `The server redirects to ${elsewhere}, which the node does not follow with your token (HTTP 307)`;
		expectAllToFail(reports, { words, hint: 'Base URL', httpCode: '307' });
		expect(reports.filter(({ blocked: tries }) => tries > 0)).toEqual([]);
	});
});

describe("n8n's SSRF protection behind a proxy", () => {
	/** A label of more than 63 characters: no name server can be asked for it. */
	const UNKNOWN = `${'x'.repeat(64)}.localhost`;

	let proxy: ForwardProxy;
	let env: Record<string, string>;
	beforeEach(async () => {
		proxy = await startProxy('forward', { [UNKNOWN]: new URL(network.sandbox.url).host });
		env = { ...PROTECTED, HTTP_PROXY: `http://${proxy.address}` };
	});
	afterEach(async () => await proxy.close());

	it('holds back what it holds back without one', async () => {
		const reports = await network.callAll({ env });
		expectAllToFail(reports, blocked('127.0.0.1'));
		expectOneTryEach(reports);
		expect(proxy.seen).toEqual([]);
	});

	it('needs no leave for the proxy itself, only for the server', async () => {
		const allowed = { ...env, N8N_SSRF_ALLOWED_HOSTNAMES: 'localhost' };
		const reports = await network.callAll({ env: allowed, credential: { baseUrl: byName() } });
		expectAllToSucceed(reports, network.sandbox);
		expect(proxy.seen).toHaveLength(network.sandbox.requests.all.length);
	});

	it('lets through no host whose name only the proxy knows, allowed or not', async () => {
		const allowed = { ...env, N8N_SSRF_ALLOWED_HOSTNAMES: '*.localhost' };
		const credential = { baseUrl: `http://${UNKNOWN}` };
		const reports = await network.callAll({ env: allowed, credential });
		expectAllToFail(reports, {
			words: WORDS.unknownHost,
			hint: 'Check the Base URL of the credential',
			httpCode: 'ENOTFOUND',
		});
		expect(proxy.seen).toEqual([]);
	});
});
