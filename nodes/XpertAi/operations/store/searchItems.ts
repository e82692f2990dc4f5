import { storeSearch } from '../../payloads/store';
import { declare } from '../../execution/operation';
import { fieldCollection } from '../../execution/fields';
import { ID_PLACEHOLDER } from '../shared/locators';
import { assistantFirst, namespaceElements, namespaceField } from './fields';

export const searchItems = declare({
	value: 'searchItems',
	name: 'Search Items',
	action: 'Search items in the store',
	description: 'Find items of the long-term store below a namespace, by meaning or by value',
	endpoint: 'E8',
	method: 'POST',
	path: '/store/items/search',
	body: {
		fields: [
			namespaceField(
				'namespace_prefix',
				'Namespace Prefix',
				'Namespace to search below; Xpert AI servers want an assistant ID as its first element',
				`${ID_PLACEHOLDER}/notes`,
			),
			fieldCollection('filters', [
				{
					displayName: 'Filter',
					name: 'filter',
					type: 'json',
					default: '{}',
					placeholder: 'e.g. {"color": "blue"}',
					description:
						'Keys of the value and what they must be, as a JSON object; Xpert AI servers do not take it',
				},
				{
					displayName: 'Query',
					name: 'query',
					type: 'string',
					default: '',
					placeholder: 'e.g. favourite colour',
					description: 'Text to search for by meaning; the server needs an embedding model',
				},
			]),
		],
		schema: storeSearch,
		compose: ({ namespace_prefix: prefix, ...rest }) => ({
			namespace_prefix: namespaceElements(prefix) ?? [],
			...rest,
		}),
		notShown: true,
		example: '{\n  "namespace_prefix": ["memories"],\n  "limit": 10\n}',
	},
	paging: { resultsKey: 'items' },
	repeatable: true,
	statusHints: { 500: `${assistantFirst('Namespace Prefix')} They take no Filter.` },
});
