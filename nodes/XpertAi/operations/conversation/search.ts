import type { INodeProperties } from 'n8n-workflow';

import { conversationSearch } from '../../payloads/conversation';
import type { DeclaredOperation, FieldValues } from '../operation';
import { fieldCollection } from '../shared/fields';
import { CONVERSATION_SUMMARY } from './summary';

const filters: INodeProperties[] = [
	{
		displayName: 'Order',
		name: 'order',
		type: 'fixedCollection',
		placeholder: 'Add order',
		default: {},
		description: 'Column to sort by',
		options: [
			{
				displayName: 'Order',
				name: 'values',
				values: [
					{
						displayName: 'Column',
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
		displayName: 'Search Text',
		name: 'search',
		type: 'string',
		default: '',
		placeholder: 'e.g. invoice',
		description: 'Text to look for in the titles',
	},
	{
		displayName: 'Where',
		name: 'where',
		type: 'json',
		default: '{}',
		placeholder: 'e.g. {"threadId": "…"}',
		description:
			'Columns and the values they must have, as a JSON object; operators such as $eq and $in work',
	},
];

export const search: DeclaredOperation = {
	value: 'search',
	name: 'Search',
	action: 'Search conversations',
	description: 'List the conversations of the owner of the token, filtered and sorted',
	endpoint: 'E5',
	method: 'POST',
	path: '/conversations/search',
	body: {
		fields: [fieldCollection('filters', filters)],
		schema: conversationSearch,
		compose: withOrder,
		notShown: true,
		example: '{\n  "where": {},\n  "order": { "createdAt": "DESC" },\n  "limit": 50\n}',
	},
	paging: { resultsKey: 'items' },
	simplify: CONVERSATION_SUMMARY,
};

function withOrder({ order, ...values }: FieldValues): FieldValues {
	if (typeof order !== 'object' || order === null) return values;
	const { column, direction } = order as { column?: string; direction?: string };
	return { ...values, order: { [column ?? 'createdAt']: direction ?? 'DESC' } };
}
