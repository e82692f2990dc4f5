import { idField, panelGroupField } from '../../execution/fieldBuilders';
import { declare } from '../../execution/operation';
import { newConversation } from '../../payloads/requestSchemas';
import { CONVERSATION_SUMMARY_FIELDS, titleField } from './shared';

const fields = [
	idField('xpertId', 'Assistant ID', 'ID of the assistant the conversation belongs to'),
	idField('projectId', 'Project ID', 'ID of its project; needs an assistant as well'),
	idField('threadId', 'Thread ID', 'ID for its thread; left out, the server makes one up'),
];

export const create = declare({
	value: 'create',
	name: 'Create',
	endpoint: 'E13',
	description: 'Create a conversation, whose thread Thread: Ask and Wait can run',
	route: 'POST /conversations',
	body: {
		fields: [titleField, panelGroupField('additionalFields', fields)],
		schema: newConversation,
		reserved: ['id', 'createdById'],
	},
	simplify: CONVERSATION_SUMMARY_FIELDS,
	answerSchema: ['id', 'threadId'],
	// The import is dynamic, because most n8n processes never execute the node.
	sendMainRequest: async (...given) =>
		await (await import('./createRepeatably')).createRepeatably(...given),
});
