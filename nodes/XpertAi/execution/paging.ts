import { isJsonObject } from '../transport/answer';

export const PAGE_SIZE = 100;

/**
 * The identity of a result, by which a repeated result is found: its ID or, for an item of the store, its namespace and
 * key, because other fields may change between two pages. Without these, the whole result is its identity.
 */
function identityOf(result: unknown): string {
	const { id, assistant_id, thread_id, namespace, key } = isJsonObject(result) ? result : {};
	const place = namespace && key ? [namespace, key] : result;
	return JSON.stringify([id, assistant_id, thread_id, place].find((one) => (one ?? '') !== ''));
}

/**
 * Collects the results of a list endpoint, and drops repeated ones. Results repeat if the server ignores `limit` and
 * `offset`, or if the list changes between two pages.
 *
 * @param fetchPage asks for `limit` results, starting at `offset`; throws if the request fails
 * @param wanted how many results to return at most; default: all
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
		// A shorter page is the last one. A longer page has all results, because the server ignored `limit`. A page
		// without new results shows that the server ignores `offset`.
		if (page.length !== limit || results.size === known) break;
		offset += page.length;
	}
	return [...results.values()].slice(0, wanted);
}
