import { chunk } from 'lodash';

import { catalogue } from '../../nodes/XpertAi/catalogue';
import { EditorWindow } from './support/browser';
import { everyParameter, topLabels } from './support/editorLabels';
import { NodePanel } from './support/editorPanel';
import { triggerNode, workflowOf, xpertAiNode } from '../queue/support/ingestion';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();
const NODES_IN_A_ROW = 5;

const operations = catalogue.flatMap((resource) =>
	resource.operations.map((operation) => ({
		name: `${resource.name} ${operation.name}`,
		subtitle: `${operation.name}: ${resource.name}`,
		parameters: everyParameter({ resource: resource.value, operation: operation.value }),
	})),
);

describe("every operation's panel in the editor", () => {
	let window: EditorWindow;
	let panel: NodePanel;

	beforeAll(async () => {
		window = await EditorWindow.open(harness.host);
		panel = new NodePanel(window);
		const nodes = operations.map(({ name, parameters }) => xpertAiNode(name, parameters));
		const trigger = triggerNode('Trigger', { events: ['failed', 'waiting'] });
		// On a row of its own, as its button would lie over the node before it.
		const rows = [...chunk(nodes, NODES_IN_A_ROW), [trigger]];
		const workflow = workflowOf('Every operation', ...rows);
		const credential = await harness.createCredential();
		await window.openWorkflow(await harness.importWorkflow(workflow, credential));
	});
	afterEach(async () => await panel.close());
	afterAll(async () => await window?.close());

	it.each(operations)(
		'shows all labels of $name with every optional field added',
		async ({ name, subtitle, parameters }) => {
			expect(await window.node(name).innerText()).toContain(subtitle);
			await window.openNode(name);
			const labels = topLabels(parameters);
			const lines = await panel.linesWith(labels);
			expect(labels.filter((label) => !lines.includes(label))).toEqual([]);
			expect(lines.join('\n')).not.toMatch(/undefined|\[object Object\]|NaN|null/);
		},
	);

	it('is named by its events where it is the trigger', async () => {
		expect(await window.node('Trigger').innerText()).toContain('Failed, Waiting for a Person');
	});

	it('makes the page complain about nothing', () => {
		expect(window.problems).toEqual([]);
	});
});
