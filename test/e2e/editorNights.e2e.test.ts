import { waitFor } from '../../host/waitFor';
import { EditorWindow } from './support/browser';
import { NodePanel } from './support/editorPanel';
import { picturePath } from './support/editorPictures';
import { itemsNode, workflowOf, xpertNode } from './support/editorWorkflow';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

const pages = (...names: string[]) =>
	names.map((name) => ({ name: `${name}.md`, text: `The word is ${name}.` }));

describe('nights of one source in the editor', () => {
	let window: EditorWindow;
	let panel: NodePanel;
	let workflowId: string;
	let knowledgebaseId: string;

	const submit = (name: string, options: object = {}) =>
		xpertNode(name, {
			resource: 'document',
			operation: 'submit',
			source: 'text',
			text: '={{ $json.text }}',
			knowledgebaseId: { __rl: true, mode: 'id', value: knowledgebaseId },
			mode: 'mirror',
			sourceName: 'Pages',
			documentSettings: { documentKey: '={{ $json.name }}' },
			options: { afterStoring: 'nothing', maxGonePercent: 50, ...options },
		});

	beforeAll(async () => {
		knowledgebaseId = harness.sandbox.store.putKnowledgebase({ name: 'Nights' }).id;
		const night = [itemsNode('All Pages', pages('owl', 'bat')), submit('Night')];
		const look = [itemsNode('Pages Left', pages('owl')), submit('Look', { dryRun: true })];
		const credential = await harness.createCredential();
		window = await EditorWindow.open(harness.host);
		panel = new NodePanel(window);
		workflowId = await harness.importWorkflow(workflowOf('Nights', night, look), credential);
	});
	afterEach(async () => {
		harness.sandbox.faults.clear();
		await panel.close();
	});
	afterAll(async () => await window?.close());

	it('one that begins while another is at work says which one, and sends nothing', async () => {
		const { faults, requests } = harness.sandbox;
		const first = workflowOf('First Night', [
			itemsNode('All Pages', pages('owl', 'bat')),
			submit('Night'),
		]);
		const firstId = await harness.importWorkflow(first, await harness.createCredential());
		requests.clear();
		faults.add({ endpoint: 'E16', do: 'hold' });
		const executionId = await harness.startManually(firstId);
		await waitFor('its files', async () => requests.of('E16').length === 2 || undefined);

		await window.openWorkflow(workflowId);
		await window.openNode('Night');
		await panel.run();
		const shown = await panel.outputWith(/Nothing was sent/);
		expect(shown).toContain(`execution ${executionId} of "First Night", since`);
		await window.screenshot(picturePath('another-at-work'));
		expect(requests.of('E16')).toHaveLength(2);

		faults.clear();
		const { error } = await harness.execution(executionId);
		expect(error).toBeUndefined();
	}, 180_000);

	it('tells by name what the next one would take out of answers', async () => {
		await window.openNode('Look');
		await panel.run();
		await panel.showAs('table');
		const shown = await panel.outputWith(/gone/);
		expect(shown).toContain('bat.md');
		await window.screenshot(picturePath('gone-by-name'));
	});
});
