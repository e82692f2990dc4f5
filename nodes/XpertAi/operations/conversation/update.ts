import { schemaOfAskedRecord } from '../../transport/answerSchemas';
import { declare } from '../../execution/operation';
import { conversationTitleBody } from '../../payloads/requestSchemas';
import { conversationLocator } from '../../pickers/locators';
import { CONVERSATION_SUMMARY_FIELDS, conversationPrecheck, titleField } from './shared';

export const update = declare({
	value: 'update',
	name: 'Update',
	endpoint: 'beyond',
	description: 'Change the title of a conversation',
	route: 'PATCH /conversations/{conversationId}',
	idFields: [conversationLocator],
	body: {
		fields: [{ ...titleField, required: true }],
		schema: conversationTitleBody,
	},
	repeatable: true,
	precheck: conversationPrecheck(() => ({})),
	answerSchema: schemaOfAskedRecord('conversation'),
	simplify: CONVERSATION_SUMMARY_FIELDS,
});
