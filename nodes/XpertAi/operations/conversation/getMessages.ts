import type { IDataObject } from 'n8n-workflow';

import { enumOptions } from '../../execution/fields';
import { declare } from '../../execution/operation';
import { MESSAGE_ROLES, MESSAGE_STATUSES, messageSearch } from '../../payloads/conversation';
import { ID_PLACEHOLDER, conversationLocator } from '../../pickers/locators';
import { textOf } from '../../threads/messages';

export const getMessages = declare({
	value: 'getMessages',
	name: 'Get Messages',
	action: 'Get messages of conversation',
	description: 'Get the messages of a conversation',
	endpoint: 'extension',
	method: 'POST',
	path: '/conversations/{conversationId}/messages/search',
	ids: {
		conversationId: conversationLocator,
	},
	body: {
		fields: [],
		options: [
			{
				displayName: 'From',
				name: 'role',
				type: 'options',
				options: enumOptions(MESSAGE_ROLES, { ai: 'Assistant', human: 'Person' }),
				default: 'human',
				description: 'Who has said it',
			},
			{
				displayName: 'Run ID',
				name: 'executionId',
				type: 'string',
				default: '',
				placeholder: ID_PLACEHOLDER,
				description: 'ID of the run whose answer is wanted',
			},
			{
				displayName: 'Status',
				name: 'status',
				type: 'options',
				options: enumOptions(MESSAGE_STATUSES, {
					error: 'Failed',
					success: 'Complete',
					thinking: 'Under Way',
				}),
				default: 'success',
				description: 'How the answer has ended',
			},
		],
		schema: messageSearch,
		compose: ({ options = {} }) => ({ where: options, order: { createdAt: 'ASC' } }),
		sources: {
			'where.role': 'options.role',
			'where.executionId': 'options.executionId',
			'where.status': 'options.status',
		},
		ids: ['where.executionId'],
		example:
			'{\n  "where": { "role": "ai" },\n  "order": { "createdAt": "ASC" },\n  "limit": 50\n}',
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
