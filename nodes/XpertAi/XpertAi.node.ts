import {
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	NodeConnectionTypes,
} from 'n8n-workflow';

import { catalogue, DEFAULT_RESOURCE } from './catalogue';
import { nodeProperties, nodeSubtitle } from './execution/nodeProperties';
import { listSearch, resourceMapping } from './pickers/locators';

/** The Xpert AI node. The catalogue defines its operations and their fields. */
export class XpertAi implements INodeType {
	description: INodeType['description'] = {
		displayName: 'Xpert AI',
		name: 'xpertAi',
		icon: { light: 'file:xpertAi.svg', dark: 'file:xpertAi.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: nodeSubtitle(catalogue),
		description: 'Fill knowledgebases with documents and ask the assistants of an Xpert AI server',
		defaults: { name: 'Xpert AI' },
		usableAsTool: true,
		// n8n redacts the `client_secret` of a chat session, because the secret gives access to the server.
		sensitiveOutputFields: ['client_secret'],
		builderHint: {
			searchHint:
				'To answer a chat, put Thread: Ask and Wait behind a Chat Trigger: its output is the reply. To fill a knowledgebase, use Document: Submit alone: it uploads, stores, processes and waits.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-xpertai.xpertAiTrigger',
					relationHint:
						'Starts a workflow when a conversation was answered, failed or waits for a person',
				},
				{
					nodeType: '@n8n/n8n-nodes-langchain.chatTrigger',
					relationHint:
						'Gives Ask and Wait the message and the session, so that it remembers each visitor',
				},
			],
		},
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'xpertAiApi', required: true }],
		properties: nodeProperties(catalogue, DEFAULT_RESOURCE),
	};

	methods = { listSearch, resourceMapping };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		// Loads the code on demand, because most n8n processes never execute the node.
		const { execute } = await import('./execution/runOperation');
		return [await execute(this, catalogue)];
	}
}
