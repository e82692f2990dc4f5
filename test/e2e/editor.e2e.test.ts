import { catalogue } from '../../nodes/XpertAi/catalogue';
import { EditorWindow } from './support/browser';
import { CredentialDialog } from './support/editorCredential';
import { NodesPanel } from './support/editorNodesPanel';
import { NodePanel } from './support/editorPanel';
import { picturePath, readmePicture } from './support/editorPictures';
import { workflowOf } from '../queue/support/ingestion';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();
const QUESTION = 'How do I reset the device?';
const ASK = 'Ask assistant and wait for answer';

/** What people type who need the node or its trigger, whose actions stand in one entry of the panel. */
const WORDS = [
	'xpert',
	'knowledge base',
	'RAG',
	'vector store',
	'embeddings',
	'ingest',
	'upload file',
	'sync',
	'ask assistant',
	'chat',
	'approve',
	'approval',
	'human in the loop',
	'decide',
	'confirm',
	'alert',
	'conversation failed',
];

describe('the node in the editor, from the search to the answer', () => {
	let window: EditorWindow;
	let nodes: NodesPanel;
	let panel: NodePanel;
	let credential: CredentialDialog;

	beforeAll(async () => {
		window = await EditorWindow.open(harness.host);
		nodes = new NodesPanel(window);
		panel = new NodePanel(window);
		credential = new CredentialDialog(window);
		await window.openWorkflow(await harness.importWorkflow(workflowOf('From the search')));
		await nodes.open();
	});
	afterAll(async () => await window?.close());

	it.each(WORDS)('is found by "%s"', async (words) => {
		await nodes.search(words);
		expect(await nodes.entriesWith('Xpert AI')).toContain('Xpert AI');
	});

	it('offers every operation as an action, in the order of the catalogue', async () => {
		await nodes.search('knowledge base');
		const actions = catalogue.flatMap(({ operations }) => operations.map(({ action }) => action));
		expect(await nodes.openActions('Xpert AI')).toEqual(actions);
		await window.page.getByText(/Starts the workflow when.*asks assistants and fills/).waitFor();
		await window.screenshot(readmePicture('actions'), { x: 640, y: 0, width: 800, height: 900 });
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
			'The Base URL must start with https:// and lead to an Xpert AI server. For http:// to another host, switch on Allow Insecure HTTP.',
		);
		await credential.enter('baseUrl', harness.sandbox.url);
		await credential.save();
		await credential.seesReason('The server did not accept the access token');
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

	it('makes the page complain about nothing', () => {
		expect(window.problems).toEqual([]);
	});
});
