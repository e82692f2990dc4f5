import { isJsonObject } from '../transport/answer';

/** Results per page. */
export const PAGE_SIZE = 100;

/** Keys that identify a result; an item of the store needs two. */
const IDENTITIES = [['id'], ['assistant_id'], ['thread_id'], ['namespace', 'key']];

/**
 * Identifies a result that is listed again: by its ID, as other fields may have changed, or by all of it if it has
 * none.
 */
function identityOf(result: unknown): string {
	if (!isJsonObject(result)) return JSON.stringify(result);
	const keys = IDENTITIES.find((names) => names.every((name) => (result[name] ?? '') !== ''));
	return JSON.stringify(keys ? keys.map((name) => result[name]) : result);
}

/**
 * Collects the results of a list endpoint, each once, even if the server ignores `limit` and `offset`
 * or the list changes meanwhile, so that results are listed again.
 *
 * @param fetchPage fetches `limit` results from `offset` on; throws if it fails
 * @param wanted how many results to return; default all
 */
export async function collectPages<Result>(
	fetchPage: (page: { limit: number; offset: number }) => Promise<Result[]>,
	wanted = Infinity,
): Promise<Result[]> {
	const results: Result[] = [];
	const seen = new Set<string>();
	for (let offset = 0; results.length < wanted; ) {
		const limit = Math.min(PAGE_SIZE, wanted - results.length);
		const page = await fetchPage({ limit, offset });
		const identities = page.map(identityOf);
		const fresh = page.filter((_, index) => !seen.has(identities[index] ?? ''));
		for (const result of fresh) results.push(result);
		for (const identity of identities) seen.add(identity);
		// A short page is the last; a page longer than asked for has everything.
		if (page.length !== limit || fresh.length === 0) break;
		offset += page.length;
	}
	return results.slice(0, wanted);
}
