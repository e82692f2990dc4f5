import { EditorWindow } from './support/browser';
import { NodePanel } from './support/editorPanel';
import { PANEL, picturePath, readmePicture } from './support/editorPictures';
import { itemsNode, workflowOf, xpertNode } from './support/editorWorkflow';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

const GOOD = [
	{ name: 'one.md', type: 'md', filePath: 'handbook/one.md', size: 3, note: 'no field' },
	{ name: 'two.md', type: 'md', filePath: 'handbook/two.md', size: 3 },
];
const BAD = [GOOD[0], { name: 'two.md', size: 'big' }];
const QUESTION = 'How long does the cleaning run last?';

describe('documents and answers in the editor', () => {
	let window: EditorWindow;
	let panel: NodePanel;
	let knowledgebaseId: string;
	let workflowId: string;

	const submit = (name: string, mappingMode: string) =>
		xpertNode(name, {
			resource: 'document',
			operation: 'submit',
			source: 'fields',
			options: { afterStoring: 'nothing' },
			knowledgebaseId: { __rl: true, mode: 'id', value: knowledgebaseId },
			documentFields: { mappingMode, value: null },
		});

	beforeAll(async () => {
		knowledgebaseId = harness.sandbox.store.putKnowledgebase({ name: 'Handbook' }).id;
		const ask = xpertNode('Ask Assistant', {
			resource: 'thread',
			operation: 'run',
			threadSource: 'new',
			message: '={{ $json.question }}',
		});
		const workflow = workflowOf(
			'Documents',
			[itemsNode('Rows', GOOD), submit('Submit', 'autoMapInputData')],
			[itemsNode('Bad Rows', BAD), submit('Submit Bad', 'autoMapInputData')],
			[submit('Map Fields', 'defineBelow')],
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

	const stored = () =>
		harness.sandbox.store.documentsOf(knowledgebaseId).map(({ name, filePath, size }) => ({
			name,
			filePath,
			size,
		}));

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
		expect(stored()).toEqual([expect.objectContaining({ name: 'mapped.md' })]);
	});

	it('maps columns with the names of fields by itself and tells what became of each document', async () => {
		await window.openNode('Submit');
		await panel.run();
		await panel.showAs('table');
		const shown = await panel.outputWith(/two\.md/);
		expect(shown).toContain('Documents: 2 stored');
		expect(shown.match(/\bstored\b/g)).toHaveLength(3);
		expect(stored()).toEqual([
			expect.objectContaining({ name: 'mapped.md' }),
			{ name: 'one.md', filePath: 'handbook/one.md', size: 3 },
			{ name: 'two.md', filePath: 'handbook/two.md', size: 3 },
		]);
		await window.screenshot(picturePath('mapped'));
	});

	it('names field and item of a value that cannot be sent, once', async () => {
		await window.openNode('Submit Bad');
		await panel.run();
		const shown = await panel.outputWith(/must be/);
		expect(shown).toContain('"Size" must be a number, but is "big"');
		expect(shown.match(/item 1\b/gi)).toHaveLength(1);
		await window.screenshot(picturePath('bad-value'));
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
