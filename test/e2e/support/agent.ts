import findLast from 'lodash/findLast';

import type { WorkflowFile } from '../../../host/examples';
import type { N8n } from '../../../host/host';
import { SANDBOX_CREDENTIAL } from '../../../host/setUp';
import { ECHO_ASSISTANT_ID } from '../../../sandbox';
import type { Execution } from './execution';
import type { Harness } from './harness';
import { startModelStandIn, type ModelRequest } from './modelStandIn';

/** What an agent may be like. */
export interface Agent {
	version: number;
	executionOrder: 'v0' | 'v1';
	/** Further parameters of our node; `false` when there is none yet. */
	tool?: object | false;
	onError?: string;
}

/** Where the nodes stand, so that each can be clicked. */
const PLACES: Record<string, number[]> = {
	'AI Agent': [240, 0],
	Model: [120, 260],
	'Ask Assistant': [420, 260],
};

/** An AI agent of n8n with a chat model and our node, as it is when just added, as its only tool. */
function agentWorkflow({ version, executionOrder, tool, onError }: Agent): WorkflowFile {
	const node = (name: string, type: string, typeVersion: number, parameters: object) => ({
		id: name,
		name,
		type,
		typeVersion,
		position: PLACES[name] ?? [0, 0],
		parameters,
	});
	const credential = (type: string, name: string) => ({
		credentials: { [type]: { id: '', name } },
	});
	const ours = [
		{
			...node('Ask Assistant', 'n8n-nodes-xpertai.xpertAiTool', 1, {
				descriptionType: 'manual',
				toolDescription: 'Asks the documentation assistant',
				resource: 'thread',
				operation: 'run',
				assistantId: { __rl: true, mode: 'id', value: ECHO_ASSISTANT_ID },
				...tool,
			}),
			...credential('xpertAiApi', SANDBOX_CREDENTIAL),
			...(onError && { onError }),
		},
	];
	return {
		name: 'Agent with Xpert AI as a tool',
		nodes: [
			node('Start', 'n8n-nodes-base.manualTrigger', 1, {}),
			node('AI Agent', '@n8n/n8n-nodes-langchain.agent', version, {
				promptType: 'define',
				text: 'What do the documents say about installing?',
				options: { showInChat: 'whole' },
			}),
			{
				...node('Model', '@n8n/n8n-nodes-langchain.lmChatOpenAi', 1.2, {
					model: { __rl: true, mode: 'id', value: 'stand-in' },
					options: {},
				}),
				...credential('openAiApi', 'Stand-in'),
			},
			...(tool === false ? [] : ours),
		],
		connections: {
			Start: { main: [[{ node: 'AI Agent', type: 'main', index: 0 }]] },
			Model: { ai_languageModel: [[{ node: 'AI Agent', type: 'ai_languageModel', index: 0 }]] },
			...(tool !== false && {
				'Ask Assistant': { ai_tool: [[{ node: 'AI Agent', type: 'ai_tool', index: 0 }]] },
			}),
		},
		settings: { executionOrder },
	};
}

/**
 * Gives the tests that surround the call AI agents whose model always asks our node, with these words.
 *
 * @param message what the model says to it
 */
export function useAgents<Used extends N8n>(harness: Harness<Used>, message: string) {
	let model: Awaited<ReturnType<typeof startModelStandIn>>;
	let credentials: Array<{ id: string; name: string }>;

	beforeAll(async () => {
		model = await startModelStandIn({ Message: message });
		const openAi = {
			name: 'Stand-in',
			type: 'openAiApi',
			data: { apiKey: 'none', url: model.url },
		};
		credentials = [
			await harness.createCredential(),
			await harness.host.rest.createCredential(openAi),
		];
	});
	afterAll(async () => await model.close());

	/** @returns the id of the agent's workflow */
	const put = async (agent: Agent): Promise<string> => {
		model.requests.splice(0);
		return await harness.importWorkflow(agentWorkflow(agent), ...credentials);
	};
	const run = async (agent: Agent): Promise<Execution> =>
		await harness.runManually(await put(agent));
	/** What the tool answered the last agent's model; undefined without an answer. */
	const toolAnswer = (): string | undefined => {
		const message = findLast(model.requests.at(-1)?.messages, ({ role }) => role === 'tool');
		return message && JSON.stringify(message.content);
	};
	const runFailing = async (agent: Agent, reason: string): Promise<Execution> => {
		harness.sandbox.faults.add({ endpoint: 'runs', do: 'run', outcome: 'fail', error: reason });
		const execution = await run(agent);
		harness.sandbox.faults.clear();
		return execution;
	};
	return { put, run, runFailing, toolAnswer, requests: (): ModelRequest[] => model.requests };
}
