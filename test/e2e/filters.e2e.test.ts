import { SANDBOX_KNOWLEDGEBASE_ID } from '../../sandbox';
import { EditorWindow } from './support/browser';
import { NodePanel } from './support/editorPanel';
import { picturePath } from './support/editorPictures';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

describe('the example "answers for each department" in n8n', () => {
	let workflowId: string;
	let window: EditorWindow;

	beforeAll(async () => {
		const credential = await harness.createCredential();
		workflowId = await harness.importWorkflow('answers-for-each-department.json', credential);
		window = await EditorWindow.open(harness.host, { width: 1440, height: 1000 });
	});
	afterAll(async () => await window?.close());

	it('gives two who ask the same each the answer of their own department, and proves it', async () => {
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

	it.each([
		['Metadata Schema', ['Metadata Schema', 'Key', 'Type'], 'filters-schema'],
		['Submit Documents', ['Metadata Rows', 'Key', 'Value', 'Folder'], 'filters-metadata'],
		['Ask Assistant', ['Values for Filters', 'Key', 'Value', 'May Be Empty'], 'filters-values'],
	])('shows the fields of %s in the editor', async (name, labels, picture) => {
		await window.openWorkflow(workflowId);
		await window.openNode(name);
		const panel = new NodePanel(window);
		const lines = await panel.linesWith(labels);
		await panel.parameters
			.getByText(labels[0] ?? '')
			.last()
			.scrollIntoViewIfNeeded();
		await window.screenshot(picturePath(picture));
		expect(labels.filter((label) => !lines.includes(label))).toEqual([]);
		await panel.close();
	});
});
