import { answerAbout } from '../../execution/ids';
import { declare } from '../../execution/operation';
import { conversationTitle } from '../../payloads/conversation';
import { conversationLocator } from '../../pickers/locators';
import { CONVERSATION_SUMMARY } from './summary';
import { titleField } from './title';

export const update = declare({
	value: 'update',
	name: 'Update',
	action: 'Update conversation',
	description: 'Change its title',
	endpoint: 'extension',
	method: 'PATCH',
	path: '/conversations/{conversationId}',
	ids: {
		conversationId: conversationLocator,
	},
	body: {
		fields: [{ ...titleField, required: true }],
		schema: conversationTitle,
		example: '{\n  "title": "Question from the website"\n}',
	},
	repeatable: true,
	checkAnswer: answerAbout('conversation'),
	statusHints: {
		500: 'Xpert AI servers answer this way for a conversation that does not exist. Check "Conversation".',
	},
	simplify: CONVERSATION_SUMMARY,
});
