import { storeSearch } from '../../payloads/bodies';
import { declare } from '../../execution/operation';
import { ID_PLACEHOLDER, fieldCollection, splitList, textField } from '../../execution/fields';

/**
 * Returns a text field for a namespace, with slashes between its elements.
 *
 * @param purpose completes "Namespace to …", e.g. `search below`
 */
export const namespaceField = (name: string, displayName: string, purpose: string) =>
	textField(
		name,
		displayName,
		`Namespace to ${purpose}. On Xpert AI servers it starts with an assistant ID. Separate elements by slashes.`,
		{ placeholder: `${ID_PLACEHOLDER}/notes` },
	);

/** Splits the text of a namespace at the slashes. Returns any other value unchanged, e.g. a list from an expression. */
export const namespaceElements = (value: unknown): unknown =>
	typeof value === 'string' ? splitList(value, '/') : value;

/** Returns the hint for HTTP status 500, about namespaces on Xpert AI servers. */
export const assistantFirst = (displayName: string) =>
	`On Xpert AI servers the first element of "${displayName}" is the ID of an assistant, and this assistant has an embedding model.`;

export const searchItems = declare({
	value: 'searchItems',
	name: 'Search Items',
	action: 'Search items in store',
	endpoint: 'E8',
	description: 'Find what assistants remember, by its meaning or its values',
	route: 'POST /store/items/search',
	body: {
		fields: [
			namespaceField('namespace_prefix', 'Namespace Prefix', 'search below'),
			fieldCollection('filters', [
				textField('query', 'Query', 'What to find by meaning; needs an embedding model', {
					placeholder: 'e.g. favourite colour',
				}),
			]),
		],
		schema: storeSearch,
		compose: ({ namespace_prefix: prefix, ...rest }) => ({
			namespace_prefix: namespaceElements(prefix) ?? [],
			...rest,
		}),
	},
	paging: { resultsKey: 'items' },
	statusHints: { 500: `${assistantFirst('Namespace Prefix')} They take no filter.` },
});
