import { isJsonObject } from '../payloads/json';

export const PAGE_SIZE = 100;

/** Returns a text that identifies a result. Prefers IDs, because other fields may change between requests. */
function resultIdentity(result: unknown): string {
	const { id, assistant_id, thread_id, namespace, key } = isJsonObject(result) ? result : {};
	const keyOrWhole = namespace && key ? [namespace, key] : result;
	return JSON.stringify(
		[id, assistant_id, thread_id, keyOrWhole].find((one) => (one ?? '') !== ''),
	);
}

/**
 * Collects the results of a list endpoint, each result once.
 *
 * @param fetchPage requests up to `limit` results, starting at `offset`
 * @param wanted the maximum number of results; default: all
 */
export async function collectResults<Result>(
	fetchPage: (page: { limit: number; offset: number }) => Promise<Result[]>,
	wanted = Infinity,
): Promise<Result[]> {
	const results = new Map<string, Result>();
	for (let offset = 0; results.size < wanted; ) {
		const limit = Math.min(PAGE_SIZE, wanted - results.size);
		const page = await fetchPage({ limit, offset });
		const countBefore = results.size;
		for (const result of page) {
			const identity = resultIdentity(result);
			if (!results.has(identity)) results.set(identity, result);
		}
		// Fewer results than `limit`: this is the last page.
		// More results than `limit`: the server ignored `limit` and sent the whole list.
		// No new results: the server ignored `offset`.
		if (page.length !== limit || results.size === countBefore) break;
		offset += page.length;
	}
	return [...results.values()].slice(0, wanted);
}
