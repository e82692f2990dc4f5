import { z } from 'zod';

import { booleanField } from '../../execution/fields';
import type { Item } from '../../execution/item';
import { declare, type PrecheckResult } from '../../execution/operation';
import { deletedItem } from '../../execution/outputs';
import { conversationRecord } from '../../payloads/conversation';
import { conversationLocator } from '../../pickers/locators';
import { anyAnswer } from '../../transport/answer';
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
	sendBody: async (item, send) => {
		try {
			return await send();
		} catch (caught) {
			const error = item.asError(caught);
			if (!/still referenced/i.test(error.message)) throw error;
		}
		await deleteMessages(item);
		return await send();
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
	const path = '/conversations/{id}/messages';
	const id = item.id('conversationId');
	const timeoutMs = item.setting('options.timeout', z.number()) * 1000;
	const request = { timeoutMs, repeatable: true };
	const { items } = await item.call({
		...request,
		method: 'POST',
		path: buildPath(`${path}/search`, { id }),
		body: item.jsonText({ order: { createdAt: 'DESC' } }, {}),
		schema: messageList,
	});
	let left = items.length;
	try {
		for (const { id: message } of items) {
			const one = buildPath(`${path}/{message}`, { id, message });
			await item.call({ ...request, method: 'DELETE', path: one, schema: anyAnswer });
			left -= 1;
		}
	} catch (caught) {
		const error = item.asError(caught);
		error.message = `${error.message}. The conversation is not deleted: ${left} of its ${items.length} messages are left`;
		throw error;
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
