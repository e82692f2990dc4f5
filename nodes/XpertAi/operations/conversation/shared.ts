import isEmpty from 'lodash/isEmpty';

import { z } from 'zod';

import { textField } from '../../execution/fields';
import { recordAbout } from '../../execution/ids';
import type { Precheck, PrecheckResult } from '../../execution/operation';
import { isJsonObject } from '../../transport/answer';

/** What Simplify keeps of the 14 fields of a conversation. */
export const CONVERSATION_SUMMARY = [
	'id',
	'threadId',
	'title',
	'status',
	'error',
	'xpertId',
	'createdAt',
	'updatedAt',
];

/** The title of a conversation. */
export const titleField = textField('title', 'Title', 'Title shown in the list of conversations', {
	placeholder: 'e.g. Question from the website',
});

/** Servers answer with an empty object if a conversation does not exist. */
export const isMissing = (answer: unknown) => isJsonObject(answer) && isEmpty(answer);

/** Reads a conversation before a change: servers create one that does not exist. */
export const readConversationFirst: Omit<Precheck, 'evaluate'> = {
	method: 'GET',
	path: '/conversations/{conversationId}',
	options: [],
	answer: (asked) => z.union([z.object({}).strict(), recordAbout('conversation')(asked)]),
};

/** Reads a conversation before the operation, and refuses one that does not exist. */
export function existingConversation(evaluate: (answer: unknown) => PrecheckResult): Precheck {
	return {
		...readConversationFirst,
		evaluate: (answer, item) => {
			if (!isMissing(answer)) return evaluate(answer);
			throw item.operationError(
				`There is no conversation with this ID${item.suffix}`,
				'Check "Conversation": it takes the conversationId that Conversation: Create, a run or the trigger gave.',
			);
		},
	};
}
