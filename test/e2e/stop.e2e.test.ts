import type { WorkflowFile } from 'host/examples';
import type { CredentialReference } from 'host/n8nRestClient';
import { asking, ingestion, manualTrigger, writeDocuments } from '../queue/support/ingestion';
import { pressStop } from '../queue/support/pressStop';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

/** So that requests can be counted: nothing else is under way when one is held. */
const ONE_AT_ONCE = { concurrency: 1 };

const CANCELED = { status: 'canceled', late: [] };

describe('the Stop button', () => {
	let credential: CredentialReference;
	let knowledgebaseId: string;

	beforeAll(async () => {
		writeDocuments(harness.host.documents, 2_000);
		credential = await harness.createCredential();
		knowledgebaseId = harness.sandbox.store.putKnowledgebase({ name: 'Stopped' }).id;
	});

	beforeEach(() => {
		harness.sandbox.faults.clear();
		harness.sandbox.requests.clear();
	});

	/** Starts a workflow and presses Stop once it has got so far. */
	const stopOnce = async (
		workflow: WorkflowFile,
		gotSoFar: () => boolean,
		isDone?: () => boolean,
	) => {
		const id = await harness.startManually(await harness.importWorkflow(workflow, credential));
		return await pressStop(harness, id, gotSoFar, isDone);
	};

	const arrived = (endpoint: string) => harness.sandbox.requests.of(endpoint).length;

	it('ends an ingestion whose request is under way', async () => {
		harness.sandbox.faults.add({ endpoint: 'E3', nth: 3, do: 'hold' });
		const workflow = ingestion(manualTrigger(), knowledgebaseId, ONE_AT_ONCE);
		expect(await stopOnce(workflow, () => arrived('E3') >= 3)).toEqual(CANCELED);
		expect(arrived('E3')).toBe(3);
	});

	it('is pressed by n8n when a workflow takes longer than its settings allow', async () => {
		harness.sandbox.faults.add({ endpoint: 'E3', do: 'hold' });
		const workflow = ingestion(manualTrigger(), knowledgebaseId, ONE_AT_ONCE);
		const settings = { ...workflow.settings, executionTimeout: 1 };
		const id = await harness.importWorkflow({ ...workflow, settings }, credential);
		expect((await harness.runManually(id)).status).toBe('canceled');
		expect(arrived('E3')).toBe(1);
	});

	it.each([
		['leaves the run on the server alone', {}, 0, 'running'],
		[
			'cancels the run on the server where that is wanted',
			{ whenGivenUp: 'cancel' },
			1,
			'interrupted',
		],
	])('ends the wait for an answer, and %s', async (_, options, cancels, status) => {
		harness.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 3_600_000 });
		// A run is cancelled, and then joined once more, as it may have ended first.
		const isDone = () => arrived('join') === 1 + cancels;
		const seen = await stopOnce(asking({ options }), () => arrived('join') === 1, isDone);
		expect(seen).toEqual(CANCELED);
		expect(arrived('cancel')).toBe(cancels);
		expect(harness.sandbox.store.runs.at(-1)?.status).toBe(status);
	});
});
