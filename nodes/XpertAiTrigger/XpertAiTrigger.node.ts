import {
	type INodeExecutionData,
	type INodeType,
	type IPollFunctions,
	NodeConnectionTypes,
} from 'n8n-workflow';

import { listSearch } from '../XpertAi/pickers/locators';
import { CREDENTIAL_NAME } from '../XpertAi/transport/api';
import { triggerFields, triggerSubtitle } from './fields';

/** The trigger node: starts workflows when a conversation has changed. */
export class XpertAiTrigger implements INodeType {
	description: INodeType['description'] = {
		displayName: 'Xpert AI Trigger',
		name: 'xpertAiTrigger',
		icon: { light: 'file:../XpertAi/xpertAi.svg', dark: 'file:../XpertAi/xpertAi.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: triggerSubtitle,
		// n8n's nodes panel shows this text for both nodes of the package, so the other node's actions come first.
		description:
			'Asks assistants and fills knowledgebases. As a trigger, starts the workflow when a conversation was answered, failed, was cancelled or waits for a person.',
		defaults: { name: 'Xpert AI Trigger' },
		polling: true,
		builderHint: {
			searchHint:
				'Sees conversations of the owner of the access token only. For an approval, choose the event Waiting for a Person, ask the person, then use Thread: Decide of Xpert AI with the threadId of this item.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-xpertai.xpertAi',
					relationHint: 'Decides on a run that waits, or goes on with the conversation',
				},
			],
		},
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: CREDENTIAL_NAME, required: true }],
		properties: triggerFields,
	};

	methods = { listSearch };

	async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
		// Loaded at the first poll, because most n8n processes never poll.
		const { poll } = await import('./poll');
		return await poll(this);
	}
}
