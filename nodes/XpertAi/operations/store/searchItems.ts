import { storeSearch } from '../../payloads/bodies';
import type { IdentityOptions } from '../../payloads/identity';
import type { StatusAdvice } from '../../execution/apiError';
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

/** Advice for a namespace that the server rejects: it starts with an assistant ID. */
export const namespaceAdvice = (displayName: string, further = ''): StatusAdvice => ({
	400: `The server knows no assistant with the ID that begins "${displayName}". Take it from Assistant: Get Many.`,
	500: `On Xpert AI servers "${displayName}" begins with the ID of an assistant that has an embedding model.${further}`,
});

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
	statusAdvice: namespaceAdvice('Namespace Prefix', ' They take no filter.'),
});
