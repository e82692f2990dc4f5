import type { INodeParameters } from 'n8n-workflow';

import { catalogue } from '../../nodes/XpertAi/catalogue';
import { EditorWindow } from './support/browser';
import { everyParameter, innerLabels, topLabels } from './support/editorLabels';
import { NodePanel } from './support/editorPanel';
import { workflowOf, xpertNode, type WorkflowNode } from './support/editorWorkflow';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();
const NODES_IN_A_ROW = 5;

const operations = catalogue.flatMap((resource) =>
	resource.operations.map((operation) => ({
		name: `${resource.name} ${operation.name}`,
		parameters: everyParameter({ resource: resource.value, operation: operation.value }),
	})),
);

/** Those of `labels` that are lines of a panel, each once, in the order they are read. */
function inReadingOrder(lines: string[], labels: string[]): string[] {
	let next = 0;
	return labels.filter((label) => {
		const found = lines.indexOf(label, next);
		if (found >= 0) next = found + 1;
		return found >= 0;
	});
}

describe("every operation's panel in the editor", () => {
	let window: EditorWindow;
	let panel: NodePanel;

	const openWorkflowWith = async (cases: Array<{ name: string; parameters: INodeParameters }>) => {
		const credential = await harness.createCredential();
		const rows: WorkflowNode[][] = [];
		cases.forEach(({ name, parameters }, index) => {
			const row = (rows[Math.floor(index / NODES_IN_A_ROW)] ??= []);
			row.push(xpertNode(name, parameters));
		});
		const workflow = workflowOf('Every operation', ...rows);
		await window.openWorkflow(await harness.importWorkflow(workflow, credential));
	};

	beforeAll(async () => {
		window = await EditorWindow.open(harness.host);
		panel = new NodePanel(window);
	});
	afterEach(async () => await panel.close());
	afterAll(async () => await window?.close());

	describe('with every optional field added', () => {
		beforeAll(async () => await openWorkflowWith(operations));

		it.each(operations)('shows all labels of $name', async ({ name, parameters }) => {
			await window.openNode(name);
			const labels = topLabels(parameters);
			const inner = innerLabels(parameters);
			const lines = await panel.linesWith([...labels, ...inner]);
			expect(inReadingOrder(lines, labels)).toEqual(labels);
			expect(inner.filter((label) => !lines.includes(label))).toEqual([]);
			expect(lines.join('\n')).not.toMatch(/undefined|\[object Object\]|NaN|null/);
		});
	});

	it('makes the page complain about nothing', () => {
		expect(window.problems).toEqual([]);
	});
});
