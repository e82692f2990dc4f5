import { storeSearch } from '../../payloads/bodies';
import { declare } from '../../execution/operation';
import { ID_PLACEHOLDER, fieldCollection, textField } from '../../execution/fields';
import { assistantFirst, namespaceElements, namespaceField } from './fields';

export const searchItems = declare({
	value: 'searchItems',
	name: 'Search Items',
	action: 'Search items in store',
	endpoint: 'E8',
	description: 'Find what assistants remember, by its meaning or its values',
	method: 'POST',
	path: '/store/items/search',
	body: {
		fields: [
			namespaceField(
				'namespace_prefix',
				'Namespace Prefix',
				'Namespace to search below. On Xpert AI servers it starts with an assistant ID',
				`${ID_PLACEHOLDER}/notes`,
			),
			fieldCollection('filters', [
				textField(
					'query',
					'Query',
					'Text to search for by meaning; the server needs an embedding model',
					{ placeholder: 'e.g. favourite colour' },
				),
			]),
		],
		schema: storeSearch,
		compose: ({ namespace_prefix: prefix, ...rest }) => ({
			namespace_prefix: namespaceElements(prefix) ?? [],
			...rest,
		}),
	},
	paging: { resultsKey: 'items' },
	repeatable: true,
	statusHints: { 500: `${assistantFirst('Namespace Prefix')} They take no filter.` },
});
