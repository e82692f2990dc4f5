import isEmpty from 'lodash/isEmpty';

import {
	choiceField,
	fieldCollection,
	filledOnly,
	idField,
	rowsField,
	textField,
} from '../../execution/fields';
import type { FieldValues } from '../../execution/fields';
import { declare } from '../../execution/operation';
import { conversationSearch } from '../../payloads/conversation';
import { CONVERSATION_SUMMARY } from './shared';

const filters = [
	idField('xpertId', 'Assistant ID', 'ID of the assistant the conversation is with'),
	textField('search', 'Search Text', 'Text to look for in the titles', {
		placeholder: 'e.g. invoice',
	}),
	rowsField(
		'order',
		'Sort',
		'What to sort by. Without it, the server decides on the order.',
		'Sort',
		[
			choiceField('column', 'Field', undefined, {
				createdAt: 'Created',
				title: 'Title',
				updatedAt: 'Updated',
			}),
			choiceField(
				'direction',
				'Direction',
				undefined,
				{ ASC: 'Ascending', DESC: 'Descending' },
				{ default: 'DESC' },
			),
		],
		// One rule only.
		{ typeOptions: undefined, placeholder: 'Add sort rule' },
	),
	idField('threadId', 'Thread ID', 'ID of the thread of the conversation'),
];

export const search = declare({
	value: 'search',
	name: 'Get Many',
	action: 'Get many conversations',
	endpoint: 'E5',
	description: 'Get your own conversations, filtered and sorted',
	method: 'POST',
	path: '/conversations/search',
	body: {
		fields: [fieldCollection('filters', filters)],
		schema: conversationSearch,
		compose: withWhereAndOrder,
		fieldByPath: { 'where.xpertId': 'xpertId', 'where.threadId': 'threadId' },
		ids: ['where.xpertId', 'where.threadId'],
	},
	paging: { resultsKey: 'items' },
	repeatable: true,
	statusHints: {
		500: 'Xpert AI servers answer this way to fields and operators they do not know. Check "Additional Fields (JSON)": operators in "where" start with $, e.g. {"title": {"$ilike": "%invoice%"}}.',
	},
	simplify: CONVERSATION_SUMMARY,
});

/** Assistant and thread become conditions on columns; the order names a column and a direction. */
function withWhereAndOrder({ order, search: text, ...where }: FieldValues): FieldValues {
	const { column = 'createdAt', direction = 'DESC' } = (order ?? {}) as FieldValues;
	// The schema refuses a column that is not text.
	const sorted = typeof column === 'string' ? { [column]: direction } : [column];
	return filledOnly({
		search: text,
		where: isEmpty(where) ? undefined : where,
		order: order && sorted,
	});
}
