import { findLast, omit } from 'lodash';

import type { WorkflowFile } from '../../../host/examples';
import type { N8n } from '../../../host/host';
import type { CredentialReference } from '../../../host/n8nRestClient';
import example from './agent.json';
import type { Execution } from './execution';
import type { Harness } from './harness';
import { modelCredential, startModelStandIn, type ModelStandIn } from './modelStandIn';

/** What an agent may be like. */
export interface Agent {
	version: number;
	/** Further parameters of our node; `false` when there is none yet. */
	tool?: object | false;
	onError?: string;
}

const ASK = 'Ask Assistant';
const workflow = example as unknown as WorkflowFile;

/** An AI agent of n8n with a chat model and our node, as it is when just added, as its only tool. */
function agentWorkflow({ version, tool, onError }: Agent): WorkflowFile {
	const nodes = workflow.nodes.map((node) => {
		if (node.name === 'AI Agent') return { ...node, typeVersion: version };
		const parameters = { ...(node.parameters as object), ...tool };
		return node.name === ASK ? { ...node, parameters, ...(onError && { onError }) } : node;
	});
	if (tool !== false) return { ...workflow, nodes };
	const others = nodes.filter(({ name }) => name !== ASK);
	return { ...workflow, nodes: others, connections: omit(workflow.connections, ASK) };
}

/** Gives the tests that surround the call AI agents whose model always asks our node, with these words. */
export function useAgents<Used extends N8n>(harness: Harness<Used>, message: string) {
	let model: ModelStandIn;
	let credentials: CredentialReference[];

	beforeAll(async () => {
		model = await startModelStandIn({ Message: message });
		credentials = [await harness.createCredential(), await modelCredential(harness, model)];
	});
	afterAll(async () => await model.close());

	/** @returns the id of the agent's workflow */
	const put = async (agent: Agent): Promise<string> => {
		model.requests.splice(0);
		return await harness.importWorkflow(agentWorkflow(agent), ...credentials);
	};
	/** What the tool answered the last agent's model; undefined without an answer. */
	const toolAnswer = (): string | undefined => {
		const message = findLast(model.requests.at(-1)?.messages, ({ role }) => role === 'tool');
		return message && JSON.stringify(message.content);
	};
	const runFailing = async (agent: Agent, reason: string): Promise<Execution> => {
		harness.sandbox.faults.add({ endpoint: 'runs', do: 'run', outcome: 'fail', error: reason });
		const execution = await harness.runManually(await put(agent));
		harness.sandbox.faults.clear();
		return execution;
	};
	return { put, runFailing, toolAnswer };
}
