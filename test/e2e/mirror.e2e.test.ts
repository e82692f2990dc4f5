import type { WorkflowFile } from 'host/examples';
import { COPILOT_ID } from 'sandbox';
import { byId } from '../engine/support/locators';
import { isNote } from '../engine/support/ingest';
import {
	chain,
	itemsNode,
	manualTrigger,
	xpertAiNode,
	type Node,
} from '../queue/support/ingestion';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();
const NODE = 'Xpert AI';

const everyFiveSeconds = (): Node => ({
	name: 'Every Five Seconds',
	type: 'n8n-nodes-base.scheduleTrigger',
	typeVersion: 1.2,
	parameters: { rule: { interval: [{ field: 'seconds', secondsInterval: 5 }] } },
});

const page = (name: string, words = `${name} sleeps.`) => ({ name, text: words });

/** The node that mirrors to a knowledgebase of its own, and the documents that are found in it with their texts. */
function source() {
	const { store } = harness.sandbox;
	const { id } = store.putKnowledgebase({ name: 'Findable', copilotModelId: COPILOT_ID });
	const node = xpertAiNode(NODE, {
		resource: 'document',
		operation: 'submit',
		knowledgebaseId: byId(id),
		source: 'text',
		text: '={{ $json.text }}',
		mode: 'mirror',
		options: { maxGonePercent: 100 },
		sourceName: 'source',
	});
	const found = () => {
		const documents = store.documentsOf(id).filter((one) => !isNote(one) && !one.disabled);
		const words = (one: { id?: unknown }) => store.findable(String(one.id))?.chunks.join();
		return Object.fromEntries(documents.map((one) => [one.name, words(one)]));
	};
	return { node, found };
}

const STORED_BEFORE = /^3 documents were stored before this source was remembered/;

const imported = async (workflow: WorkflowFile) =>
	await harness.importWorkflow(workflow, await harness.createCredential());
const pages = (trigger: Node, items: object[], ...rest: Node[]) =>
	chain('Pages', trigger, itemsNode('Pages', items), ...rest);

describe('a source that is mirrored after everything was sent', () => {
	const going = (node: Node) => ({ ...node, onError: 'continueRegularOutput' });
	const byHand = async (node: Node, items: object[]) => {
		const id = await imported(pages(manualTrigger(), items, node));
		return { id, execution: await harness.runManually(id) };
	};
	const bySchedule = async (node: Node, items: object[]) => {
		const id = await imported(pages(everyFiveSeconds(), items, node));
		const { rest } = harness.host;
		await harness.activate(id);
		await harness.latestExecution(id);
		await rest.deactivateWorkflow(id);
		// None may be at work when the next run begins.
		const ended = (await rest.listExecutions(id)).map(async (one) => await harness.execution(one));
		return (await Promise.all(ended)).at(-1)!;
	};

	it('loses what it no longer brings only to its schedule, also beside a page that is refused', async () => {
		const { node, found } = source();
		const [bat, fox, owl] = [page('Bat'), page('Fox'), page('Owl')];
		const refused = page('Fox', ' ');
		const all = { 'Bat.md': bat.text, 'Fox.md': fox.text, 'Owl.md': owl.text };
		const everything = { ...node, parameters: { ...Object(node.parameters), mode: 'all' } };
		await byHand(everything, [bat, fox, owl]);
		const first = await bySchedule(node, [bat, fox, owl]);
		expect(first.hints(NODE)).toContainEqual(expect.stringMatching(STORED_BEFORE));

		const { execution: tested } = await byHand(going(node), [refused, owl]);
		expect(tested.hints(NODE)).toContainEqual(
			expect.stringMatching(/^1 of 3 .* would disable them/),
		);
		harness.sandbox.faults.add({ endpoint: 'E3', do: 'status', status: 403 });
		const { id, execution: failed } = await byHand(node, [fox, page('Owl', 'Older.')]);
		harness.sandbox.faults.clear();
		expect([failed.status, found()]).toEqual(['error', all]);

		const later = [refused, page('Owl', 'Newer.'), page('Hare')];
		const second = await bySchedule(going(node), later);
		expect(second.hints(NODE).join()).not.toMatch(STORED_BEFORE);
		const newer = { 'Fox.md': fox.text, 'Owl.md': 'Newer.', 'Hare.md': 'Hare sleeps.' };
		expect(found()).toEqual(newer);

		await harness.host.rest.request('POST', `/rest/executions/${failed.id}/retry`, {});
		const retried = await harness.latestExecution(id);
		expect(retried.id).not.toBe(failed.id);
		const older = /^1 document was not sent: this is a retry, and what is stored may be newer/;
		expect(retried.hints(NODE)).toContainEqual(expect.stringMatching(older));
		expect(found()).toEqual(newer);
	});
});

describe('a sub-workflow that mirrors its source', () => {
	it('disables nothing while somebody tests its parent', async () => {
		const { node, found } = source();
		const called = {
			name: 'When Called',
			type: 'n8n-nodes-base.executeWorkflowTrigger',
			typeVersion: 1.1,
			parameters: { inputSource: 'passthrough' },
		};
		const child = await imported(chain('Child', called, node));
		await harness.activate(child);
		const call = {
			name: 'Call',
			type: 'n8n-nodes-base.executeWorkflow',
			typeVersion: 1.2,
			parameters: { workflowId: byId(child), options: {} },
		};
		const test = async (items: object[]) =>
			await harness.runManually(await imported(pages(manualTrigger(), items, call)));
		expect((await test([page('Owl'), page('Bat')])).error).toBeUndefined();
		expect((await test([page('Owl')])).error).toBeUndefined();
		expect(Object.keys(found())).toHaveLength(2);
	});
});
