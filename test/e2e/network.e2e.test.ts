import { WORDS } from '../engine/support/networkWords';
import { useHarness } from './support/harness';

const harness = useHarness({ env: { N8N_SSRF_PROTECTION_ENABLED: 'true' } });
const BLOCKED = WORDS.blocked('127.0.0.1');

describe('an n8n whose SSRF protection holds back requests to the server', () => {
	afterEach(() => expect(harness.sandbox.requests.all).toEqual([]));

	it('says so in a workflow', async () => {
		const credential = await harness.createCredential();
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
