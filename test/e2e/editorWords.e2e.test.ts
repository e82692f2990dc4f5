import { catalogue } from '../../nodes/XpertAi/catalogue';
import { OPERATIONS, PROPERTIES } from '../nodes/support/properties';
import { optionDescriptions } from '../nodes/support/words';
import { EditorWindow } from './support/browser';
import { NodePanel } from './support/editorPanel';
import { picturePath } from './support/editorPictures';
import { triggerNode, workflowOf, xpertNode } from './support/editorWorkflow';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

const FIRSTS = catalogue.map(({ value, name, operations: [first] }) => ({
	name,
	parameters: { resource: value, operation: first?.value ?? '' },
}));

/** What of an entry in an open list tells whether its text is cut. */
interface Entry {
	textContent: string | null;
	scrollHeight: number;
	clientHeight: number;
}

/** The texts that do not fit into an entry of the list that is open, tried in a real one. */
function cutIn(entry: Entry, texts: string[]): string[] {
	const own = entry.textContent;
	const cut = texts.filter((text) => {
		entry.textContent = text;
		return entry.scrollHeight > entry.clientHeight;
	});
	entry.textContent = own;
	return cut;
}

describe('the words of the node in the editor', () => {
	let window: EditorWindow;
	let panel: NodePanel;

	beforeAll(async () => {
		window = await EditorWindow.open(harness.host);
		panel = new NodePanel(window);
		const nodes = OPERATIONS.map(({ title, resource, operation }) =>
			xpertNode(title, { resource: resource.value, operation: operation.value }),
		);
		const trigger = triggerNode('Trigger', { events: ['failed', 'waiting'] });
		const workflow = workflowOf(
			'Words',
			...FIRSTS.map(({ name, parameters }) => [xpertNode(name, parameters)]),
			nodes,
			[trigger],
		);
		await window.openWorkflow(
			await harness.importWorkflow(workflow, await harness.createCredential()),
		);
		await window.screenshot(picturePath('subtitles'));
	});
	afterAll(async () => await window?.close());

	it.each(OPERATIONS)('name $title below the node', async ({ title, resource, operation }) => {
		expect(await window.node(title).innerText()).toContain(`${operation.name}: ${resource.name}`);
	});

	it('name the events below the trigger', async () => {
		expect(await window.node('Trigger').innerText()).toContain('Failed, Waiting for a Person');
	});

	it.each(FIRSTS)('are shown whole in the list of operations of $name', async ({ name }) => {
		await window.openNode(name);
		await panel.find('parameter-input-operation').locator('input').first().click();
		const entries = window.page.locator('.option-description:visible');
		await entries.first().waitFor();
		await window.page.screenshot({ path: picturePath(`operations-${name}`) });
		const texts = await entries.allTextContents();
		expect(await entries.first().evaluate(cutIn, texts)).toEqual([]);
		expect(await entries.first().evaluate(cutIn, optionDescriptions(PROPERTIES))).toEqual([]);
		await window.page.keyboard.press('Escape');
		await panel.close();
	});
});
