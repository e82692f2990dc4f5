import type { WorkflowFile } from '../../host/examples';
import type { CredentialReference } from '../../host/n8nRestClient';
import { chain, manualTrigger, timesStored, xpertAiNode } from '../queue/support/ingestion';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

type Node = WorkflowFile['nodes'][number];

/** Makes as many items as asked for, each with a name. */
const rows = (count: number): Node => ({
	name: 'Rows',
	type: 'n8n-nodes-base.code',
	typeVersion: 2,
	parameters: {
		jsCode: `return Array.from({ length: ${count} }, (_, index) => ({ json: { name: 'doc ' + index } }));`,
	},
});

const NODE = 'Xpert AI';

describe('the settings n8n gives every node', () => {
	let credential: CredentialReference;
	let knowledgebaseId: string;

	beforeAll(async () => (credential = await harness.createCredential()));
	beforeEach(() => {
		harness.sandbox.reset();
		knowledgebaseId = harness.sandbox.store.putKnowledgebase({ name: 'Settings' }).id;
	});

	const run = async (workflow: WorkflowFile) =>
		await harness.runManually(await harness.importWorkflow(workflow, credential));
	const arrived = (endpoint: string) => harness.sandbox.requests.of(endpoint).length;
	const stored = () => harness.sandbox.store.documentsOf(knowledgebaseId);

	const newKnowledgebase = xpertAiNode(NODE, {
		resource: 'knowledgebase',
		operation: 'create',
		name: '={{ $json.name }}',
	});
	const submit = (options: object = {}): Node =>
		xpertAiNode(NODE, {
			resource: 'document',
			operation: 'submit',
			knowledgebaseId: { __rl: true, mode: 'id', value: knowledgebaseId },
			source: 'fields',
			documentFields: { mappingMode: 'autoMapInputData', value: null, schema: [] },
			documentSettings: { documentKey: '={{ $json.name }}' },
			options: { afterStoring: 'nothing', ...options },
		});
	const retrying = { retryOnFail: true, maxTries: 2, waitBetweenTries: 100 };

	it('Retry On Fail tries a request again that the node itself must not repeat', async () => {
		harness.sandbox.faults.add({ endpoint: 'E1', do: 'status', status: 500, nth: 1 });
		const execution = await run(
			chain('Retry', manualTrigger(), rows(1), { ...newKnowledgebase, ...retrying }),
		);
		expect(execution.error).toBeUndefined();
		expect(execution.json(NODE)).toEqual([expect.objectContaining({ name: 'doc 0' })]);
		expect(arrived('E1')).toBe(2);
	});

	it('Retry On Fail doubles no document that has a key', async () => {
		harness.sandbox.faults.add({ endpoint: 'E3', do: 'status', status: 403, nth: 3 });
		const execution = await run(
			chain('Retry', manualTrigger(), rows(50), {
				...submit({ batchSize: 10, concurrency: 1 }),
				...retrying,
			}),
		);
		expect(execution.error).toBeUndefined();
		expect(execution.json(NODE)).toHaveLength(50);
		expect(arrived('E3')).toBe(3 + 5);
		expect(timesStored(stored())).toEqual({ once: 50 });
	});
});
