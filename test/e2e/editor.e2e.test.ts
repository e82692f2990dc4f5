import { chunk, map } from 'lodash';

import type { WorkflowFile } from '../../host/examples';
import { waitFor } from '../../host/waitFor';
import { catalogue } from '../../nodes/XpertAi/catalogue';
import { itemsNode, triggerNode, workflowOf, xpertAiNode } from '../queue/support/ingestion';
import { EditorWindow } from './support/browser';
import { chatTrigger, twoNodes } from './support/chat';
import { CredentialDialog } from './support/editorCredential';
import { everyParameter, kindsShown, topLabels } from './support/editorLabels';
import { NodesPanel } from './support/editorNodesPanel';
import { NodePanel } from './support/editorPanel';
import { PANEL, picturePath, readmePicture } from './support/editorPictures';
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
		expect(await nodes.openActions('Xpert AI')).toEqual(actions);
		await window.page.getByText(/Starts the workflow when.*asks assistants and fills/).waitFor();
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
			'The Base URL must start with https:// and lead to an Xpert AI server: enter only https://host. For http:// to another host, switch on Allow Insecure HTTP.',
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
		expect(await entries.allInnerTexts()).toEqual([
			'Sandbox Assistant',
			'Echo',
			'Broken',
			'Departments',
		]);
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
		const named = [...map(operations, 'subtitle'), 'Failed, Waiting for a Person'];
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

describe('documents and answers in the editor', () => {
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
			[itemsNode('Questions', [{ question: 'How long does the cleaning run last?' }]), ask],
		);
		workflowId = await importWorkflow(workflow);
		await window.openWorkflow(workflowId);
	});
	afterEach(async () => await panel.close());

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
		await window.openWorkflow(await importWorkflow('folder-of-files.json'));
		await window.page.getByRole('button', { name: 'Execute workflow' }).last().click();
		const success = window.find('canvas-node-status-success', window.node('Submit Documents'));
		await success.waitFor({ timeout: 30_000 });
		// The last node has ended before the execution has.
		await window.page.locator('button[aria-busy="true"]').waitFor({ state: 'hidden' });
		await window.screenshot(picturePath('canvas'));

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
		await window.screenshot(picturePath('ask'), PANEL);
	});
});

describe('the example "human in the loop" in n8n', () => {
	const DELETE = 'ASK A PERSON whether to delete the file';

	beforeAll(async () => await harness.activate(await importWorkflow('human-in-the-loop.json')));

	it.each([
		['confirm', `Tool said: Confirmed: ${DELETE}`],
		['reject', 'Rejected: nothing was carried out.'],
	])('asks the person in the words of the run, and goes on after "%s"', async (decision, done) => {
		const { page } = window;
		const form = `${harness.host.url}/form/ask-with-approval`;
		await waitFor('the form', async () => (await page.request.get(form)).ok() || undefined);
		await page.goto(form);
		await page.getByLabel('Question').fill(DELETE);
		await page.getByRole('button', { name: 'Ask' }).click();
		// The words stand in the task that the conversation holds, as recorded.
		const words = /would like to call SubAgent \(.+\)\.\s*input: ASK A PERSON whether to delete/;
		await page.getByText(words).waitFor({ timeout: 30_000 });
		await page.getByLabel('Decision').selectOption(decision);
		await window.screenshot(picturePath(`human-in-the-loop-${decision}`));
		await page.getByRole('button', { name: 'Decide' }).click();
		await page.getByText(done).first().waitFor({ timeout: 30_000 });
		const decided = harness.sandbox.requests.of('runs').at(-1)?.body;
		expect(decided).toMatchObject({ input: { action: 'resume', decision: { type: decision } } });
	});
});

describe('a chat that does not stream', () => {
	it('says in the same sentence that there is no answer, where the node goes on', async () => {
		const {
			nodes: [start, ask],
			...rest
		} = twoNodes(chatTrigger({}), '={{ $json.chatInput }}');
		const going = { ...ask, onError: 'continueRegularOutput' };
		await window.openWorkflow(
			await importWorkflow({ ...rest, nodes: [start, going] } as WorkflowFile),
		);
		await window.say('FAIL');
		const answer = window.page.locator('.chat-message-from-bot:not(.chat-message-typing)').last();
		await answer.waitFor({ timeout: 30_000 });
		expect((await answer.innerText()).trim()).toBe(
			'Sorry, there is no answer right now, please try again later.',
		);
		await window.screenshot(picturePath('chat-of-a-failed-run'));
	});
});

it('the page of the editor complains about nothing', () => {
	expect(window.problems).toEqual([]);
});
