import type { INodeProperties } from 'n8n-workflow';

import { fieldCollection } from '../../execution/fields';
import { declare } from '../../execution/operation';
import { conversation } from '../../payloads/conversation';
import { ID_PLACEHOLDER } from '../../pickers/locators';
import { answerWith } from '../../transport/answer';
import { CONVERSATION_SUMMARY, titleField } from './shared';

const fields: INodeProperties[] = [
	{
		displayName: 'Assistant ID',
		name: 'xpertId',
		type: 'string',
		default: '',
		placeholder: ID_PLACEHOLDER,
		description: 'ID of the assistant the conversation belongs to',
	},
	{
		displayName: 'Conversation Options',
		name: 'options',
		type: 'json',
		default: '{}',
		description: 'Settings of the conversation, as a JSON object',
	},
	{
		displayName: 'Project ID',
		name: 'projectId',
		type: 'string',
		default: '',
		placeholder: ID_PLACEHOLDER,
		description: 'ID of the project the conversation belongs to; needs an assistant as well',
	},
	{
		displayName: 'Thread ID',
		name: 'threadId',
		type: 'string',
		default: '',
		placeholder: ID_PLACEHOLDER,
		description:
			'ID for the thread of the conversation. The server makes one up when this is left out.',
	},
];

export const create = declare({
	value: 'create',
	name: 'Create',
	action: 'Create conversation',
	description: 'Create a conversation, whose thread Thread: Ask and Wait can run',
	endpoint: 'E13',
	method: 'POST',
	path: '/conversations',
	body: {
		fields: [titleField, fieldCollection('additionalFields', fields)],
		schema: conversation,
		ids: ['xpertId', 'projectId', 'threadId'],
		notShown: true,
		example: '{\n  "title": "Question from the website"\n}',
	},
	simplify: CONVERSATION_SUMMARY,
	checkAnswer: answerWith('id', 'threadId'),
});
