import { SANDBOX_KNOWLEDGEBASE_ID } from '../../sandbox';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

describe('the example "answers for each department" in n8n', () => {
	it('gives two who ask the same each the answer of their own department, and proves it', async () => {
		const credential = await harness.createCredential();
		const file = 'answers-for-each-department.json';
		const workflowId = await harness.importWorkflow(file, credential);
		for (let runs = 0; runs < 2; runs += 1) {
			const execution = await harness.runManually(workflowId);
			expect(execution.error).toBeUndefined();
			expect(execution.json('Answers')).toEqual([
				{ person: 'Ada', answer: expect.stringContaining('120 euros'), filter: 'applied' },
				{ person: 'Bob', answer: expect.stringContaining('80 euros'), filter: 'applied' },
			]);
		}
		const { store } = harness.sandbox;
		expect(store.knowledgebases.get(SANDBOX_KNOWLEDGEBASE_ID)?.metadataSchema).toEqual([
			{ key: 'department', type: 'string', scope: 'document' },
		]);
		const documents = store
			.documentsOf(SANDBOX_KNOWLEDGEBASE_ID)
			.filter(({ metadata }) => metadata !== null);
		expect(documents.map(({ folder, metadata }) => [folder, metadata])).toEqual([
			['sales', { department: 'sales' }],
			['hr', { department: 'hr' }],
		]);
	});
});
