import { isEqual, isMatch, uniqBy } from 'lodash';
import type { Call, Endpoint } from '../context';
import type { StoreItem } from '../entities';
import { asObject, type Loose } from '../values';
import { checked } from './errors';
import { itemSearch, namespaceList } from './schemas';

const startsWith = (namespace: string[], prefix: string[]) =>
	isEqual(namespace.slice(0, prefix.length), prefix);

const shown = ({ namespace, key, value, createdAt, updatedAt }: StoreItem): Loose => ({
	namespace,
	key,
	value,
	created_at: createdAt,
	updated_at: updatedAt,
});

/** Items under a namespace that have the values asked for; words are looked for in the value as text. */
function search({ context, body }: Call): Loose {
	const {
		namespace_prefix: prefix,
		filter,
		limit,
		offset,
		query,
	} = checked(itemSearch, body ?? {});
	const items = context.store.items.filter(
		(item) =>
			startsWith(item.namespace, prefix) &&
			isMatch(asObject(item.value), filter ?? {}) &&
			JSON.stringify(item.value)
				.toLowerCase()
				.includes((query ?? '').toLowerCase()),
	);
	return { items: items.slice(offset, offset + limit).map(shown) };
}

function namespaces({ context, body }: Call): Loose {
	const { prefix, suffix, max_depth: depth, limit, offset } = checked(namespaceList, body ?? {});
	const found = context.store.items
		.map(({ namespace }) => namespace)
		.filter(
			(namespace) =>
				startsWith(namespace, prefix) &&
				(suffix.length === 0 || isEqual(namespace.slice(-suffix.length), suffix)),
		)
		.map((namespace) => namespace.slice(0, depth));
	return {
		namespaces: uniqBy(found, (parts) => JSON.stringify(parts)).slice(offset, offset + limit),
	};
}

/** E8 and E11. */
export const storeEndpoints: Endpoint[] = [
	{ id: 'E8', method: 'POST', path: '/store/items/search', status: 200, handle: search },
	{ id: 'E11', method: 'POST', path: '/store/namespaces', status: 200, handle: namespaces },
];
