import { recordAbout } from '../../transport/answer';
import { declare } from '../../execution/operation';
import { conversationLocator } from '../../pickers/locators';
import { CONVERSATION_SUMMARY, requireConversation } from './shared';

export const get = declare({
	value: 'get',
	name: 'Get',
	endpoint: 'beyond',
	description: 'Get a conversation',
	route: 'GET /conversations/{conversationId}',
	idFields: [conversationLocator],
	answer: recordAbout('conversation'),
	precheck: requireConversation((answer) => ({ answer })),
	simplify: CONVERSATION_SUMMARY,
});
