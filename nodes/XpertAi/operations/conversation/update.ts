import { recordAbout } from '../../execution/ids';
import { declare } from '../../execution/operation';
import { conversationTitle } from '../../payloads/conversation';
import { conversationLocator } from '../../pickers/locators';
import { CONVERSATION_SUMMARY, existingConversation, titleField } from './shared';

export const update = declare({
	value: 'update',
	name: 'Update',
	action: 'Update conversation',
	endpoint: 'beyond',
	description: 'Change the title of a conversation',
	method: 'PATCH',
	path: '/conversations/{conversationId}',
	ids: [conversationLocator],
	body: {
		fields: [{ ...titleField, required: true }],
		schema: conversationTitle,
	},
	repeatable: true,
	precheck: existingConversation(() => ({})),
	answer: recordAbout('conversation'),
	simplify: CONVERSATION_SUMMARY,
});
