import { EditorWindow } from './support/browser';
import { NodePanel } from './support/editorPanel';
import { PANEL, picturePath, readmePicture } from './support/editorPictures';
import { itemsNode, workflowOf, xpertAiNode } from '../queue/support/ingestion';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

const QUESTION = 'How long does the cleaning run last?';

describe('documents and answers in the editor', () => {
	let window: EditorWindow;
	let panel: NodePanel;
	let knowledgebaseId: string;
	let workflowId: string;

	beforeAll(async () => {
		knowledgebaseId = harness.sandbox.store.putKnowledgebase({ name: 'Handbook' }).id;
		const submit = xpertAiNode('Map Fields', {
			resource: 'document',
			operation: 'submit',
			source: 'fields',
			options: { afterStoring: 'nothing' },
			knowledgebaseId: { __rl: true, mode: 'id', value: knowledgebaseId },
			documentFields: { mappingMode: 'defineBelow', value: null },
		});
		const ask = xpertAiNode('Ask Assistant', {
			resource: 'thread',
			operation: 'run',
			threadSource: 'new',
			message: '={{ $json.question }}',
		});
		const workflow = workflowOf(
			'Documents',
			[submit],
			[itemsNode('Questions', [{ question: QUESTION }]), ask],
		);
		const credential = await harness.createCredential();
		window = await EditorWindow.open(harness.host);
		panel = new NodePanel(window);
		workflowId = await harness.importWorkflow(workflow, credential);
		await window.openWorkflow(workflowId);
	});
	afterEach(async () => await panel.close());
	afterAll(async () => await window?.close());

	it('offers the fields of a document to map, its name first, and needs no other', async () => {
		await window.openNode('Map Fields');
		const fields = ['Name', 'Storage File ID', 'File URL'];
		const lines = await panel.linesWith(fields);
		expect(lines.filter((line) => fields.includes(line))).toEqual(fields);
		expect(await panel.find('parameter-issues').count()).toBe(0);
		await window.screenshot(picturePath('mapper'));

		const name = panel.find('mapping-fields-container').locator('input').first();
		await window.type(name, 'mapped.md');
		await panel.run();
		await panel.outputWith(/mapped\.md/);
		expect(harness.sandbox.store.documentsOf(knowledgebaseId)).toMatchObject([
			{ name: 'mapped.md' },
		]);
	});

	it('runs the example on the canvas and shows what became of its files', async () => {
		const credential = await harness.createCredential();
		await window.openWorkflow(await harness.importWorkflow('folder-of-files.json', credential));
		await window.page.getByRole('button', { name: 'Execute workflow' }).last().click();
		const success = window.find('canvas-node-status-success', window.node('Submit Documents'));
		await success.waitFor({ timeout: 30_000 });
		// The last node has ended before the execution has.
		await window.page.locator('button[aria-busy="true"]').waitFor({ state: 'hidden' });
		await window.screenshot(readmePicture('canvas'));

		await window.openNode('Submit Documents');
		await panel.linesWith(['Name']);
		await panel.run();
		await panel.showAs('schema', panel.input);
		await panel.showAs('table');
		expect(await panel.outputWith(/safety\.md/)).not.toContain('rejected');
		await window.screenshot(readmePicture('submit'), PANEL);
	});

	it('answers a question from the files of the example', async () => {
		await window.openWorkflow(workflowId);
		await window.openNode('Ask Assistant');
		const entries = await panel.openList('assistantId');
		await entries.filter({ hasText: 'Sandbox Assistant' }).click();
		await panel.run();
		await panel.showAs('json');
		expect(await panel.outputWith(/completed/)).toContain('The cleaning run lasts 25 minutes');
		await window.screenshot(readmePicture('ask'), PANEL);
	});

	it('makes the page complain about nothing', () => {
		expect(window.problems).toEqual([]);
	});
});
