import { useAgents } from './support/agent';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

// What becomes of a run that fails is tried in every n8n: test/hosts.
describe('the node as a tool of an AI agent in n8n', () => {
	const { run, runFailing, toolAnswer, requests } = useAgents(harness, 'How do I install it?');

	it('asks an assistant with the message the model wrote and gives it the answer', async () => {
		const execution = await run({ version: 3, executionOrder: 'v1' });
		expect(execution.error).toBeUndefined();
		expect(JSON.stringify(execution.json('AI Agent'))).toContain('Echo: How do I install it?');

		const [offered] = requests()[0]?.tools ?? [];
		expect(offered?.function.description).toBe('Asks the documentation assistant');
		expect(JSON.stringify(offered?.function.parameters)).toContain('What to say to the assistant');
	});

	it.each([3, 2.2])('tells AI Agent %d why there is no answer', async (version) => {
		const { error } = await runFailing({ version, executionOrder: 'v1' }, 'quota exceeded');
		expect(error).toBeUndefined();
		expect(toolAnswer()).toContain('The run failed: quota exceeded');
	});

	it('can give agent 3 nothing in workflows with execution order v0, not even an answer', async () => {
		const { error } = await run({ version: 3, executionOrder: 'v0' });
		expect(error).toBeUndefined();
		expect(toolAnswer()).not.toContain('Echo');
	});
});
