import isEqual from 'lodash/isEqual';

const PAGE_SIZE = 100;

/** Fetches one page; throws when it cannot. */
export type FetchPage = (page: { limit: number; offset: number }) => Promise<unknown[]>;

/**
 * Collects the results of a list endpoint (E5, E7, E8, E11). Ends on servers that ignore `limit`
 * and `offset` as well, without giving a result twice.
 *
 * @param fetchPage fetches `limit` results from `offset` on
 * @param wanted how many results to return; all without it
 */
export async function collectPages(fetchPage: FetchPage, wanted = Infinity): Promise<unknown[]> {
	const results: unknown[] = [];
	while (results.length < wanted) {
		const limit = Math.min(PAGE_SIZE, wanted - results.length);
		const page = await fetchPage({ limit, offset: results.length });
		const offsetIgnored = results.length > 0 && isEqual(page[0], results[0]);
		if (offsetIgnored) break;
		results.push(...page);
		// A short page is the last one; a longer page than asked for holds everything.
		if (page.length !== limit) break;
	}
	return results.slice(0, wanted);
}
