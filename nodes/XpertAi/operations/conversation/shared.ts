import { isEmpty } from 'lodash';
import { z } from 'zod';

import { splitList, textField } from '../../execution/fieldBuilders';
import type { Precheck, PrecheckResult } from '../../execution/operation';
import { isJsonObject } from '../../payloads/json';
import { CONVERSATION_PATH, READ_REQUEST } from '../../threads/requests';
import { schemaOfAskedRecord } from '../../transport/answerSchemas';
import { buildPath } from '../../transport/api';

/** The fields of a conversation in simplified output. */
export const CONVERSATION_SUMMARY_FIELDS = splitList(
	'id, threadId, title, status, error, xpertId, createdAt, updatedAt',
);

export const titleField = textField('title', 'Title', 'Title shown in the list of conversations', {
	placeholder: 'e.g. Question from the website',
});

/** Whether an answer is an empty object. This answer means that the conversation does not exist. */
export const isMissingConversation = (answer: unknown) => isJsonObject(answer) && isEmpty(answer);

/**
 * Reads a conversation, to check that it exists. Without this check, an update would create a missing conversation, and
 * a deletion of a missing conversation would fail with status 500.
 *
 * @returns the conversation; an empty object if it does not exist
 * @throws NodeApiError if the request fails
 */
export const readConversation = async (...[item, path, timeoutMs]: Parameters<Precheck>) =>
	await item.call({
		...READ_REQUEST,
		path: buildPath(CONVERSATION_PATH, path),
		schema: z.union([z.object({}).strict(), schemaOfAskedRecord('conversation')(path)]),
		timeoutMs,
	});

/**
 * Returns a precheck that reads the conversation, and throws NodeOperationError if it does not exist.
 *
 * @param evaluate makes the result of the precheck from the conversation
 */
export function conversationPrecheck(evaluate: (answer: unknown) => PrecheckResult): Precheck {
	return async (item, ...asked) => {
		const answer = await readConversation(item, ...asked);
		if (!isMissingConversation(answer)) return evaluate(answer);
		throw item.operationError(
			`There is no conversation with this ID${item.suffix}`,
			'Check "Conversation": it takes the conversationId that Conversation: Create, a run or the trigger gave.',
		);
	};
}
