import { isEmpty, orderBy, uniqBy } from 'lodash';
import MiniSearch from 'minisearch';
import type { Call, Endpoint } from '../context';
import type { StoreItem } from '../entities';
import { badRequest, internal } from '../errors';
import { asObject, isUuid, type Loose } from '../values';

const NO_MATCH_SCORE = 0.05;

/**
 * A namespace asked for: text parts, the first of them an assistant's id. Anything else fails, and so does that of an
 * assistant without a model for its memory where the server has none for all (`memory`).
 */
function namespace({ context }: Call, value: unknown): string[] {
	if (!Array.isArray(value) || value.some((part) => typeof part !== 'string')) throw internal();
	const parts = value as string[];
	const hasModel = context.store.assistants.get(parts[0] ?? '')?.memory ?? false;
	if (!hasModel && !context.embeddingModel) throw internal();
	if (parts.length === 0) return parts;
	if (!isUuid(parts[0])) throw internal();
	if (!context.store.assistants.has(parts[0])) {
		throw badRequest('The Xpert creator is required before model access and usage can be billed.');
	}
	return parts;
}

function bound(value: unknown, otherwise: number): number {
	const number = Number(value ?? otherwise);
	if (!(number >= 0)) throw internal();
	return number;
}

function bodyOf({ body }: Call): Loose {
	if (body === undefined) throw internal();
	return asObject(body);
}

/** Items under a namespace, newest first; the last part may be a beginning (`E08` "partial prefix match?"). */
function under(call: Call, prefix: string[]): StoreItem[] {
	const start = prefix.join(':');
	const items = call.context.store.items.filter((item) => item.prefix.startsWith(start));
	return orderBy(items.reverse(), 'updatedAt', 'desc');
}

/** All items with a score, best first: words stand in for the meaning the real server compares. */
function ranked(items: StoreItem[], query: string): Array<StoreItem & { score: number }> {
	const index = new MiniSearch({ fields: ['text'] });
	index.addAll(items.map((item, id) => ({ id, text: JSON.stringify(item.value) })));
	const scores = new Map(index.search(query).map((hit) => [Number(hit.id), hit.score]));
	const scored = items.map((item, id) => {
		const score = scores.get(id);
		return { ...item, score: score === undefined ? NO_MATCH_SCORE : score / (score + 1) };
	});
	return orderBy(scored, 'score', 'desc');
}

function search(call: Call): Loose {
	const { namespace_prefix: prefix, filter, limit, offset, query } = bodyOf(call);
	if (!isEmpty(filter)) throw internal();
	const items = under(call, namespace(call, prefix));
	const [take, skip] = [bound(limit, 10), bound(offset, 0)];
	const found = typeof query === 'string' && query !== '' ? ranked(items, query) : items;
	return { items: found.slice(skip, skip + take) };
}

function namespaces(call: Call): Loose {
	const { prefix, suffix, max_depth: depth, limit, offset } = bodyOf(call);
	const [deepest, take, skip] = [bound(depth, Infinity), bound(limit, 100), bound(offset, 0)];
	const end = Array.isArray(suffix) ? suffix.map(String) : [];
	const found = under(call, namespace(call, prefix ?? []))
		.map((item) => item.namespace)
		.filter((parts) =>
			end.every((part, place) => parts[parts.length - end.length + place] === part),
		)
		.map((parts) => parts.slice(0, deepest));
	return { namespaces: uniqBy(found, (parts) => parts.join(':')).slice(skip, skip + take) };
}

export const storeEndpoints: Endpoint[] = [
	{ id: 'E8', method: 'POST', path: '/store/items/search', status: 201, handle: search },
	{ id: 'E11', method: 'POST', path: '/store/namespaces', status: 201, handle: namespaces },
];
