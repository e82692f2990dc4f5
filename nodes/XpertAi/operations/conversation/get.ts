import { recordAbout } from '../../transport/answer';
import { declare } from '../../execution/operation';
import { conversationLocator } from '../../pickers/locators';
import { CONVERSATION_SUMMARY, existingConversation } from './shared';

export const get = declare({
	value: 'get',
	name: 'Get',
	endpoint: 'beyond',
	description: 'Get a conversation',
	route: 'GET /conversations/{conversationId}',
	idFields: [conversationLocator],
	answer: recordAbout('conversation'),
	precheck: existingConversation((answer) => ({ answer })),
	simplify: CONVERSATION_SUMMARY,
});
