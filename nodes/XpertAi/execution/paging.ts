const PAGE_SIZE = 100;

/** Fetches one page; throws when it cannot. */
export type FetchPage = (page: { limit: number; offset: number }) => Promise<unknown[]>;

/**
 * Collects the results of a list endpoint (E5, E7, E8, E11), each once: also on servers that ignore
 * `limit` and `offset`, and from lists that grow or change their order meanwhile, which show results
 * again that an earlier page had.
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
		const texts = page.map((result) => JSON.stringify(result));
		const fresh = page.filter((_, index) => !earlier.has(texts[index] ?? ''));
		for (const result of fresh) results.push(result);
		for (const text of texts) earlier.add(text);
		// A short page is the last one; a longer page than asked for holds everything.
		if (page.length !== limit || fresh.length === 0) break;
		offset += page.length;
	}
	return results.slice(0, wanted);
}
