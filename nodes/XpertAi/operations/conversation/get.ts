import { schemaOfAskedRecord } from '../../transport/answerSchemas';
import { declare } from '../../execution/operation';
import { conversationLocator } from '../../pickers/locators';
import { CONVERSATION_SUMMARY_FIELDS, conversationPrecheck } from './shared';

export const get = declare({
	value: 'get',
	name: 'Get',
	endpoint: 'beyond',
	description: 'Get a conversation',
	route: 'GET /conversations/{conversationId}',
	idFields: [conversationLocator],
	answerSchema: schemaOfAskedRecord('conversation'),
	precheck: conversationPrecheck((answer) => ({ answer })),
	simplify: CONVERSATION_SUMMARY_FIELDS,
});
