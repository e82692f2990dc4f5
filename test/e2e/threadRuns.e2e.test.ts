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

describe('the example "human in the loop" in n8n', () => {
	beforeAll(async () => {
		const credential = await harness.createCredential();
		await harness.activate(await harness.importWorkflow('human-in-the-loop.json', credential));
	});

	it.each([
		['confirm', /^Confirmed/],
		['reject', /^Rejected/],
	])('gives the interrupt to the caller and goes on after "%s"', async (decision, reply) => {
		const asked = await harness.callWebhook('ask-with-approval', {
			question: 'ASK A PERSON whether to delete the file',
		});
		expect(asked.data).toMatchObject({
			status: 'interrupted',
			threadId: expect.any(String),
			interrupt: expect.anything(),
		});
		const { threadId } = asked.data as { threadId: string };
		const decided = await harness.callWebhook('decide', { threadId, decision });
		expect(decided.data).toMatchObject({
			status: 'completed',
			threadId,
			reply: expect.stringMatching(reply),
		});
	});
});
