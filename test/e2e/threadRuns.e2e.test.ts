import { readExample } from '../../host/examples';
import type { WorkflowFile } from '../../host/examples';
import { SANDBOX_ASSISTANT_ID } from '../../sandbox';
import { useHarness } from './support/harness';

const harness = useHarness();

/** The example with a webhook for its schedule, so that the test says when it is morning. */
function morningWorkflow(): WorkflowFile {
	const example = readExample('morning-question.json');
	const nodes = example.nodes.map((node) =>
		node.name === 'Every Morning'
			? {
					...node,
					type: 'n8n-nodes-base.webhook',
					typeVersion: 2,
					webhookId: 'morning',
					parameters: {
						httpMethod: 'POST',
						path: 'morning',
						responseMode: 'lastNode',
						options: {},
					},
				}
			: node,
	);
	return { ...example, nodes };
}

describe('the example "morning question" in n8n', () => {
	let workflowId: string;

	beforeAll(async () => {
		const credential = await harness.createCredential();
		workflowId = await harness.importWorkflow(morningWorkflow(), credential);
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

describe('a run that takes longer than five minutes', () => {
	it('succeeds, although 300 seconds are the default limit of requests in n8n', async () => {
		const credential = await harness.createCredential();
		const workflowId = await harness.importWorkflow('ask-an-assistant.json', credential);
		await harness.activate(workflowId);
		harness.sandbox.faults.add({ endpoint: 'E4', do: 'run', ms: 310_000, text: 'It took a while' });

		const { status, data } = await harness.callWebhook('ask', { question: 'Take your time' });

		expect(status).toBe(200);
		expect(data).toMatchObject({ answer: 'It took a while' });
		const arrived = harness.sandbox.requests
			.of('E4')
			.filter(({ rawBody }) => rawBody?.includes('Take your time'));
		expect(arrived).toHaveLength(1);
		expect(JSON.stringify(arrived[0]?.body)).toContain(SANDBOX_ASSISTANT_ID);
		harness.sandbox.faults.clear();
	}, 400_000);
});
