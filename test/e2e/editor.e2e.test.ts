import { chunk, map } from 'lodash';

import { waitFor } from 'host/waitFor';
import { catalogue } from 'nodes/XpertAi/catalogue';
import { byId } from '../engine/support/locators';
import { triggerNode, workflowOf, xpertAiNode } from '../queue/support/ingestion';
import { EditorWindow } from './support/browser';
import { CredentialDialog } from './support/editorCredential';
import { everyParameter, kindsShown, topLabels } from './support/editorLabels';
import { NodesPanel } from './support/editorNodesPanel';
import { NodePanel } from './support/editorPanel';
import { picturePath, readmePicture } from './support/editorPictures';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();
const QUESTION = 'How do I reset the device?';
const ASK = 'Ask assistant and wait for answer';

/** What people type who need the node or its trigger, whose actions stand in one entry of the panel. */
const WORDS = [
	...['knowledge base', 'RAG', 'vector store', 'upload file', 'sync', 'ask assistant', 'chat'],
	...['human in the loop', 'conversation failed'],
];

let window: EditorWindow;
let nodes: NodesPanel;
let panel: NodePanel;

beforeAll(async () => {
	window = await EditorWindow.open(harness.host);
	nodes = new NodesPanel(window);
	panel = new NodePanel(window);
});
afterAll(async () => await window?.close());

const importWorkflow = async (workflow: Parameters<typeof harness.importWorkflow>[0]) =>
	await harness.importWorkflow(workflow, await harness.createCredential());

describe('the node in the editor, from the search to the answer', () => {
	let credential: CredentialDialog;

	beforeAll(async () => {
		credential = new CredentialDialog(window);
		await window.openWorkflow(await harness.importWorkflow(workflowOf('From the search')));
		await nodes.open();
	});

	it.each(WORDS)('is found by "%s"', async (words) => {
		await nodes.search(words);
		expect(await nodes.entriesWith('Xpert AI')).toContain('Xpert AI');
	});

	it('offers every operation as an action, in the order of the catalogue', async () => {
		await nodes.search('knowledge base');
		const actions = catalogue.flatMap(({ operations }) => operations.map(({ action }) => action));
		await nodes.openActions('Xpert AI');
		expect(await nodes.entries(actions.length)).toEqual(actions);
		await window.page.getByText(/Asks assistants and fills.*starts the workflow when/).waitFor();
		await window.screenshot(picturePath('actions'), { x: 640, y: 0, width: 800, height: 900 });
	});

	it('opens the panel of the action that is picked', async () => {
		await nodes.pick(ASK);
		expect(await panel.lines()).toEqual(
			expect.arrayContaining(['Resource', 'Operation', 'Assistant', 'Message']),
		);
	});

	it('takes a credential, saying what is wrong with it until its test passes', async () => {
		await credential.create();
		await credential.enter('baseUrl', 'http://xpert.example.com');
		await credential.enter('accessToken', 'wrong-token');
		await credential.save();
		await credential.seesReason(
			'The Base URL must start with https://, or with http:// on this machine, and lead to an Xpert AI server. For http:// to another host, switch on Allow Insecure HTTP.',
		);
		await credential.enter('baseUrl', harness.sandbox.url);
		await credential.save();
		await credential.seesReason(
			'The server did not accept the access token: make one under Settings → API Keys of the server',
		);
		await window.screenshot(picturePath('credential-refused'));

		await credential.enter('accessToken', harness.sandbox.accessToken);
		await credential.save();
		await credential.isClosed();
		await credential.edit();
		await credential.seesSuccess();
		await window.screenshot(readmePicture('credential'));
		await credential.close();
		expect(await credential.isOpen()).toBe(false);
	});

	it('lists the assistants and filters them as the user types', async () => {
		const entries = await panel.openList('assistantId');
		const names = await entries.allInnerTexts();
		expect(names.slice(0, 4)).toEqual(['Sandbox Assistant', 'Echo', 'Broken', 'Departments']);
		expect(names).toHaveLength(harness.sandbox.store.assistants.size);
		await panel.filterList('ech');
		await entries.filter({ hasText: 'Broken' }).waitFor({ state: 'hidden' });
		await entries.first().waitFor();
		expect(await entries.allInnerTexts()).toEqual(['Echo']);
		await entries.first().click();
		expect(
			await panel.parameters
				.locator('[data-test-id="resource-locator-assistantId"] input')
				.last()
				.inputValue(),
		).toBe('Echo');
	});

	it('runs the thread of a pasted address and shows the reply', async () => {
		const { threadId } = harness.sandbox.store.putConversation({ title: 'Pasted' });
		await panel.choose('threadSource', 'Existing Thread');
		await panel.enterId('threadId', `https://xpert.example.com/chat/c/${threadId}?tab=1`);
		await panel.fill('message', QUESTION);
		await panel.run();
		await panel.showAs('json');
		const shown = await panel.outputWith(/completed/);
		expect(shown).toContain(QUESTION);
		expect(shown).toContain(threadId);
		expect(harness.sandbox.requests.of('runs')).toHaveLength(1);
		await window.screenshot(picturePath('run-by-address'));
		await panel.close();
	});
});

const operations = catalogue.flatMap((resource) =>
	resource.operations.map((operation) => ({
		name: `${resource.name} ${operation.name}`,
		subtitle: `${operation.name}: ${resource.name}`,
		parameters: everyParameter({ resource: resource.value, operation: operation.value }),
	})),
);

/** Those whose panels show a kind of field that none before them shows. */
const seen = new Set<string>();
const panels = operations.filter(({ parameters }) => {
	const fresh = kindsShown(parameters).filter((kind) => !seen.has(kind));
	for (const kind of fresh) seen.add(kind);
	return fresh.length > 0;
});

describe('every operation on the canvas', () => {
	const NODES_IN_A_ROW = 5;

	beforeAll(async () => {
		const rows = operations.map(({ name, parameters }) => xpertAiNode(name, parameters));
		const trigger = triggerNode('Trigger', { events: ['failed', 'waiting'] });
		// On a row of its own, as its button would lie over the node before it.
		const chains = [...chunk(rows, NODES_IN_A_ROW), [trigger]];
		await window.openWorkflow(await importWorkflow(workflowOf('Every operation', ...chains)));
	});
	afterEach(async () => await panel.close());

	it('is named below its node, the trigger by its events', async () => {
		const shown = await Promise.all(
			[...map(operations, 'name'), 'Trigger'].map(
				async (name) => await window.node(name).innerText(),
			),
		);
		const named = [...map(operations, 'subtitle'), 'Conversation: Failed, Waiting for a Person'];
		expect(shown).toEqual(named.map((subtitle) => expect.stringContaining(subtitle)));
	});

	it.each(panels)(
		'shows all labels of $name with every optional field added',
		async ({ name, parameters }) => {
			await window.openNode(name);
			const labels = topLabels(parameters);
			const lines = await panel.linesWith(labels);
			expect(labels.filter((label) => !lines.includes(label))).toEqual([]);
			expect(lines.join('\n')).not.toMatch(/undefined|\[object Object\]|NaN|null/);
		},
	);
});

it('offers the fields of a document to map, its name first, and needs no other', async () => {
	const { store } = harness.sandbox;
	const { id } = store.putKnowledgebase({ name: 'Handbook' });
	const submit = xpertAiNode('Map Fields', {
		resource: 'document',
		operation: 'submit',
		source: 'fields',
		options: { afterStoring: 'nothing' },
		knowledgebaseId: byId(id),
		documentFields: { mappingMode: 'defineBelow', value: null },
	});
	await window.openWorkflow(await importWorkflow(workflowOf('Documents', [submit])));
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
	expect(store.documentsOf(id)).toMatchObject([{ name: 'mapped.md' }]);
});

describe('the example "human in the loop" in n8n', () => {
	const DELETE = 'ASK A PERSON whether to delete the file';

	beforeAll(async () => await harness.activate(await importWorkflow('human-in-the-loop.json')));

	it.each([
		['Confirm', `Tool said: Confirmed: ${DELETE}`],
		['Reject', 'Rejected: nothing was carried out.'],
	])('asks the person in the words of the run, and goes on after "%s"', async (decision, done) => {
		const { page } = window;
		const type = decision.toLowerCase();
		const form = `${harness.host.url}/form/ask-with-approval`;
		await waitFor('the form', async () => (await page.request.get(form)).ok() || undefined);
		await page.goto(form);
		await page.getByLabel('Question').fill(DELETE);
		await page.getByRole('button', { name: 'Ask' }).click();
		// The words stand in the task that the conversation holds, as recorded.
		const words = /would like to call SubAgent \(.+\)\.\s*input: ASK A PERSON whether to delete/;
		await page.getByText(words).waitFor();
		await page.getByLabel('Decision').selectOption(decision);
		await window.screenshot(picturePath(`human-in-the-loop-${type}`));
		await page.getByRole('button', { name: 'Decide' }).click();
		await page.getByText(done).first().waitFor();
		const decided = harness.sandbox.requests.of('runs').at(-1)?.body;
		expect(decided).toMatchObject({ input: { action: 'resume', decision: { type } } });
	});
});

it('the page of the editor complains about nothing', () => {
	expect(window.problems).toEqual([]);
});
