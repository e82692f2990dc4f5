import type { WorkflowFile } from '../../host/examples';
import type { CredentialReference } from '../../host/n8nRestClient';
import { COPILOT_ID } from '../../sandbox';
import { chain, itemsNode, manualTrigger, xpertAiNode } from '../queue/support/ingestion';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();
const NODE = 'Xpert AI';

const run = async (workflow: WorkflowFile, credential: CredentialReference) =>
	await harness.runManually(await harness.importWorkflow(workflow, credential));

describe('a sub-workflow that mirrors its source', () => {
	const text = (name: string) => ({ name, text: `${name} sleeps.` });

	it('disables nothing while somebody tests its parent', async () => {
		const findable = { name: 'Findable', copilotModelId: COPILOT_ID };
		const { id: knowledgebaseId } = harness.sandbox.store.putKnowledgebase(findable);
		const credential = await harness.createCredential();
		const mirror = xpertAiNode(NODE, {
			resource: 'document',
			operation: 'submit',
			knowledgebaseId: { __rl: true, mode: 'id', value: knowledgebaseId },
			source: 'text',
			text: '={{ $json.text }}',
			mode: 'mirror',
			options: { maxGonePercent: 100 },
			sourceName: 'parent',
		});
		const called = {
			name: 'When Called',
			type: 'n8n-nodes-base.executeWorkflowTrigger',
			typeVersion: 1.1,
			parameters: { inputSource: 'passthrough' },
		};
		const child = await harness.importWorkflow(chain('Child', called, mirror), credential);
		await harness.activate(child);
		const parentOf = (items: object[]) =>
			chain('Parent', manualTrigger(), itemsNode('Pages', items), {
				name: 'Call',
				type: 'n8n-nodes-base.executeWorkflow',
				typeVersion: 1.2,
				parameters: { workflowId: { __rl: true, mode: 'id', value: child }, options: {} },
			});
		const first = await run(parentOf([text('Owl'), text('Bat')]), credential);
		expect(first.error).toBeUndefined();
		const second = await run(parentOf([text('Owl')]), credential);
		expect(second.error).toBeUndefined();
		const bat = harness.sandbox.store
			.documentsOf(knowledgebaseId)
			.filter(({ name }) => String(name).startsWith('Bat'));
		expect(bat).toEqual([expect.objectContaining({ disabled: null })]);
	});
});
