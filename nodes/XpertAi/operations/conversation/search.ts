import { isEmpty } from 'lodash';

import {
	choiceField,
	type FieldValues,
	filledOnly,
	idField,
	panelGroupField,
	rowsField,
	textField,
} from '../../execution/fieldBuilders';
import { declare } from '../../execution/operation';
import { conversationSearch } from '../../payloads/requestSchemas';
import { CONVERSATION_SUMMARY_FIELDS } from './shared';

const filterFields = [
	idField('xpertId', 'Assistant ID', 'ID of the assistant the conversation is with'),
	textField('search', 'Search Text', 'Text to look for in the titles', {
		placeholder: 'e.g. invoice',
	}),
	rowsField(
		'order',
		'Sort',
		'What to sort by; without it, the server decides',
		'Sort',
		[
			choiceField('column', 'Field', undefined, {
				createdAt: 'Created',
				title: 'Title',
				updatedAt: 'Updated',
			}),
			choiceField('direction', 'Direction', undefined, { DESC: 'Descending', ASC: 'Ascending' }),
		],
		// Without `multipleValues`, because the field takes only one sort rule.
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
	route: 'POST /conversations/search',
	body: {
		fields: [panelGroupField('filters', filterFields)],
		schema: conversationSearch,
		compose: withWhereAndOrder,
		fieldByPath: { 'where.xpertId': 'xpertId', 'where.threadId': 'threadId' },
	},
	selectingFieldOptions: { 'filters.xpertId': {}, 'filters.search': {}, 'filters.threadId': {} },
	paging: { resultsKey: 'items' },
	statusAdvice: {
		500: 'Xpert AI servers answer this way to fields and operators they do not know. Check "Additional Fields (JSON)": operators in "where" start with $, e.g. {"title": {"$ilike": "%invoice%"}}.',
	},
	simplify: CONVERSATION_SUMMARY_FIELDS,
});

/** Builds the body from the filters. Filters other than the sort rule and the search text belong to `where`. */
function withWhereAndOrder({ order, search: text, ...where }: FieldValues): FieldValues {
	const { column = 'createdAt', direction = 'DESC' } = (order ?? {}) as FieldValues;
	return filledOnly({
		search: text,
		where: isEmpty(where) ? undefined : where,
		order: order && { [String(column)]: direction },
	});
}
