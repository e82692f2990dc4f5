import type { WorkflowFile } from '../../host/examples';
import { chain, manualTrigger, readFile, xpertAiNode } from '../queue/support/ingestion';
import { useHarness } from './support/harness';

const harness = useHarness();
const NODE = 'Submit Documents';

/** Makes n8n look for the third file where it has none, as after it has deleted those of old executions. */
const loseOne: WorkflowFile['nodes'][number] = {
	name: 'Lose One',
	type: 'n8n-nodes-base.code',
	typeVersion: 2,
	parameters: {
		jsCode: "const items = $input.all(); items[2].binary.data.id += '-gone'; return items;",
	},
};

const filesOf = (knowledgebaseId: string) =>
	xpertAiNode(NODE, {
		resource: 'document',
		operation: 'submit',
		knowledgebaseId: { __rl: true, mode: 'id', value: knowledgebaseId },
		source: 'files',
		binaryPropertyName: 'data',
		options: { afterStoring: 'nothing' },
	});

describe('a file that n8n no longer has when its turn comes to be uploaded', () => {
	it('ends the workflow in words while other uploads are under way, and n8n lives on', async () => {
		const { id } = harness.sandbox.store.putKnowledgebase({ name: 'Files' });
		harness.sandbox.faults.add({ endpoint: 'E16', do: 'delay', ms: 500 });
		const read = readFile('**/*.md');
		const workflow = chain('Lost', manualTrigger(), read, loseOne, filesOf(id));
		const credential = await harness.createCredential();
		const workflowId = await harness.importWorkflow(workflow, credential);
		const { error } = await harness.runManually(workflowId);
		expect(error?.message).toContain('whose file n8n no longer has');
		expect(error?.message).toContain('[item 2]');
		expect((await harness.host.rest.listExecutions(workflowId)).length).toBe(1);
	});
});
