import findLast from 'lodash/findLast';

import type { WorkflowFile } from '../../host/examples';
import type { CredentialReference } from '../../host/n8nRestClient';
import { derivedId } from '../../nodes/XpertAi/payloads/derivedId';
import { ECHO_ASSISTANT_ID } from '../../sandbox';
import type { Execution } from './support/execution';
import { useSharedHarness } from './support/harness';
import { startModelStandIn } from './support/modelStandIn';
import type { ModelStandIn } from './support/modelStandIn';

const harness = useSharedHarness();
const REASON = 'Model quota exceeded';

/** What an agent may be like. */
interface Agent {
	version: number;
	executionOrder: 'v0' | 'v1';
	/** Further parameters of our node. */
	tool?: object;
}

/** An AI agent of n8n with a chat model and our node, as it is when just added, as its only tool. */
function agentWorkflow({ version, executionOrder, tool }: Agent): WorkflowFile {
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
			node('AI Agent', '@n8n/n8n-nodes-langchain.agent', version, {
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
					assistantId: { __rl: true, mode: 'id', value: ECHO_ASSISTANT_ID },
					...tool,
				}),
				...credential('xpertAiApi', 'Xpert AI (sandbox)'),
			},
		],
		connections: {
			Start: { main: [[{ node: 'AI Agent', type: 'main', index: 0 }]] },
			Model: { ai_languageModel: [[{ node: 'AI Agent', type: 'ai_languageModel', index: 0 }]] },
			'Ask Assistant': { ai_tool: [[{ node: 'AI Agent', type: 'ai_tool', index: 0 }]] },
		},
		settings: { executionOrder },
	};
}

describe('the node as a tool of an AI agent in n8n', () => {
	let model: ModelStandIn;
	let credentials: CredentialReference[];

	beforeAll(async () => {
		model = await startModelStandIn({ Message: 'How do I install it?' });
		const xpert = await harness.createCredential();
		const openAi = await harness.host.rest.createCredential({
			name: 'Stand-in',
			type: 'openAiApi',
			data: { apiKey: 'none', url: model.url },
		});
		credentials = [xpert, openAi];
	});

	afterAll(async () => await model.close());

	it('asks an assistant with the message the model wrote and gives it the answer', async () => {
		const execution = await run({ version: 3, executionOrder: 'v1' });
		expect(execution.error).toBeUndefined();
		expect(JSON.stringify(execution.json('AI Agent'))).toContain('Echo: How do I install it?');

		const [offered] = model.requests[0]?.tools ?? [];
		expect(offered?.function.description).toBe('Asks the documentation assistant');
		expect(JSON.stringify(offered?.function.parameters)).toContain('What to say to the assistant');
	});

	it('gives the model a failure in words it can read', async () => {
		expect(await toldOfFailure({ version: 3, executionOrder: 'v1' })).toContain(REASON);
	});

	it('gives it as a reply to agent 2.2, which takes no failures', async () => {
		const tool = { options: { failuresAsReplies: true } };
		const agent = { version: 2.2, executionOrder: 'v1' } as const;
		expect(await toldOfFailure(agent)).not.toContain(REASON);
		expect(await toldOfFailure({ ...agent, tool })).toContain(REASON);
	});

	it('can give agent 3 nothing in workflows with execution order v0, not even an answer', async () => {
		const { error } = await run({ version: 3, executionOrder: 'v0' });
		expect(error).toBeUndefined();
		expect(told()).not.toContain('Echo');
	});

	it('goes on with the conversation of a key that the author sets', async () => {
		const tool = { threadSource: 'key', conversationKey: "={{ 'ann' }}" };
		await run({ version: 3, executionOrder: 'v1', tool });
		const again = await run({ version: 3, executionOrder: 'v1', tool });
		expect(again.error).toBeUndefined();
		const thread = harness.sandbox.store.threads.get(derivedId(ECHO_ASSISTANT_ID, 'ann'));
		expect(thread?.messages).toHaveLength(4);
	});

	async function run(agent: Agent): Promise<Execution> {
		return await harness.runManually(
			await harness.importWorkflow(agentWorkflow(agent), ...credentials),
		);
	}

	/** What the model reads of a tool whose run fails. */
	async function toldOfFailure(agent: Agent): Promise<string> {
		harness.sandbox.faults.add({ endpoint: 'E4', do: 'run', outcome: 'fail', error: REASON });
		await run(agent);
		harness.sandbox.faults.clear();
		return told();
	}

	/** What the model was told last by its tool. */
	function told(): string {
		const message = findLast(model.requests.at(-1)?.messages, ({ role }) => role === 'tool');
		return JSON.stringify(message?.content);
	}
});
