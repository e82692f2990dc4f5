import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { map, uniq } from 'lodash';

import { exampleFiles, readExample, toNewWorkflow } from 'host/examples';
import { SANDBOX_CREDENTIAL, setUpWorkspace } from 'host/setUp';
import { waitFor } from 'host/waitFor';
import { INTERRUPTING_INPUT, SANDBOX_KNOWLEDGEBASE_ID, SAYING_ASSISTANT } from 'sandbox';
import { talk } from '../engine/support/conversations';
import { isNote } from '../engine/support/ingest';
import {
	chain,
	ingestion,
	itemsNode,
	manualTrigger,
	triggerNode,
	webhookTrigger,
	workflowOf,
	writeDocuments,
	type Node,
} from '../queue/support/ingestion';
import { sampleFile } from '../sandbox/support/sampleFiles';
import { useAgents } from './support/agent';
import { EditorWindow } from './support/browser';
import { chatTrigger } from './support/chat';
import { NodesPanel } from './support/editorNodesPanel';
import { NodePanel } from './support/editorPanel';
import { PANEL, picturePath, readmePicture } from './support/editorPictures';
import { useHarness } from './support/harness';

/** One n8n of their own, from its first start: the tests go one after another. */
const harness = useHarness();
const inShell = promisify(execFile);
let window: EditorWindow;
let nodes: NodesPanel;
let panel: NodePanel;
let clicked = 0;

beforeAll(async () => {
	window = await EditorWindow.open(harness.host);
	await window.page.exposeFunction('xpertaiClicked', () => (clicked += 1));
	await window.page.addInitScript(
		"document.addEventListener('click', (event) => event.isTrusted && window.xpertaiClicked(), true)",
	);
	nodes = new NodesPanel(window);
	panel = new NodePanel(window);
});
afterAll(async () => await window?.close());

const lines: string[] = [];
const setUp = async (url = harness.sandbox.url) =>
	await setUpWorkspace(harness.host, { url, token: harness.sandbox.accessToken }, (line) =>
		lines.push(line),
	);
const list = async (path: string) =>
	(await harness.host.rest.request('GET', path)) as Array<{ id: string; name: string }>;
const idOf = (fileName: string) => harness.host.state.examples[fileName] ?? '';

describe('what npm start sets up', () => {
	it('is the credential and every example, once', async () => {
		await setUp();
		lines.splice(0);
		await setUp();
		expect(lines).toEqual([]);
		expect((await list('/rest/credentials')).map(({ name }) => name)).toEqual([SANDBOX_CREDENTIAL]);
		expect(await list('/rest/workflows')).toHaveLength(exampleFiles().length);
	});

	it('follows a sandbox that has moved, but leaves a credential alone that points elsewhere', async () => {
		const { rest, state } = harness.host;
		const id = state.credential?.id ?? '';
		const baseUrl = async () => (await rest.findCredential(id))?.data.baseUrl;
		const { url: home, accessToken } = harness.sandbox;
		const pointTo = async (url: string) =>
			await rest.updateCredential(id, {
				name: SANDBOX_CREDENTIAL,
				type: 'xpertAiApi',
				data: { baseUrl: url, accessToken },
			});
		await setUp('http://127.0.0.1:4999');
		expect(await baseUrl()).toBe('http://127.0.0.1:4999');
		await pointTo('https://xpert.example.com');
		await setUp('http://127.0.0.1:5000');
		expect(await baseUrl()).toBe('https://xpert.example.com');
		await pointTo('http://127.0.0.1:4999');
		await setUp(home);
		expect(await baseUrl()).toBe(home);
	});
});

const QUESTION = 'How long does the warranty last?';
const ANSWER =
	/According to "warranty.pdf": "The warranty for the Hobnell 250 lasts three years [^"]*"/;

/** What the first note of a workflow says. */
function noteIn(nodes: unknown): string {
	const [note] = nodes as Array<{ parameters: { content?: string } }>;
	return note?.parameters.content ?? '';
}

describe('the first five minutes', () => {
	const shown = (text: string | RegExp) => window.page.getByText(text).last();

	it('begin with a list of workflows in the order to open', async () => {
		await window.page.goto(`${harness.host.url}/home/workflows`);
		const cards = window.find('workflow-card-name');
		await cards.first().waitFor();
		await window.screenshot(picturePath('workflows'));
		expect((await cards.allInnerTexts()).map((text) => text.split('\n')[0])).toEqual(
			exampleFiles().map((file) => readExample(file).name),
		);
	});

	it('show the notes of every example whole', async () => {
		const stickies = exampleFiles().flatMap((file) =>
			readExample(file).nodes.filter(({ type }) => type.endsWith('.stickyNote')),
		);
		// Side by side on one canvas.
		const nodesShown = stickies.map((note, at) => ({
			...note,
			id: `${at}`,
			name: `Note ${at}`,
			position: [(at % 8) * 900, Math.floor(at / 8) * 900],
		}));
		const notes = {
			name: 'Notes',
			nodes: [
				...nodesShown,
				{ ...manualTrigger(), id: 'start', typeVersion: 1, parameters: {}, position: [-400, 0] },
			],
			connections: {},
		};
		const { id } = await harness.host.rest.createWorkflow(toNewWorkflow(notes, []));
		await window.openWorkflow(id);
		const drawn = window.page.locator('.n8n-sticky');
		await drawn.nth(stickies.length - 1).waitFor();
		await window.screenshot(picturePath('example-notes'));
		const cutOff = await drawn.evaluateAll((elements) =>
			elements
				.flatMap((element) => [element, ...element.querySelectorAll('*')])
				.filter(
					({ scrollHeight, clientHeight }) => clientHeight > 40 && scrollHeight > clientHeight + 1,
				)
				.map((element) => element.textContent?.slice(0, 40)),
		);
		expect(cutOff).toEqual([]);
		await harness.host.rest.archiveWorkflow(id);
	});

	it('run the first workflow as it is, and show what became of its files', async () => {
		await window.openWorkflow(idOf('folder-of-files.json'));
		await window.page.getByRole('button', { name: 'Execute workflow' }).last().click();
		await window.find('canvas-node-status-success', window.node('Submit Documents')).waitFor();
		await window.page.locator('button[aria-busy="true"]').waitFor({ state: 'hidden' });
		await window.screenshot(picturePath('first-run'));

		await window.openNode('Submit Documents');
		await panel.linesWith(['Name']);
		await panel.showAs('schema', panel.input);
		await panel.showAs('table');
		expect(await panel.outputWith(/safety\.md/)).toContain('found');
		await window.screenshot(readmePicture('submit'), PANEL);
		await panel.run();
		expect(await panel.outputWith(/unchanged/)).not.toContain('rejected');
		await panel.close();
	});

	it('answer in the chat of the editor, quoting a PDF', async () => {
		await window.openWorkflow(idOf('ask-an-assistant.json'));
		await window.page.setViewportSize({ width: 1440, height: 1200 });
		await window.say(QUESTION);
		await shown(ANSWER).waitFor();
	});

	it('answer while it is written, with the documents it rests on', async () => {
		// The chat stays open from one workflow to the next, in a third of the height.
		await window.openWorkflow(idOf('answers-as-they-are-written.json'));
		await window.page.setViewportSize({ width: 1440, height: 1360 });
		harness.sandbox.requests.clear();
		await window.say(QUESTION);
		await shown(/^\[1\] warranty\.pdf$/).waitFor();
		await shown(ANSWER).waitFor();
		// With a key it takes its turn, and is heard once it has begun.
		expect(harness.sandbox.requests.of('join')).toHaveLength(1);
		await window.page.locator('button[aria-busy="true"]').waitFor({ state: 'hidden' });
		await window.screenshot(readmePicture('chat'), { x: 42, y: 953, width: 615, height: 407 });
	});

	it('answer the command of the note', async () => {
		const { nodes } = await harness.host.rest.getWorkflow(idOf('ask-an-assistant.json'));
		const [, command = ''] = /```\n([^]*?)\n```/.exec(noteIn(nodes)) ?? [];
		expect(command).toMatch(/^curl /);
		const { stdout } = await inShell('sh', ['-c', `${command} --silent --noproxy '*'`]);
		expect(JSON.parse(stdout)).toEqual({ answer: expect.stringMatching(ANSWER) });
	});

	it('answer about a file that is attached in a form', async () => {
		const { page } = window;
		await page.goto(`${harness.host.url}/form/ask-about-a-file`);
		await page.getByLabel('Question').fill('How often do I brush the drum?');
		const file = join(harness.host.documents, 'handbook', 'cleaning-and-care.md');
		await page.locator('input[type="file"]').setInputFiles(file);
		await window.screenshot(picturePath('form'));
		await page.getByRole('button', { name: 'Ask' }).click();
		await shown(/According to "cleaning-and-care.md": "Brush the inside of the drum/).waitFor();
		await window.screenshot(picturePath('form-answer'));
		expect(harness.sandbox.requests.of('E12')).toHaveLength(1);
	});

	it('show what the trigger starts for, and what it last would have', async () => {
		await talk(harness.sandbox, 'BOOM', { title: 'Broken' });
		await window.openWorkflow(idOf('alert-on-failed-runs.json'));
		await window.openNode('When a Run Fails');
		expect(await panel.linesWith(['Events', 'Assistant'])).toContain('Simplify');
		await panel.fetchTestEvent();
		expect(await panel.outputWith(/Broken/)).toContain('failed');
		await window.screenshot(readmePicture('trigger'), PANEL);
		await panel.close();
	});
});

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

describe('what six new users do, in the editor, without reading anything', () => {
	const agents = useAgents(harness, 'How do I install it?');

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
		harness.sandbox.reset();
		harness.sandbox.store.putAssistant(SAYING_ASSISTANT);
		await window.page.setViewportSize({ width: 1440, height: 900 });
	});

	const namesStored = () =>
		harness.sandbox.store
			.documentsOf(SANDBOX_KNOWLEDGEBASE_ID)
			.filter((document) => !isNote(document))
			.map(({ name }) => name)
			.sort();

	it('keep the rows of a table found, each run making the knowledgebase equal it', async () => {
		const workflow = workflowOf('Rows', [itemsNode('Rows', ROWS)]);
		await window.openWorkflow(await harness.importWorkflow(workflow));
		clicked = 0;
		await add('Rows', 'ingest', 'Submit documents to knowledgebase');
		await panel.fill('knowledgebaseId', SANDBOX_KNOWLEDGEBASE_ID);
		await panel.fill('text', '{{ $json.text }}');
		await panel.choose('mode', 'Mirror the Source (Disable What Is Gone)');
		await window.screenshot(picturePath('trial-rows-filled'));
		await panel.run();
		await window.screenshot(picturePath('trial-rows'));
		await panel.outputWith(/found/);
		expect(namesStored()).toEqual(['Cold brew.md', 'Espresso.md']);
		expect(clicked).toBeGreaterThan(0);
		expect(clicked).toBeLessThanOrEqual(8);
		await panel.run();
		await panel.outputWith(/unchanged/);
		expect(namesStored()).toEqual(['Cold brew.md', 'Espresso.md']);
	});

	it('are told which PDF of a folder is broken', async () => {
		const folder = join(harness.host.documents, 'manuals');
		mkdirSync(folder);
		for (const name of ['grinder.pdf', 'kettle.pdf', 'broken.pdf'])
			writeFileSync(join(folder, name), sampleFile(name, 1_000));
		await window.openWorkflow(await harness.importWorkflow(workflowOf('Folder', [FOLDER])));
		clicked = 0;
		await add('Folder', 'upload file', 'Submit documents to knowledgebase');
		await panel.choose('source', 'Files');
		await panel.fill('knowledgebaseId', SANDBOX_KNOWLEDGEBASE_ID);
		await panel.run();
		await window.screenshot(picturePath('trial-folder'));
		const told = await panel.output.innerText();
		expect(told).toContain('broken.pdf');
		expect(told).toContain('Documents: 2 can be found, 1 stored');
		expect(told).not.toContain('kettle.pdf');
		expect(clicked).toBeLessThanOrEqual(9);
		const found = harness.sandbox.store.documentsOf(SANDBOX_KNOWLEDGEBASE_ID);
		expect(found.filter(({ status }) => status === 'finish').map(({ name }) => name)).toEqual(
			expect.arrayContaining(['grinder.pdf', 'kettle.pdf']),
		);
	});

	it('make a bot that knows each person', async () => {
		await window.openWorkflow(
			await harness.importWorkflow(chain('Bot', { ...chatTrigger({}), name: 'Chat' })),
		);
		clicked = 0;
		await add('Chat', 'ask assistant', 'Ask assistant and wait for answer');
		await panel.pick('assistantId', SAYING_ASSISTANT.title);
		await panel.close();
		await window.say('I am Ann');
		await window.page.getByText('You said: I am Ann [users seen: 1]').last().waitFor();
		await window.say('And now?');
		await window.page.getByText('You said: And now? [users seen: 2]').last().waitFor();
		await window.screenshot(picturePath('trial-bot'));
		expect(clicked).toBeLessThanOrEqual(12);
	});

	it('are told of a run that waits, and decide on it', async () => {
		const thread = await talk(harness.sandbox, INTERRUPTING_INPUT, {
			title: 'Mail',
		});
		const workflow = chain('Approval', triggerNode('Waiting', {}));
		await window.openWorkflow(
			await harness.importWorkflow(workflow, await harness.createCredential()),
		);
		clicked = 0;
		await window.openNode('Waiting');
		await panel.fetchTestEvent();
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
		await window.openWorkflow(await agents.put({ version: 3, tool: false }));
		clicked = 0;
		await nodes.openFor('AI Agent', 'Tool');
		await nodes.search('ask assistant');
		await nodes.entriesWith('Xpert AI');
		await window.screenshot(picturePath('trial-agent-nodes'));
		await nodes.pick('Xpert AI');
		await panel.pick('assistantId', SAYING_ASSISTANT.title);
		await window.screenshot(picturePath('trial-agent-tool'));
		await panel.close();
		await window.openNode('AI Agent');
		await panel.run();
		await panel.outputWith(/You said: How do I install it\?/);
		await window.screenshot(picturePath('trial-agent'));
		expect(clicked).toBeLessThanOrEqual(9);
	});

	it('start a long run, and pick up its answer', async () => {
		const question = itemsNode('Question', [{ chatInput: 'How do I descale it?' }]);
		await window.openWorkflow(await harness.importWorkflow(workflowOf('Long', [question])));
		clicked = 0;
		await add('Question', 'start run', 'Start run');
		await panel.pick('assistantId', SAYING_ASSISTANT.title);
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
});

it('the page of the editor complains about nothing', () => {
	expect(window.problems).toEqual([]);
});

describe('an n8n that is killed in the middle of an ingestion', () => {
	it('has lost and doubled nothing once the workflow is run again', async () => {
		const { faults, requests, store } = harness.sandbox;
		const { id } = store.putKnowledgebase({ name: 'Killed' });
		writeDocuments(harness.host.documents, 600);
		const workflow = ingestion(webhookTrigger('killed'), id, { batchSize: 100 });
		const credential = await harness.createCredential();
		const workflowId = await harness.importWorkflow(workflow, credential);
		await harness.activate(workflowId);
		requests.clear();
		faults.add({ endpoint: 'E3', do: 'hold', nth: 4 });
		await harness.callWebhook('killed');
		const arrived = () => requests.of('E3').length;
		await waitFor('the fourth batch', async () => arrived() >= 4 || undefined, { everyMs: 10 });
		await harness.host.kill();
		faults.clear();
		const before = arrived();
		await harness.host.restart();
		expect((await harness.latestExecution(workflowId)).status).toBe('crashed');
		expect(arrived()).toBe(before);

		await harness.callWebhook('killed');
		expect((await harness.latestExecution(workflowId)).status).toBe('success');
		const names = map(store.documentsOf(id), 'name');
		expect([names.length, uniq(names).length]).toEqual([600, 600]);
	});
});
