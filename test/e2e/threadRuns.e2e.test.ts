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

/** What the server stops for (recorded): a task with the call that is to be allowed. */
const TASK = {
	id: expect.any(String),
	name: 'subagent',
	type: 'agent',
	call: expect.objectContaining({ name: 'subagent', args: { input: QUESTION } }),
	info: expect.objectContaining({ name: expect.any(String) }),
	parameters: [expect.objectContaining({ name: 'input', title: 'Input' })],
	agent: expect.objectContaining({ title: expect.any(String) }),
};

describe('the example "human in the loop" in n8n', () => {
	let workflowId: string;

	beforeAll(async () => {
		const credential = await harness.createCredential();
		workflowId = await harness.importWorkflow('human-in-the-loop.json', credential);
		await harness.activate(workflowId);
	});

	it.each([
		['confirm', 'Confirmed'],
		['reject', 'Rejected'],
	])('gives the tasks to the caller and goes on after "%s", once', async (decision, done) => {
		const asked = await harness.callWebhook('ask-with-approval', { question: QUESTION });
		expect(asked.data).toMatchObject({
			status: 'interrupted',
			threadId: expect.any(String),
			interrupt: [TASK],
		});
		const { threadId } = asked.data as { threadId: string };
		const decided = await harness.callWebhook('decide', { threadId, decision });
		expect(decided.data).toMatchObject({
			status: 'completed',
			threadId,
			reply: `${done}: ${QUESTION}\nTool said: ${done}: ${QUESTION}`,
		});
		expect(decided.data).not.toHaveProperty('interrupt');

		const again = await harness.callWebhook('decide', { threadId, decision });
		expect(again.status).toBe(500);
		const { error } = await harness.latestExecution(workflowId);
		expect(error?.message).toBe('Nothing on this thread waits for a decision');
	});
});
