import findLast from 'lodash/findLast';

import type { WorkflowFile } from '../../host/examples';
import { ECHO_ASSISTANT_ID } from '../../sandbox';
import { useSharedHarness } from './support/harness';
import { startModelStandIn } from './support/modelStandIn';
import type { ModelStandIn } from './support/modelStandIn';

const harness = useSharedHarness();

/** An AI agent of n8n with a chat model and our node as its only tool. */
function agentWorkflow(): WorkflowFile {
	const node = (name: string, type: string, typeVersion: number, parameters: object) => ({
		id: name,
		name,
		type,
		typeVersion,
		position: [0, 0],
		parameters,
	});
	const credential = (type: string, name: string) => ({
		credentials: { [type]: { id: '', name } },
	});
	return {
		name: 'Agent with Xpert AI as a tool',
		nodes: [
			node('Start', 'n8n-nodes-base.manualTrigger', 1, {}),
			node('AI Agent', '@n8n/n8n-nodes-langchain.agent', 3, {
				promptType: 'define',
				text: 'What do the documents say about installing?',
				options: { enableStreaming: false },
			}),
			{
				...node('Model', '@n8n/n8n-nodes-langchain.lmChatOpenAi', 1.2, {
					model: { __rl: true, mode: 'id', value: 'stand-in' },
					options: {},
				}),
				...credential('openAiApi', 'Stand-in'),
			},
			{
				...node('Ask Assistant', 'n8n-nodes-xpertai.xpertAiTool', 1, {
					descriptionType: 'manual',
					toolDescription: 'Asks the documentation assistant',
					resource: 'thread',
					operation: 'run',
					threadSource: 'new',
					bodyMode: 'fields',
					assistantId: { __rl: true, mode: 'id', value: ECHO_ASSISTANT_ID },
					inputType: 'message',
					message: "={{ $fromAI('message', 'The question to ask', 'string') }}",
				}),
				...credential('xpertAiApi', 'Xpert AI (sandbox)'),
			},
		],
		connections: {
			Start: { main: [[{ node: 'AI Agent', type: 'main', index: 0 }]] },
			Model: { ai_languageModel: [[{ node: 'AI Agent', type: 'ai_languageModel', index: 0 }]] },
			'Ask Assistant': { ai_tool: [[{ node: 'AI Agent', type: 'ai_tool', index: 0 }]] },
		},
		settings: { executionOrder: 'v1' },
	};
}

describe('the node as a tool of an AI agent in n8n', () => {
	let model: ModelStandIn;
	let workflowId: string;

	beforeAll(async () => {
		model = await startModelStandIn({ message: 'How do I install it?' });
		const xpert = await harness.createCredential();
		const openAi = await harness.host.rest.createCredential({
			name: 'Stand-in',
			type: 'openAiApi',
			data: { apiKey: 'none', url: model.url },
		});
		workflowId = await harness.importWorkflow(agentWorkflow(), xpert, openAi);
	});

	afterAll(async () => await model.close());

	it('asks an assistant with the message the model wrote and gives it the answer', async () => {
		const execution = await harness.runManually(workflowId);
		expect(execution.error).toBeUndefined();
		expect(JSON.stringify(execution.json('AI Agent'))).toContain('Echo: How do I install it?');

		const [offered] = model.requests[0]?.tools ?? [];
		expect(offered?.function.description).toBe('Asks the documentation assistant');
		expect(JSON.stringify(offered?.function.parameters)).toContain('The question to ask');
	});

	it('gives the model a failure in words it can read', async () => {
		harness.sandbox.faults.add({
			endpoint: 'E4',
			do: 'run',
			outcome: 'fail',
			error: 'Model quota exceeded',
		});
		await harness.runManually(workflowId);
		harness.sandbox.faults.clear();
		const told = findLast(model.requests.at(-1)?.messages, ({ role }) => role === 'tool');
		expect(JSON.stringify(told?.content)).toContain('The run failed: Model quota exceeded');
	});
});
