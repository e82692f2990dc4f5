import { COPILOT_ID, ECHO_ASSISTANT_ID } from 'sandbox';
import { byId } from '../engine/support/locators';
import { chain, itemsNode, manualTrigger, xpertAiNode } from '../queue/support/ingestion';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();
const NODE = 'Xpert AI';

/** Runs one node by hand with these items. On Error is Continue. */
async function run(parameters: object, items: object[]) {
	const node = { ...xpertAiNode(NODE, parameters), onError: 'continueRegularOutput' };
	const workflow = chain('Missing values', manualTrigger(), itemsNode('Items', items), node);
	const id = await harness.importWorkflow(workflow, await harness.createCredential());
	return await harness.runManually(id);
}

function knowledgebase(): string {
	const { id } = harness.sandbox.store.putKnowledgebase({
		name: 'Values',
		copilotModelId: COPILOT_ID,
	});
	return id;
}

const BY_NAME = { documentKey: '={{ $json.name }}' };

const submitTo = (knowledgebaseId: string, more = {}) => ({
	resource: 'document',
	operation: 'submit',
	knowledgebaseId: byId(knowledgebaseId),
	source: 'text',
	text: '={{ $json.text }}',
	name: '={{ $json.name }}',
	mode: 'changed',
	sourceName: 'values',
	...more,
});

describe('a value that is missing in the real n8n', () => {
	it('makes no conversation key: the item is refused, and the part is named', async () => {
		const execution = await run(
			{
				resource: 'thread',
				operation: 'run',
				threadSource: 'key',
				assistantId: byId(ECHO_ASSISTANT_ID),
				conversationKey: '={{ $json.channel }}:{{ $json.user }}',
				message: 'Who am I?',
			},
			[{ channel: 'mail' }, { channel: 'mail', user: 'ann' }],
		);
		const [refused, answered] = execution.json(NODE);
		expect(refused?.error).toMatch(/"Conversation Key".*\{\{ \$json\.user \}\}.*gave nothing/);
		expect(answered?.status).toBe('completed');
	});

	it('makes no document key: these items are refused, the others are stored', async () => {
		const documentKey = '=handbook/{{ $json.id }}';
		const execution = await run(submitTo(knowledgebase(), { documentKey }), [
			{ name: 'A', text: 'One.' },
			{ name: 'B', text: 'Two.' },
			{ name: 'C', text: 'Three.', id: 3 },
		]);
		const items = execution.json(NODE);
		const errors = items.flatMap(({ error }) => (error === undefined ? [] : [String(error)]));
		expect(errors).toHaveLength(2);
		for (const error of errors) expect(error).toMatch(/\{\{ \$json\.id \}\}.*gave nothing/);
		expect(items.map(({ outcome }) => outcome)).toContain('found');
	});

	it('makes no version: the content is compared, and a hint counts the items', async () => {
		const documentSettings = { documentVersion: '=v{{ $json.rev }}' };
		const parameters = submitTo(knowledgebase(), { ...BY_NAME, documentSettings });
		await run(parameters, [{ name: 'A', text: 'One.' }]);
		const execution = await run(parameters, [{ name: 'A', text: 'Changed.' }]);
		expect(execution.json(NODE).map(({ outcome }) => outcome)).toEqual(['found']);
		expect(execution.hints(NODE).join('\n')).toMatch(/"Document Version"/);
	});
});

it('keys that are made otherwise than before are said in the real n8n, and disable nothing', async () => {
	const [id, items] = [
		knowledgebase(),
		[
			{ name: 'A', text: 'One.' },
			{ name: 'B', text: 'Two.' },
		],
	];
	await run(submitTo(id, { ...BY_NAME, mode: 'mirror' }), items);
	const documentKey = '=docs/{{ $json.name }}';
	const execution = await run(submitTo(id, { documentKey, mode: 'mirror' }), items);
	expect(execution.hints(NODE).join('\n')).toMatch(/keys differ from those before/);
	const outcomes = execution.json(NODE).map(({ outcome }) => outcome);
	expect(outcomes).toEqual(['found', 'found']);
});
