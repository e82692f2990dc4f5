import { waitFor } from '../../host/waitFor';
import type { CredentialReference } from '../../host/n8nRestClient';
import {
	ASK_NODE,
	asking,
	ingestion,
	manualTrigger,
	SUBMIT_NODE,
	timesStored,
	writeDocuments,
} from '../queue/support/ingestion';
import { useSharedHarness } from './support/harness';
import { startNginx, type Nginx } from './support/nginx';

const DOCUMENTS = 12_000;
const FILE = 'behind-nginx.ndjson';

const harness = useSharedHarness();

describe('a server behind nginx as it is installed', () => {
	let nginx: Nginx;
	let credential: CredentialReference;

	beforeAll(async () => {
		writeDocuments(harness.host.documents, DOCUMENTS, FILE);
		nginx = await startNginx(harness.sandbox.url);
		credential = await harness.createCredential({ baseUrl: nginx.url });
	});
	afterAll(async () => await nginx?.stop());
	afterEach(() => harness.sandbox.faults.clear());

	it('gets every document once, although batches are too large for it and it is killed meanwhile', async () => {
		harness.sandbox.faults.add({ endpoint: 'E3', do: 'delay', ms: 50 });
		const { id } = harness.sandbox.store.putKnowledgebase({ name: 'Cut up' });
		const stored = () => harness.sandbox.store.documentsOf(id);
		const workflow = ingestion(manualTrigger(), id, { batchSize: 10_000 }, FILE);
		const running = await harness.startManually(await harness.importWorkflow(workflow, credential));
		for (const share of [0.2, 0.4, 0.6]) {
			const soFar = async () => stored().length >= DOCUMENTS * share || undefined;
			await waitFor('a part of the documents', soFar, { everyMs: 10 });
			await nginx.restart();
		}
		const execution = await harness.execution(running);
		expect(execution.error).toBeUndefined();
		expect(nginx.statuses()).toContain(413);
		expect(execution.json(SUBMIT_NODE)[0]?.retries).toBeGreaterThan(0);
		expect(timesStored(stored())).toEqual({ once: DOCUMENTS });
	});

	it('gives the answer of a run that takes longer than nginx waits', async () => {
		harness.sandbox.requests.clear();
		harness.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 6_000, text: 'At last' });
		const impatient = await startNginx(harness.sandbox.url, { readTimeoutSeconds: 2 });
		const behind = await harness.createCredential({ baseUrl: impatient.url });
		const id = await harness.importWorkflow(asking(), behind);
		const execution = await harness.runManually(id);
		await impatient.stop();
		expect(execution.error).toBeUndefined();
		expect(JSON.stringify(execution.json(ASK_NODE))).toContain('At last');
		expect(harness.sandbox.requests.of('runs')).toHaveLength(1);
		// nginx has ended the stream, and it was joined again.
		expect(harness.sandbox.requests.of('join').length).toBeGreaterThan(1);
	});
});
