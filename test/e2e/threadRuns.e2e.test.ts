import { NOTHING_FOUND, SANDBOX_KNOWLEDGEBASE_ID } from '../../sandbox';
import { EditorWindow } from './support/browser';
import { picturePath } from './support/editorPictures';
import { exampleOnCall } from './support/examples';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

describe('the example "morning question" in n8n', () => {
	let workflowId: string;

	beforeAll(async () => {
		const credential = await harness.createCredential();
		const workflow = exampleOnCall('morning-question.json', 'Every Morning', 'morning');
		workflowId = await harness.importWorkflow(workflow, credential);
		await harness.activate(workflowId);
	});

	const message = async () => {
		await harness.callWebhook('morning');
		const execution = await harness.latestExecution(workflowId);
		return execution.json('Send Message Here');
	};

	it('makes a message of the answer', async () => {
		expect(await message()).toEqual([
			{ text: expect.stringMatching(/^Good morning! I found nothing/) },
		]);
	});

	it('makes a message of a run that failed, with its reason', async () => {
		harness.sandbox.faults.add({
			endpoint: 'runs',
			do: 'run',
			outcome: 'fail',
			error: 'Model quota exceeded',
		});
		expect(await message()).toEqual([
			{ text: 'No answer this morning: The run failed: Model quota exceeded' },
		]);
		harness.sandbox.faults.clear();
	});
});

describe('the example "poll a run" in n8n', () => {
	it('looks at the run until it has ended, and makes a message of its answer', async () => {
		const credential = await harness.createCredential();
		const workflowId = await harness.importWorkflow('poll-a-run.json', credential);
		harness.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 4_000 });
		const execution = await harness.runManually(workflowId);
		harness.sandbox.faults.clear();
		expect(execution.json('Start Run')).toMatchObject([{ status: 'running' }]);
		expect(execution.json('Send Message Here')).toEqual([{ text: expect.stringMatching(/\w/) }]);
		// It was looked at while it went on, and once more.
		expect(harness.sandbox.requests.of('run').length).toBeGreaterThanOrEqual(2);
	});
});

describe('the example "answer with its sources" in n8n', () => {
	let workflowId: string;

	beforeAll(async () => {
		const credential = await harness.createCredential();
		workflowId = await harness.importWorkflow('answer-with-its-sources.json', credential);
	});

	const message = async () =>
		(await harness.runManually(workflowId)).json('Post Message Here').map(({ text }) => text);

	it('makes a message of an answer that rests on no document', async () => {
		expect(await message()).toEqual([NOTHING_FOUND]);
	});

	it('makes a message of the answer, and of the documents that its numbers mean', async () => {
		const { store } = harness.sandbox;
		const fileUrl = 'https://files.example.com/warranty.md';
		const knows = (name: string, text: string) => {
			const fields = { knowledgebaseId: SANDBOX_KNOWLEDGEBASE_ID, name, fileUrl };
			store.putFindable(store.putDocument(fields), [text]);
		};
		knows('warranty.md', 'The warranty lasts three years.');
		knows('other.md', 'Water boils at 100 degrees.');
		expect(await message()).toEqual([
			`According to "warranty.md": "The warranty lasts three years." [1]\n[1] warranty.md: ${fileUrl}`,
		]);
	});
});

const QUESTION = 'ASK A PERSON whether to delete the file';

describe('the example "human in the loop" in n8n', () => {
	let window: EditorWindow;

	beforeAll(async () => {
		const credential = await harness.createCredential();
		await harness.activate(await harness.importWorkflow('human-in-the-loop.json', credential));
		window = await EditorWindow.open(harness.host);
	});
	afterAll(async () => await window?.close());

	it.each([
		['confirm', `Tool said: Confirmed: ${QUESTION}`],
		['reject', 'Rejected: nothing was carried out.'],
	])('asks the person in the words of the run, and goes on after "%s"', async (decision, done) => {
		const { page } = window;
		await page.goto(`${harness.host.url}/form/ask-with-approval`);
		await page.getByLabel('Question').fill(QUESTION);
		await page.getByRole('button', { name: 'Ask' }).click();
		// The words stand in the task that the conversation holds, as recorded.
		const words = /would like to call SubAgent \(.+\)\. Input: ASK A PERSON whether to delete/;
		await page.getByText(words).waitFor({ timeout: 30_000 });
		await page.getByLabel('Decision').selectOption(decision);
		await window.screenshot(picturePath(`human-in-the-loop-${decision}`));
		await page.getByRole('button', { name: 'Decide' }).click();
		await page.getByText(done).first().waitFor({ timeout: 30_000 });
		const decided = harness.sandbox.requests.of('runs').at(-1)?.body;
		expect(decided).toMatchObject({ input: { action: 'resume', decision: { type: decision } } });
	});
});
