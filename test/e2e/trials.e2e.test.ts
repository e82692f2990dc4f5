import { ECHO_ASSISTANT_ID, SANDBOX_ASSISTANT_ID, SANDBOX_KNOWLEDGEBASE_ID } from '../../sandbox';
import { EditorWindow } from './support/browser';
import { Clicks } from './support/clicks';
import { NodesPanel } from './support/editorNodesPanel';
import { NodePanel } from './support/editorPanel';
import { picturePath } from './support/editorPictures';
import { itemsNode, workflowOf } from './support/editorWorkflow';
import { useHarness } from './support/harness';

const harness = useHarness();

const ROWS = [
	{ path: 'coffee/cold-brew', title: 'Cold brew', text: 'Cold brew stands for 16 hours.' },
	{ path: 'coffee/espresso', title: 'Espresso', text: 'An espresso takes 25 seconds.' },
];

describe('what five new users do, in the editor, without reading anything', () => {
	let window: EditorWindow;
	let nodes: NodesPanel;
	let panel: NodePanel;
	let clicks: Clicks;

	/** Adds our node behind another one, set to the action that a search for it leads to. */
	const add = async (behind: string, words: string, action: string) => {
		await window.node(behind).click({ position: { x: 20, y: 20 } });
		await nodes.open();
		await nodes.search(words);
		await nodes.entriesWith('Xpert AI');
		await nodes.openActions('Xpert AI');
		await nodes.pick(action);
	};

	beforeAll(async () => {
		await harness.createCredential();
		window = await EditorWindow.open(harness.host);
		clicks = await Clicks.in(window);
		nodes = new NodesPanel(window);
		panel = new NodePanel(window);
	});
	afterAll(async () => await window?.close());

	it('find the rows of a table again', async () => {
		const workflow = workflowOf('Rows', [itemsNode('Rows', ROWS)]);
		await window.openWorkflow(await harness.importWorkflow(workflow));
		clicks.count();
		await add('Rows', 'ingest', 'Submit documents to knowledgebase');
		await panel.fill('knowledgebaseId', SANDBOX_KNOWLEDGEBASE_ID);
		await panel.fill('name', '{{ $json.title }}');
		await panel.fill('text', '{{ $json.text }}');
		await window.screenshot(picturePath('trial-rows-filled'));
		await panel.run();
		await window.screenshot(picturePath('trial-rows'));
		const stored = harness.sandbox.store.documentsOf(SANDBOX_KNOWLEDGEBASE_ID);
		expect(stored.map(({ name }) => name).sort()).toEqual(['Cold brew.md', 'Espresso.md']);
		console.log('clicks', clicks.count());
	});
});
