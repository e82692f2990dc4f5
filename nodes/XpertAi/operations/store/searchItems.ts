import { storeSearch } from '../../payloads/requestSchemas';
import type { IdentityOptions } from '../../payloads/identity';
import type { StatusAdvice } from '../../execution/apiError';
import { declare } from '../../execution/operation';
import {
	ID_PLACEHOLDER,
	panelGroupField,
	splitList,
	textField,
} from '../../execution/fieldBuilders';

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

/** Splits a text into the elements of a namespace. Returns a list unchanged. */
export const namespaceElements = (value: unknown): unknown =>
	typeof value === 'string' ? splitList(value, '/') : value;

/** A namespace needs all its elements. Otherwise the namespace of one user could become that of all users. */
export const NAMESPACE_IDENTITY_OPTIONS: IdentityOptions = { needsEveryPart: true };

/**
 * Returns advice for a namespace that the server rejects, by HTTP status.
 *
 * @param displayName the display name of the namespace field
 * @param further text to append to the advice for status 500
 */
export const namespaceStatusAdvice = (displayName: string, further = ''): StatusAdvice => ({
	400: `The server knows no assistant with the ID that begins "${displayName}". Take it from Assistant: Get Many.`,
	500: `Begin "${displayName}" with the ID of an assistant that has an embedding model.${further}`,
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
			panelGroupField('filters', [
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
	selectingFieldOptions: { namespace_prefix: NAMESPACE_IDENTITY_OPTIONS, 'filters.query': {} },
	paging: { resultsKey: 'items' },
	statusAdvice: namespaceStatusAdvice('Namespace Prefix', ' Xpert AI servers take no "filter".'),
});
