import type { IDataObject } from 'n8n-workflow';

import { choiceField, idField, optionsField } from '../../execution/fieldBuilders';
import { declare } from '../../execution/operation';
import { MESSAGE_ROLES, MESSAGE_STATUSES, messageSearchBody } from '../../payloads/requestSchemas';
import { conversationLocator } from '../../pickers/locators';
import { withoutLinks } from '../../threads/sources';
import { textOfContent } from '../../threads/thread';
import { conversationPrecheck } from './shared';

export const getMessages = declare({
	value: 'getMessages',
	name: 'Get Messages',
	action: 'Get messages of conversation',
	endpoint: 'beyond',
	description: 'Get the messages of a conversation',
	route: 'POST /conversations/{conversationId}/messages/search',
	idFields: [conversationLocator],
	body: {
		fields: [
			optionsField([
				choiceField('role', 'From', 'Who sent the message', MESSAGE_ROLES),
				idField('executionId', 'Run ID', 'ID of the run whose answer is wanted'),
				choiceField('status', 'Status', 'How the answer has ended', MESSAGE_STATUSES, {
					default: 'success',
				}),
			]),
		],
		schema: messageSearchBody,
		compose: ({ options = {} }) => ({ where: options, order: { createdAt: 'ASC' } }),
		fieldByPath: {
			'where.role': 'options.role',
			'where.executionId': 'options.executionId',
			'where.status': 'options.status',
		},
	},
	selectingFieldOptions: { 'options.executionId': {} },
	paging: { resultsKey: 'items' },
	// Servers return an empty list for a conversation that does not exist.
	onEmptyList: conversationPrecheck(() => ({})),
	simplify: messageSummary,
});

function messageSummary(message: IDataObject): IDataObject {
	const { id, role, content, status, error, executionId, attachments, createdAt } = message;
	const isAnswer = role === 'ai';
	return {
		id,
		from: isAnswer ? 'assistant' : 'user',
		// A question stays as the user wrote it.
		text: isAnswer ? withoutLinks(textOfContent(content)) : textOfContent(content),
		status,
		error,
		runId: executionId,
		files: attachments,
		createdAt,
	};
}
