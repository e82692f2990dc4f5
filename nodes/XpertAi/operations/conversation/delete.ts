import { z } from 'zod';

import { callOrThrow } from '../../execution/callOrThrow';
import { timeoutSeconds } from '../../execution/declared';
import { booleanField } from '../../execution/fields';
import type { Item } from '../../execution/item';
import { declare, type PrecheckResult } from '../../execution/operation';
import { deletedItem } from '../../execution/outputs';
import { conversationRecord } from '../../payloads/conversation';
import { conversationLocator } from '../../pickers/locators';
import { buildPath } from '../../transport/api';
import { isMissing, readConversationFirst } from './shared';

export const deleteConversation = declare({
	value: 'delete',
	name: 'Delete',
	action: 'Delete conversation',
	endpoint: 'beyond',
	description: 'Delete a conversation with its thread, messages and runs',
	method: 'DELETE',
	path: '/conversations/{conversationId}',
	ids: [conversationLocator],
	precheck: {
		...readConversationFirst,
		options: [
			booleanField(
				'deleteWhileRunning',
				'Delete While Running',
				'Whether to delete it also while a run is under way, which then ends',
			),
		],
		evaluate: unlessRunning,
	},
	sendBody: async (item, request) => {
		try {
			return await request();
		} catch (caught) {
			const error = item.asError(caught);
			if (!/still referenced/i.test(error.message)) throw error;
		}
		await deleteMessages(item);
		return await request();
	},
	answer: z.undefined({ message: 'it is not empty' }),
	shape: deletedItem,
});

const messageList = z.object({ items: z.array(z.object({ id: z.string().min(1) })) });

/**
 * Deletes the messages of a conversation, newest first: with two questions or more, servers do not delete it before
 * (recorded, `conversation-delete`).
 *
 * @throws NodeApiError saying how many messages are left
 */
async function deleteMessages(item: Item): Promise<void> {
	const { context, send } = item;
	const path = '/conversations/{id}/messages';
	const id = item.id('conversationId');
	const common = {
		timeoutMs: item.setting('options.timeout', timeoutSeconds) * 1000,
		repeatable: true,
	};
	const { items: messages } = await callOrThrow(context, send, {
		...common,
		method: 'POST',
		path: buildPath(`${path}/search`, { id }),
		body: item.jsonText({ order: { createdAt: 'DESC' } }, {}),
		schema: messageList,
	});
	for (const [index, message] of messages.entries()) {
		const request = {
			...common,
			method: 'DELETE' as const,
			path: buildPath(`${path}/{message}`, { id, message: message.id }),
			schema: z.unknown(),
		};
		await callOrThrow(context, send, request, {
			toError: (failure) => {
				const error = item.apiError(failure);
				const left = messages.length - index;
				error.message = `${error.message}. The conversation is not deleted: ${left} of its ${messages.length} messages are left`;
				return error;
			},
		});
	}
}

/** Servers also delete a busy conversation, whose run then ends with an error of the database. */
function unlessRunning(answer: unknown, item: Item): PrecheckResult {
	if (isMissing(answer)) return { answer: { affected: 0 } };
	const isRunning = conversationRecord.parse(answer).status === 'busy';
	if (!isRunning || item.boolean('options.deleteWhileRunning')) return {};
	throw item.operationError(
		`The conversation was not deleted: a run of it is under way${item.suffix}`,
		'Try again when the run has ended, or switch on "Delete While Running" in Options.',
	);
}
