import { recordAbout } from '../../execution/ids';
import { declare } from '../../execution/operation';
import { conversationLocator } from '../../pickers/locators';
import { CONVERSATION_SUMMARY, existingConversation } from './shared';

export const get = declare({
	value: 'get',
	name: 'Get',
	action: 'Get conversation',
	endpoint: 'beyond',
	description: 'Get a conversation',
	method: 'GET',
	path: '/conversations/{conversationId}',
	ids: [conversationLocator],
	repeatable: true,
	answer: recordAbout('conversation'),
	precheck: existingConversation((answer) => ({ answer })),
	simplify: CONVERSATION_SUMMARY,
});
