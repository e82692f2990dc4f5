import { isJsonObject } from '../transport/answer';

/** Results asked for at once. */
export const PAGE_SIZE = 100;

/** Fetches one page; throws when it cannot. */
export type FetchPage = (page: { limit: number; offset: number }) => Promise<unknown[]>;

/** Keys that tell a result from all others; an item of the store (E8) has two that do so together. */
const IDENTITIES = [['id'], ['assistant_id'], ['thread_id'], ['namespace', 'key']];

/**
 * What a result is known by when it is shown again: its id, since its other fields may have changed
 * meanwhile, or the whole of it where it has none.
 */
function identityOf(result: unknown): string {
	if (!isJsonObject(result)) return JSON.stringify(result);
	const keys = IDENTITIES.find((names) => names.every((name) => (result[name] ?? '') !== ''));
	return JSON.stringify(keys ? keys.map((name) => result[name]) : result);
}

/**
 * Collects the results of a list endpoint (E5, E7, E8, E11), each once: also on servers that ignore
 * `limit` and `offset`, and from lists that grow or change meanwhile, which show results again that an
 * earlier page had.
 *
 * @param fetchPage fetches `limit` results from `offset` on
 * @param wanted how many results to return; all without it
 */
export async function collectPages(fetchPage: FetchPage, wanted = Infinity): Promise<unknown[]> {
	const results: unknown[] = [];
	const earlier = new Set<string>();
	for (let offset = 0; results.length < wanted; ) {
		const limit = Math.min(PAGE_SIZE, wanted - results.length);
		const page = await fetchPage({ limit, offset });
		const identities = page.map(identityOf);
		const fresh = page.filter((_, index) => !earlier.has(identities[index] ?? ''));
		for (const result of fresh) results.push(result);
		for (const identity of identities) earlier.add(identity);
		// A short page is the last one; a longer page than asked for holds everything.
		if (page.length !== limit || fresh.length === 0) break;
		offset += page.length;
	}
	return results.slice(0, wanted);
}
