import { filter } from 'lodash';
import { z } from 'zod';

import { switchOnWhenAdded } from '../../execution/fieldBuilders';
import type { Item } from '../../execution/item';
import { declare, type PrecheckResult } from '../../execution/operation';
import { conversationRecordSchema } from '../../payloads/requestSchemas';
import { conversationLocator } from '../../pickers/locators';
import { MESSAGE_PATH, MESSAGE_SEARCH_PATH } from '../../threads/requests';
import { anySuccessfulAnswer } from '../../transport/answerSchemas';
import { buildPath } from '../../transport/api';
import { isMissingConversation, readConversation } from './shared';

export const deleteConversation = declare({
	value: 'delete',
	name: 'Delete',
	endpoint: 'beyond',
	description: 'Delete a conversation with its thread, messages and runs',
	route: 'DELETE /conversations/{conversationId}',
	idFields: [conversationLocator],
	options: [
		switchOnWhenAdded(
			'deleteWhileRunning',
			'Delete While Running',
			'Whether to delete it also while a run is under way, which then ends',
		),
	],
	precheck: async (item, ...asked) => checkNotRunning(await readConversation(item, ...asked), item),
	sendMainRequest: async (item, send) => {
		try {
			return await send();
		} catch (caught) {
			const error = item.asError(caught);
			// Messages that are still there can prevent the deletion.
			if (!/still referenced/i.test(error.message)) throw error;
		}
		await deleteMessages(item);
		return await send();
	},
	answerSchema: z.undefined({ message: 'it is not empty' }),
	answersHint: (answers) => {
		const missing = filter(answers, MISSING_CONVERSATION_OUTPUT).length;
		return missing > 0
			? `Conversations that were not there: ${missing}. Check "Conversation": it takes the conversationId, not the threadId.`
			: undefined;
	},
});

/** What counts as the answer if the conversation does not exist. */
const MISSING_CONVERSATION_OUTPUT = { affected: 0 };

const messageIdsSchema = z.object({ items: z.array(z.object({ id: z.string().min(1) })) });

/**
 * Deletes the messages of a conversation, newest first. Servers do not delete a conversation with several questions
 * while it still has messages.
 *
 * @throws NodeApiError if a request fails. If a deletion fails, the message says how many messages are left.
 */
async function deleteMessages(item: Item): Promise<void> {
	const conversationId = item.filledText('conversationId');
	const timeoutMs = item.setting('options.timeout', z.number()) * 1000;
	const request = { timeoutMs, repeatable: true };
	const { items } = await item.call({
		...request,
		method: 'POST',
		path: buildPath(MESSAGE_SEARCH_PATH, { conversationId }),
		body: item.toJsonText({ order: { createdAt: 'DESC' } }, {}),
		schema: messageIdsSchema,
	});
	let left = items.length;
	try {
		for (const { id: messageId } of items) {
			const path = buildPath(MESSAGE_PATH, { conversationId, messageId });
			await item.call({ ...request, method: 'DELETE', path, schema: anySuccessfulAnswer });
			left -= 1;
		}
	} catch (caught) {
		const error = item.asError(caught);
		error.message = `${error.message}. The conversation is not deleted: ${left} of its ${items.length} messages are left`;
		throw error;
	}
}

/**
 * Checks that no run is in progress, because the deletion would end this run. The option "Delete While Running" turns
 * off this check.
 *
 * @param answer the answer of `readConversation`
 * @returns the output if the conversation does not exist; otherwise an empty result, which lets the deletion go on
 * @throws NodeOperationError if a run is in progress
 */
function checkNotRunning(answer: unknown, item: Item): PrecheckResult {
	if (isMissingConversation(answer)) return { answer: MISSING_CONVERSATION_OUTPUT };
	const isRunning = conversationRecordSchema.parse(answer).status === 'busy';
	if (!isRunning || item.setting('options.deleteWhileRunning', z.boolean())) return {};
	throw item.operationError(
		`The conversation was not deleted: a run of it is under way${item.suffix}`,
		'Try again when the run has ended, or add "Delete While Running" in Options.',
	);
}
