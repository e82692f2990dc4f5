import { times } from 'lodash';

import type { WorkflowFile } from '../../host/examples';
import type { CredentialReference } from '../../host/n8nRestClient';
import { SANDBOX_KNOWLEDGEBASE_ID } from '../../sandbox';
import { byId } from '../engine/support/locators';
import {
	chain,
	itemsNode,
	manualTrigger,
	timesStored,
	xpertAiNode,
} from '../queue/support/ingestion';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

const NODE = 'Xpert AI';
const rows = (count: number) => times(count, (index) => ({ name: `doc ${index}` }));

describe('the settings n8n gives every node', () => {
	let credential: CredentialReference;

	beforeAll(async () => (credential = await harness.createCredential()));
	beforeEach(() => harness.sandbox.reset());

	const run = async (workflow: WorkflowFile) =>
		await harness.runManually(await harness.importWorkflow(workflow, credential));
	const arrived = (endpoint: string) => harness.sandbox.requests.of(endpoint).length;

	const newKnowledgebase = xpertAiNode(NODE, {
		resource: 'knowledgebase',
		operation: 'create',
		name: '={{ $json.name }}',
	});
	const retrying = { retryOnFail: true, maxTries: 2, waitBetweenTries: 100 };

	it('Retry On Fail tries a request again that the node itself must not repeat', async () => {
		harness.sandbox.faults.add({ endpoint: 'E1', do: 'status', status: 500, nth: 1 });
		const execution = await run(
			chain('Retry', manualTrigger(), itemsNode('Rows', rows(1)), {
				...newKnowledgebase,
				...retrying,
			}),
		);
		expect(execution.error).toBeUndefined();
		expect(execution.json(NODE)).toEqual([expect.objectContaining({ name: 'doc 0' })]);
		expect(arrived('E1')).toBe(2);
	});

	it('Retry On Fail doubles no document that has a key', async () => {
		harness.sandbox.faults.add({ endpoint: 'E3', do: 'status', status: 403, nth: 3 });
		const execution = await run(
			chain('Retry', manualTrigger(), itemsNode('Rows', rows(50)), {
				...xpertAiNode(NODE, {
					resource: 'document',
					operation: 'submit',
					knowledgebaseId: byId(SANDBOX_KNOWLEDGEBASE_ID),
					source: 'fields',
					documentFields: { mappingMode: 'autoMapInputData', value: null, schema: [] },
					documentSettings: { documentKey: '={{ $json.name }}' },
					options: { afterStoring: 'nothing', batchSize: 10, concurrency: 1 },
				}),
				...retrying,
			}),
		);
		expect(execution.error).toBeUndefined();
		expect(execution.json(NODE)).toHaveLength(50);
		expect(arrived('E3')).toBe(3 + 5);
		expect(timesStored(harness.sandbox.store.documentsOf(SANDBOX_KNOWLEDGEBASE_ID))).toEqual({
			once: 50,
		});
	});
});
