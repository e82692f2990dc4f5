import type { WorkflowFile } from '../../host/examples';
import type { CredentialReference } from '../../host/n8nRestClient';
import { asking, ingestion, manualTrigger, writeDocuments } from '../queue/support/ingestion';
import { LONG_MS, expectStopped, pressStop } from '../queue/support/pressStop';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

/** So that requests can be counted: nothing else is under way when one is waited for. */
const ONE_AT_ONCE = { concurrency: 1 };

describe('the Stop button', () => {
	let credential: CredentialReference;
	let knowledgebaseId: string;

	beforeAll(async () => {
		writeDocuments(harness.host.documents, 2_000);
		credential = await harness.createCredential();
		knowledgebaseId = harness.sandbox.store.putKnowledgebase({ name: 'Stopped' }).id;
	});

	afterEach(() => harness.sandbox.faults.clear());

	/** Starts a workflow, presses Stop once it has got so far, and watches what happens then. */
	const stopOnce = async (workflow: WorkflowFile, gotSoFar: () => boolean) => {
		harness.sandbox.requests.clear();
		const id = await harness.startManually(await harness.importWorkflow(workflow, credential));
		return await pressStop(harness, id, gotSoFar);
	};

	const arrived = (endpoint: string) => harness.sandbox.requests.of(endpoint).length;

	it('ends an ingestion whose requests take long', async () => {
		harness.sandbox.faults.add({ endpoint: 'E3', nth: 3, do: 'delay', ms: LONG_MS });
		const workflow = ingestion(manualTrigger(), knowledgebaseId, ONE_AT_ONCE);
		expectStopped(await stopOnce(workflow, () => arrived('E3') >= 3));
		expect(arrived('E3')).toBe(3);
	});

	it('is pressed by n8n when a workflow takes longer than its settings allow', async () => {
		harness.sandbox.requests.clear();
		harness.sandbox.faults.add({ endpoint: 'E3', do: 'delay', ms: LONG_MS });
		const workflow = ingestion(manualTrigger(), knowledgebaseId, ONE_AT_ONCE);
		const settings = { ...workflow.settings, executionTimeout: 2 };
		const id = await harness.importWorkflow({ ...workflow, settings }, credential);
		const startedAt = Date.now();
		const { status } = await harness.runManually(id);
		expect(status).toBe('canceled');
		expect(Date.now() - startedAt).toBeLessThan(LONG_MS);
		expect(arrived('E3')).toBe(1);
	});

	it('ends a run whose answer is awaited', async () => {
		harness.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: LONG_MS });
		expectStopped(await stopOnce(asking(), () => arrived('runs') === 1));
		expect(arrived('E15')).toBe(0);
	});

	it('cancels the run on the server as well, where that is wanted', async () => {
		harness.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: LONG_MS });
		const workflow = asking({ options: { whenStopped: 'cancel' } });
		const { status } = await stopOnce(workflow, () => arrived('runs') === 1);
		expect(status).toBe('canceled');
		expect(arrived('cancel')).toBe(1);
		expect(harness.sandbox.store.runs.at(-1)?.status).toBe('interrupted');
	});
});
