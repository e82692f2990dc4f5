import { z } from 'zod';

import { booleanField } from '../../execution/fields';
import type { Item } from '../../execution/item';
import { declare, type PrecheckResult } from '../../execution/operation';
import { deletedItem } from '../../execution/outputs';
import { conversationRecord } from '../../payloads/conversation';
import { conversationLocator } from '../../pickers/locators';
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
	answer: z.undefined({ message: 'it is not empty' }),
	shape: deletedItem,
});

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
