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
			endpoint: 'E4',
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
		const decided = harness.sandbox.requests.of('E4').at(-1)?.body;
		expect(decided).toMatchObject({ input: { action: 'resume', decision: { type: decision } } });
	});
});
