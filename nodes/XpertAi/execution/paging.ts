import { isJsonObject } from '../transport/answer';

export const PAGE_SIZE = 100;

/**
 * Returns a key to detect repeated results: the ID of a result, or the namespace and key of a store item. Other fields
 * may change between two pages, so the whole result is the last resort.
 */
function identityOf(result: unknown): string {
	const { id, assistant_id, thread_id, namespace, key } = isJsonObject(result) ? result : {};
	const place = namespace && key ? [namespace, key] : result;
	return JSON.stringify([id, assistant_id, thread_id, place].find((one) => (one ?? '') !== ''));
}

/**
 * Collects the results of a list endpoint, and drops repeated results. Results repeat if the server ignores `offset`,
 * or if the list changes between two pages.
 *
 * @param fetchPage requests up to `limit` results, starting at `offset`
 * @param wanted the maximum number of results; default: all
 */
export async function collectPages<Result>(
	fetchPage: (page: { limit: number; offset: number }) => Promise<Result[]>,
	wanted = Infinity,
): Promise<Result[]> {
	const results = new Map<string, Result>();
	for (let offset = 0; results.size < wanted; ) {
		const limit = Math.min(PAGE_SIZE, wanted - results.size);
		const page = await fetchPage({ limit, offset });
		const known = results.size;
		for (const result of page) {
			const identity = identityOf(result);
			if (!results.has(identity)) results.set(identity, result);
		}
		// A page with fewer than `limit` results is the last page. A page with more results is the whole list: the
		// server ignored `limit`. A page without new results means that the server ignores `offset`.
		if (page.length !== limit || results.size === known) break;
		offset += page.length;
	}
	return [...results.values()].slice(0, wanted);
}
