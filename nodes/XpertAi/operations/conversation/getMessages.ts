import type { IDataObject } from 'n8n-workflow';

import { choiceField, idField } from '../../execution/fields';
import { declare } from '../../execution/operation';
import { messageSearch } from '../../payloads/conversation';
import type { MESSAGE_ROLES, MESSAGE_STATUSES } from '../../payloads/conversation';
import { conversationLocator } from '../../pickers/locators';
import { textOf } from '../../threads/thread';

export const getMessages = declare({
	value: 'getMessages',
	name: 'Get Messages',
	action: 'Get messages of conversation',
	endpoint: 'beyond',
	description: 'Get the messages of a conversation',
	method: 'POST',
	path: '/conversations/{conversationId}/messages/search',
	ids: [conversationLocator],
	body: {
		fields: [],
		options: [
			choiceField<(typeof MESSAGE_ROLES)[number]>('role', 'From', 'Who sent the message', {
				human: 'Person',
				ai: 'Assistant',
			}),
			idField('executionId', 'Run ID', 'ID of the run whose answer is wanted'),
			choiceField<(typeof MESSAGE_STATUSES)[number]>(
				'status',
				'Status',
				'How the answer has ended',
				{ error: 'Failed', success: 'Complete', thinking: 'Under Way' },
				{ default: 'success' },
			),
		],
		schema: messageSearch,
		compose: ({ options = {} }) => ({ where: options, order: { createdAt: 'ASC' } }),
		fieldByPath: {
			'where.role': 'options.role',
			'where.executionId': 'options.executionId',
			'where.status': 'options.status',
		},
		ids: ['where.executionId'],
	},
	paging: { resultsKey: 'items' },
	repeatable: true,
	simplify: messageSummary,
});

/** Sender, text, status and run of a message. */
function messageSummary(message: IDataObject): IDataObject {
	const { id, role, content, status, error, executionId, attachments, createdAt } = message;
	return {
		id,
		from: role === 'ai' ? 'assistant' : 'user',
		text: textOf(content),
		status,
		error,
		runId: executionId,
		files: attachments,
		createdAt,
	};
}
