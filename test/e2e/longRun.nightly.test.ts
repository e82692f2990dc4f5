import { SANDBOX_ASSISTANT_ID } from '../../sandbox';
import { exampleWith } from './support/examples';
import { useSharedHarness } from './support/harness';

/** A path of its own: the example as it is belongs to another test, which runs beside this one. */
const PATH = 'ask-and-wait-for-long';

const harness = useSharedHarness();

describe('a run that takes longer than five minutes', () => {
	it('succeeds, although 300 seconds are the default limit of requests in n8n', async () => {
		const credential = await harness.createCredential();
		const workflow = exampleWith('ask-an-assistant.json', 'Webhook', (node) => ({
			...node,
			webhookId: PATH,
			parameters: { ...(node.parameters as object), path: PATH },
		}));
		await harness.activate(await harness.importWorkflow(workflow, credential));
		harness.sandbox.faults.add({
			endpoint: 'runs',
			do: 'run',
			ms: 310_000,
			text: 'It took a while',
		});

		const { status, data } = await harness.callWebhook(PATH, { question: 'Take your time' });

		expect(status).toBe(200);
		expect(data).toMatchObject({ answer: 'It took a while' });
		const arrived = harness.sandbox.requests.of('runs');
		expect(arrived).toHaveLength(1);
		expect(arrived[0]?.rawBody).toContain('Take your time');
		expect(JSON.stringify(arrived[0]?.body)).toContain(SANDBOX_ASSISTANT_ID);
	}, 400_000);
});
