import fc from 'fast-check';

import { PAGE_SIZE, collectResults } from 'nodes/XpertAi/execution/paging';

interface Page {
	limit: number;
	offset: number;
}

const resultsOf = (count: number) =>
	Array.from({ length: count }, (_, index) => ({ id: `r${index}`, metadata: { same: true } }));

const honest = (all: unknown[], { limit, offset }: Page) => all.slice(offset, offset + limit);

/** Collects from a server and counts the requests; more than the results can need never end. */
async function collect(count: number, wanted?: number, page = honest) {
	const asked: Page[] = [];
	const all = resultsOf(count);
	const results = await collectResults(async (range) => {
		asked.push(range);
		if (asked.length > count / PAGE_SIZE + 2) throw new Error('asks without end');
		return page(all, range);
	}, wanted);
	return { results, asked };
}

describe('collectResults', () => {
	it.each<[string, typeof honest, number]>([
		['keeps to limit and offset', honest, Infinity],
		['ignores both (Xpert, E7)', (all) => all, Infinity],
		['ignores only the offset', (all, { limit }) => all.slice(0, limit), PAGE_SIZE],
		['ignores only the limit', (all, { offset }) => all.slice(offset), Infinity],
	])('gives the first results once and in order on a server that %s', async (_, page, reach) => {
		const most = fc.oneof(fc.integer({ min: 1, max: 500 }), fc.constant(undefined));
		const count = fc.oneof(fc.nat(450), fc.constantFrom(0, 1, 99, 100, 101, 200, 300));
		await fc.assert(
			fc.asyncProperty(count, most, async (held, wanted = Infinity) => {
				const { results, asked } = await collect(held, wanted, page);
				expect(results).toEqual(resultsOf(Math.min(wanted, held, reach)));
				for (const { limit, offset } of asked) {
					expect(limit).toBeGreaterThan(0);
					expect(limit).toBeLessThanOrEqual(Math.min(PAGE_SIZE, wanted - offset));
				}
			}),
		);
	});

	it.each<[string, number, number | undefined, Page[]]>([
		['all of 230', 230, undefined, [0, 100, 200].map((offset) => ({ limit: 100, offset }))],
		['50 of 500', 500, 50, [{ limit: 50, offset: 0 }]],
		['100 of 500', 500, 100, [{ limit: 100, offset: 0 }]],
	])('asks for the pages of %s results', async (_, count, wanted, pages) => {
		expect((await collect(count, wanted)).asked).toEqual(pages);
	});

	it('gives each result of a list once that grows at its start meanwhile', async () => {
		const all: unknown[] = resultsOf(250);
		const fetchPage = async (page: Page) => {
			const results = honest(all, page);
			all.unshift({ id: `new at ${page.offset}`, metadata: { same: true } });
			return results;
		};
		expect(await collectResults(fetchPage)).toEqual(resultsOf(250));
	});

	it('ends on a server that shows its last page for ever, whatever changes in it', async () => {
		const identity = fc.constantFrom<Array<(index: number) => object>>(
			(index) => ({ id: `r${index}` }),
			(index) => ({ id: index }),
			(index) => ({ assistant_id: `r${index}`, name: 'same' }),
			(index) => ({ thread_id: `r${index}` }),
			(index) => ({ namespace: ['memories', `user-${index % 7}`], key: `k${index}` }),
		);
		const change = fc.constantFrom('updatedAt', 'score', 'status', 'metadata');
		await fc.assert(
			fc.asyncProperty(
				identity,
				change,
				fc.integer({ min: 1, max: 3 }),
				async (of, field, pages) => {
					const count = pages * PAGE_SIZE;
					let asked = 0;
					const results = await collectResults(async ({ limit, offset }) => {
						asked += 1;
						if (asked > pages + 1) throw new Error('asks without end');
						const start = Math.min(offset, count - limit);
						return Array.from({ length: limit }, (_, index) => ({
							...of(start + index),
							[field]: `at request ${asked}`,
						}));
					});
					expect(results).toHaveLength(count);
				},
			),
		);
	});

	it.each<[string, unknown[]]>([
		['have an empty ID', Array.from({ length: 150 }, (_, value) => ({ id: '', key: 'k', value }))],
		['are plain values', [null, ...Array.from({ length: 150 }, (_, index) => ['m', `u${index}`])]],
	])('takes results for different that %s', async (_, all) => {
		expect(await collectResults(async (page) => honest(all, page))).toEqual(all);
	});

	it('goes on to what else a page holds beside a result that was there', async () => {
		const all = resultsOf(250);
		const results = await collectResults(async ({ limit, offset }) =>
			offset === 0 ? all.slice(0, limit) : [all[0], ...all.slice(offset, offset + limit - 1)],
		);
		expect(results).toEqual(expect.arrayContaining([all[100], all[198]]));
		expect(new Set(results).size).toBe(results.length);
	});

	it('holds very many results of one page', async () => {
		expect(await collectResults(async () => resultsOf(200_000))).toHaveLength(200_000);
	});
});
