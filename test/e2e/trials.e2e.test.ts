import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { INTERRUPTING_INPUT, SANDBOX_KNOWLEDGEBASE_ID, SAYING_ASSISTANT } from '../../sandbox';
import { talk } from '../engine/support/conversations';
import { isNote } from '../engine/support/ingest';
import type { CredentialReference } from '../../host/n8nRestClient';
import { sampleFile } from '../sandbox/support/sampleFiles';
import { useAgents } from './support/agent';
import { EditorWindow } from './support/browser';
import { NodesPanel } from './support/editorNodesPanel';
import { NodePanel } from './support/editorPanel';
import { picturePath } from './support/editorPictures';
import { chain, itemsNode, triggerNode, workflowOf } from '../queue/support/ingestion';
import type { Node } from '../queue/support/ingestion';
import { useHarness } from './support/harness';

const harness = useHarness();
const agents = useAgents(harness, 'How do I install it?');

const ROWS = [
	{ path: 'coffee/cold-brew', title: 'Cold brew', text: 'Cold brew stands for 16 hours.' },
	{ path: 'coffee/espresso', title: 'Espresso', text: 'An espresso takes 25 seconds.' },
];

const FOLDER: Node = {
	name: 'Folder',
	type: 'n8n-nodes-base.readWriteFile',
	typeVersion: 1.1,
	parameters: { operation: 'read', fileSelector: 'documents/manuals/*.pdf', options: {} },
};

const CHAT: Node = {
	name: 'Chat',
	type: '@n8n/n8n-nodes-langchain.chatTrigger',
	typeVersion: 1.1,
	webhookId: '5d1c2f8e-0b0a-4f5e-9a3e-6a1f3f1f0a99',
	parameters: { options: {} },
};

describe('what six new users do, in the editor, without reading anything', () => {
	let window: EditorWindow;
	let nodes: NodesPanel;
	let panel: NodePanel;
	let clicked = 0;
	let credential: CredentialReference;

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
		credential = await harness.createCredential();
		window = await EditorWindow.open(harness.host);
		await window.page.exposeFunction('xpertaiClicked', () => (clicked += 1));
		await window.page.addInitScript(
			"document.addEventListener('click', (event) => event.isTrusted && window.xpertaiClicked(), true)",
		);
		nodes = new NodesPanel(window);
		panel = new NodePanel(window);
	});
	afterAll(async () => await window?.close());

	it('keep the rows of a table found, each run making the knowledgebase equal it', async () => {
		const workflow = workflowOf('Rows', [itemsNode('Rows', ROWS)]);
		await window.openWorkflow(await harness.importWorkflow(workflow));
		clicked = 0;
		await add('Rows', 'ingest', 'Submit documents to knowledgebase');
		await panel.fill('knowledgebaseId', SANDBOX_KNOWLEDGEBASE_ID);
		await panel.fill('text', '{{ $json.text }}');
		await panel.choose('mode', 'Mirror the Source (Remove What Is Gone)');
		await window.screenshot(picturePath('trial-rows-filled'));
		await panel.run();
		await window.screenshot(picturePath('trial-rows'));
		await panel.outputWith(/found/);
		expect(namesStored()).toEqual(['Cold brew.md', 'Espresso.md']);
		expect(clicked).toBeLessThanOrEqual(8);
		await panel.run();
		await panel.outputWith(/unchanged/);
		expect(namesStored()).toEqual(['Cold brew.md', 'Espresso.md']);
	});

	it('are told which PDF of a folder is broken', async () => {
		const folder = path.join(harness.host.documents, 'manuals');
		mkdirSync(folder);
		for (const name of ['grinder.pdf', 'kettle.pdf', 'broken.pdf'])
			writeFileSync(path.join(folder, name), sampleFile(name, 1_000));
		await window.openWorkflow(await harness.importWorkflow(workflowOf('Folder', [FOLDER])));
		clicked = 0;
		await add('Folder', 'upload file', 'Submit documents to knowledgebase');
		await panel.choose('source', 'Files');
		await panel.fill('knowledgebaseId', SANDBOX_KNOWLEDGEBASE_ID);
		await panel.run();
		await window.screenshot(picturePath('trial-folder'));
		const told = await panel.output.innerText();
		expect(told).toContain('broken.pdf');
		expect(told).toContain('Documents: 2 found, 1 stored');
		expect(told).not.toContain('kettle.pdf');
		expect(clicked).toBeLessThanOrEqual(9);
		const found = harness.sandbox.store.documentsOf(SANDBOX_KNOWLEDGEBASE_ID);
		expect(found.filter(({ status }) => status === 'finish').map(({ name }) => name)).toEqual(
			expect.arrayContaining(['grinder.pdf', 'kettle.pdf']),
		);
	});

	it('make a bot that knows each person', async () => {
		harness.sandbox.store.putAssistant(SAYING_ASSISTANT);
		await window.openWorkflow(await harness.importWorkflow(chain('Bot', CHAT)));
		clicked = 0;
		await add('Chat', 'ask assistant', 'Ask assistant and wait for answer');
		const entries = await panel.openList('assistantId');
		await entries.filter({ hasText: SAYING_ASSISTANT.title }).click();
		await panel.close();
		await window.page.getByRole('button', { name: 'Open chat' }).last().click();
		await say('I am Ann');
		await window.page.getByText('You said: I am Ann [users seen: 1]').last().waitFor();
		await say('And now?');
		await window.page.getByText('You said: And now? [users seen: 2]').last().waitFor();
		await window.screenshot(picturePath('trial-bot'));
		expect(clicked).toBeLessThanOrEqual(12);
	});

	it('are told of a run that waits, and decide on it', async () => {
		const thread = await talk(harness.sandbox, INTERRUPTING_INPUT, {
			title: 'Mail',
		});
		const workflow = chain('Approval', triggerNode('Waiting', {}));
		await window.openWorkflow(await harness.importWorkflow(workflow, credential));
		clicked = 0;
		await window.openNode('Waiting');
		await panel
			.find('trigger-execute-button')
			.or(panel.find('node-execute-button'))
			.first()
			.click();
		await panel.outputWith(/Mail/);
		await panel.close();
		await add('Waiting', 'approve', 'Decide on waiting run');
		await panel.choose('decision', 'Confirm');
		await panel.run();
		await panel.outputWith(/completed/);
		await window.screenshot(picturePath('trial-decision'));
		expect(harness.sandbox.store.threads.get(thread)?.status).toBe('idle');
		expect(clicked).toBeLessThanOrEqual(14);
	});

	it('give an agent of n8n an assistant to ask', async () => {
		harness.sandbox.store.putAssistant(SAYING_ASSISTANT);
		await window.openWorkflow(await agents.put({ version: 3, executionOrder: 'v1', tool: false }));
		clicked = 0;
		await nodes.openFor('AI Agent', 'Tool');
		await nodes.search('ask assistant');
		await nodes.entriesWith('Xpert AI');
		await window.screenshot(picturePath('trial-agent-nodes'));
		await nodes.pick('Xpert AI');
		const entries = await panel.openList('assistantId');
		await entries.filter({ hasText: SAYING_ASSISTANT.title }).click();
		await window.screenshot(picturePath('trial-agent-tool'));
		await panel.close();
		await window.openNode('AI Agent');
		await panel.run();
		await panel.outputWith(/You said: How do I install it\?/);
		await window.screenshot(picturePath('trial-agent'));
		expect(clicked).toBeLessThanOrEqual(9);
	});

	it('start a long run, and pick up its answer', async () => {
		harness.sandbox.store.putAssistant(SAYING_ASSISTANT);
		const question = itemsNode('Question', [{ chatInput: 'How do I descale it?' }]);
		await window.openWorkflow(await harness.importWorkflow(workflowOf('Long', [question])));
		clicked = 0;
		await add('Question', 'start run', 'Start run');
		const entries = await panel.openList('assistantId');
		await entries.filter({ hasText: SAYING_ASSISTANT.title }).click();
		await panel.run();
		await panel.outputWith(/running/);
		await panel.close();
		const started = window.page.locator('[data-test-id="canvas-node"]').last();
		await add(String(await started.getAttribute('data-node-name')), 'wait for run', 'Wait for run');
		await panel.run();
		await panel.outputWith(/You said: How do I descale it\?/);
		await window.screenshot(picturePath('trial-long-run'));
		expect(clicked).toBeLessThanOrEqual(14);
	});

	it('make the page complain about nothing', () => {
		expect(window.problems).toEqual([]);
	});

	const namesStored = () =>
		harness.sandbox.store
			.documentsOf(SANDBOX_KNOWLEDGEBASE_ID)
			.filter((document) => !isNote(document))
			.map(({ name }) => name)
			.sort();

	/** Says something in the chat that is open. */
	async function say(text: string): Promise<void> {
		const input = window.page.locator('textarea:visible').last();
		await input.fill(text);
		await input.press('Enter');
	}
});
