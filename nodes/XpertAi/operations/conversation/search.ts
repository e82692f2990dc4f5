import isEmpty from 'lodash/isEmpty';
import isPlainObject from 'lodash/isPlainObject';
import type { INodeProperties } from 'n8n-workflow';

import { fieldCollection, filledOnly } from '../../execution/fields';
import type { FieldValues } from '../../execution/fields';
import { declare } from '../../execution/operation';
import { conversationSearch } from '../../payloads/conversation';
import { ID_PLACEHOLDER } from '../../pickers/locators';
import { CONVERSATION_SUMMARY } from './shared';

const filters: INodeProperties[] = [
	{
		displayName: 'Assistant ID',
		name: 'xpertId',
		type: 'string',
		default: '',
		placeholder: ID_PLACEHOLDER,
		description: 'ID of the assistant the conversation is with',
	},
	{
		displayName: 'Conditions',
		name: 'where',
		type: 'json',
		default: '{}',
		placeholder: 'e.g. {"threadId": "…"}',
		description:
			'Fields and the values they must have, as a JSON object. Operators such as $eq and $in work.',
	},
	{
		displayName: 'Search Text',
		name: 'search',
		type: 'string',
		default: '',
		placeholder: 'e.g. invoice',
		description: 'Text to look for in the titles',
	},
	{
		displayName: 'Sort',
		name: 'order',
		type: 'fixedCollection',
		placeholder: 'Add sort rule',
		default: {},
		description: 'What to sort by. Without it, the server decides on the order.',
		options: [
			{
				displayName: 'Sort',
				name: 'values',
				values: [
					{
						displayName: 'Field',
						name: 'column',
						type: 'options',
						options: [
							{ name: 'Created', value: 'createdAt' },
							{ name: 'Title', value: 'title' },
							{ name: 'Updated', value: 'updatedAt' },
						],
						default: 'createdAt',
					},
					{
						displayName: 'Direction',
						name: 'direction',
						type: 'options',
						options: [
							{ name: 'Ascending', value: 'ASC' },
							{ name: 'Descending', value: 'DESC' },
						],
						default: 'DESC',
					},
				],
			},
		],
	},
	{
		displayName: 'Thread ID',
		name: 'threadId',
		type: 'string',
		default: '',
		placeholder: ID_PLACEHOLDER,
		description: 'ID of the thread of the conversation',
	},
];

export const search = declare({
	value: 'search',
	name: 'Get Many',
	action: 'Get many conversations',
	description: 'Get your own conversations, filtered and sorted',
	endpoint: 'E5',
	method: 'POST',
	path: '/conversations/search',
	body: {
		fields: [fieldCollection('filters', filters)],
		schema: conversationSearch,
		compose: withWhereAndOrder,
		sources: { 'where.xpertId': 'xpertId', 'where.threadId': 'threadId' },
		ids: ['where.xpertId', 'where.threadId'],
		notShown: true,
		example: '{\n  "where": {},\n  "order": { "createdAt": "DESC" },\n  "limit": 50\n}',
	},
	paging: { resultsKey: 'items' },
	repeatable: true,
	statusHints: {
		500: 'Xpert AI servers answer this way to fields and operators they do not know. Check "Conditions": operators start with $, e.g. {"title": {"$ilike": "%invoice%"}}.',
	},
	simplify: CONVERSATION_SUMMARY,
});

/** Assistant and thread become conditions on columns; the order names a column and a direction (E5). */
function withWhereAndOrder({
	order,
	where,
	xpertId,
	threadId,
	...values
}: FieldValues): FieldValues {
	const columns = filledOnly({ xpertId, threadId });
	const { column = 'createdAt', direction } = (order ?? {}) as FieldValues;
	return {
		...values,
		...(isEmpty(columns) ? {} : { where: columns }),
		...(where === undefined
			? {}
			: { where: isPlainObject(where) ? { ...where, ...columns } : where }),
		// The schema refuses a column that is not text.
		...(order === undefined
			? {}
			: { order: typeof column === 'string' ? { [column]: direction ?? 'DESC' } : [column] }),
	};
}
