import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import { declare } from '../../execution/operation';
import { threadLocator } from '../../pickers/locators';
import {
	messagesOf,
	senderOf,
	stateSchemaOf,
	textOfContent,
	threadStateSchema,
} from '../../threads/thread';

export const get = declare({
	value: 'get',
	name: 'Get',
	endpoint: 'E15',
	description: 'Get status and messages of a thread that has run at least once',
	route: 'GET /threads/{threadId}',
	idFields: [threadLocator()],
	answerSchema: ({ threadId = '' }) =>
		z.unknown().superRefine((answer, { addIssue }) => {
			// Checks the answer, but outputs it unchanged.
			stateSchemaOf(threadId).safeParse(answer).error?.issues.forEach(addIssue);
		}),
	statusAdvice: {
		500: 'Xpert AI servers answer this way for a thread that has never run, and for one that does not exist. Check "Thread", and run it once with Thread: Ask and Wait.',
	},
	simplify: threadSummary,
});

/** Returns the status and the last message of a thread. */
function threadSummary(answer: IDataObject): IDataObject {
	const state = threadStateSchema.parse(answer);
	const messages = messagesOf(state);
	const last = messages.at(-1);
	return {
		threadId: state.thread_id ?? null,
		conversationId: state.metadata?.id ?? null,
		status: state.status ?? null,
		lastMessage: last ? textOfContent(last.content) : null,
		lastMessageFrom: (last && senderOf(last)) ?? null,
		messages: messages.length,
	};
}
