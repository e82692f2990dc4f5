import { storeSearch } from '../../payloads/bodies';
import type { IdentityOptions } from '../../payloads/identity';
import { declare } from '../../execution/operation';
import { ID_PLACEHOLDER, fieldCollection, splitList, textField } from '../../execution/fields';

/**
 * Returns a text field for a namespace.
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

/** Splits a text at its slashes. A list stays unchanged. */
export const namespaceElements = (value: unknown): unknown =>
	typeof value === 'string' ? splitList(value, '/') : value;

/** Without one of its elements, a namespace would be that of all users. */
export const EVERY_ELEMENT: IdentityOptions = { everyPart: true };

/** Returns the advice for HTTP status 500: a namespace starts with an assistant ID. */
export const assistantFirstAdvice = (displayName: string) =>
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
	identifying: { namespace_prefix: EVERY_ELEMENT, 'filters.query': {} },
	paging: { resultsKey: 'items' },
	statusAdvice: { 500: `${assistantFirstAdvice('Namespace Prefix')} They take no filter.` },
});
