import { fieldCollection, idField } from '../../execution/fields';
import { declare } from '../../execution/operation';
import { conversation } from '../../payloads/conversation';
import { recordWith } from '../../transport/answer';
import { CONVERSATION_SUMMARY, titleField } from './shared';

const fields = [
	idField('xpertId', 'Assistant ID', 'ID of the assistant the conversation belongs to'),
	idField(
		'projectId',
		'Project ID',
		'ID of the project the conversation belongs to; needs an assistant as well',
	),
	idField(
		'threadId',
		'Thread ID',
		'ID for the thread of the conversation. The server makes one up when this is left out.',
	),
];

export const create = declare({
	value: 'create',
	name: 'Create',
	action: 'Create conversation',
	endpoint: 'E13',
	description: 'Create a conversation, whose thread Thread: Ask and Wait can run',
	method: 'POST',
	path: '/conversations',
	body: {
		fields: [titleField, fieldCollection('additionalFields', fields)],
		schema: conversation,
		ids: ['xpertId', 'projectId', 'threadId'],
		reserved: ['id', 'createdById'],
	},
	simplify: CONVERSATION_SUMMARY,
	answer: recordWith('id', 'threadId'),
	// Loaded with the first execution, as what only runs operations is.
	sendBody: async (...given) => await (await import('./sendWithOwnId')).sendWithOwnId(...given),
});
