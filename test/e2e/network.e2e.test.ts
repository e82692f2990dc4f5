import { startProxy, type ForwardProxy } from '../engine/support/networkProxy';
import { WORDS } from '../engine/support/networkWords';
import { CREDENTIAL_TYPE, Harness, NODE_TYPE } from './support/harness';
import { ownN8n } from './support/ownN8n';

const harness = new Harness();
let credential: Awaited<ReturnType<Harness['createCredential']>>;

async function start(env: NodeJS.ProcessEnv): Promise<void> {
	await harness.start(await ownN8n({ env: { ...env, N8N_SSRF_PROTECTION_ENABLED: 'true' } }));
	credential = await harness.createCredential();
}

/** A page of a list, as the editor asks for it. */
const list = async (methodName: string) =>
	await harness.host.rest.request(
		'POST',
		'/rest/dynamic-node-parameters/resource-locator-results',
		{
			path: 'parameters.list',
			methodName,
			credentials: { [CREDENTIAL_TYPE]: credential },
			currentNodeParameters: {},
			nodeTypeAndVersion: { name: NODE_TYPE, version: 1 },
		},
	);

const LISTS = ['searchAssistants', 'searchThreads'];
const BLOCKED = WORDS.blocked('127.0.0.1');

/** Takes back what the host and the tests set, and what the environment may hold. */
const NO_PROXY_OF_OURS = { http_proxy: '', NO_PROXY: '', no_proxy: '' };

describe('an n8n whose SSRF protection holds back requests to the server', () => {
	beforeAll(async () => await start({}), 240_000);
	afterAll(async () => await harness.end(), 60_000);
	afterEach(() => expect(harness.sandbox.requests.all).toEqual([]));

	it('says so in a workflow', async () => {
		const id = await harness.importWorkflow('folder-of-files.json', credential);
		const { status, error } = await harness.runManually(id);
		expect(status).toBe('error');
		expect(error?.message).toContain(`${BLOCKED}. `);
		expect(error?.message).toMatch(/\. Documents: \d+ rejected/);
		expect(error?.message).not.toContain('0 documents');
		expect(error?.description).toContain('N8N_SSRF_ALLOWED_IP_RANGES');
	});

	it('says so in the test of the credential', async () => {
		expect(await harness.testCredential()).toEqual({
			status: 'Error',
			message: WORDS.blockedTest,
		});
	});
});

describe('an n8n behind a proxy, whose SSRF protection lets requests to the server through', () => {
	let proxy: ForwardProxy;
	beforeAll(async () => {
		proxy = await startProxy();
		await start({
			...NO_PROXY_OF_OURS,
			HTTP_PROXY: `http://${proxy.address}`,
			N8N_SSRF_ALLOWED_IP_RANGES: '127.0.0.0/8',
		});
	}, 240_000);
	afterAll(async () => {
		await harness.end();
		await proxy.close();
	}, 60_000);
	beforeEach(() => {
		harness.sandbox.requests.clear();
		proxy.seen.length = 0;
	});
	afterEach(() => {
		const { requests, url } = harness.sandbox;
		expect(requests.all.length).toBeGreaterThan(0);
		expect(proxy.seen.map(({ target }) => target)).toEqual(
			requests.all.map(({ path }) => url + path),
		);
	});

	it('runs a workflow through it', async () => {
		const id = await harness.importWorkflow('folder-of-files.json', credential);
		const { status, error } = await harness.runManually(id);
		expect(error).toBeUndefined();
		expect(status).toBe('success');
	});

	it.each(LISTS)('shows the lists of the editor through it (%s)', async (method) => {
		expect(await list(method)).toHaveProperty('results');
	});

	it('tests the credential through it', async () => {
		expect((await harness.testCredential()).status).toBe('OK');
	});
});
