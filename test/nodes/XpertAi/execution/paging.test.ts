import fc from 'fast-check';

import { collectPages } from '../../../../nodes/XpertAi/execution/paging';

const PAGE_SIZE = 100;

const resultsOf = (count: number) =>
	Array.from({ length: count }, (_, index) => ({ id: `r${index}`, metadata: { same: true } }));

/** A server with some results, and what it makes of `limit` and `offset`. */
interface Kind {
	name: string;
	page: (all: unknown[], page: { limit: number; offset: number }) => unknown[];
	/** How many results can be had at all of a server that has `count`, when `wanted` are asked for. */
	reachable: (count: number, wanted: number) => number;
}

const KINDS: Kind[] = [
	{
		name: 'that keeps to limit and offset',
		page: (all, { limit, offset }) => all.slice(offset, offset + limit),
		reachable: (count) => count,
	},
	{
		name: 'that ignores both (Xpert, E7)',
		page: (all) => all,
		reachable: (count) => count,
	},
	{
		name: 'that ignores only the offset',
		page: (all, { limit }) => all.slice(0, limit),
		reachable: (count) => Math.min(count, PAGE_SIZE),
	},
	{
		name: 'that ignores only the limit',
		page: (all, { offset }) => all.slice(offset),
		reachable: (count) => count,
	},
];

/** Collects from such a server and counts the requests; more than the results can need never end. */
async function collect({ page }: Kind, count: number, wanted?: number) {
	const asked: Array<{ limit: number; offset: number }> = [];
	const all = resultsOf(count);
	const results = await collectPages(async (range) => {
		asked.push(range);
		if (asked.length > count / PAGE_SIZE + 2) throw new Error('asks without end');
		return page(all, range);
	}, wanted);
	return { results, asked };
}

describe.each(KINDS)('pages of a server $name', (kind) => {
	it('give the first results, in order, without doubles, and ask for no more than is wanted', async () => {
		const wantedResults = fc.oneof(fc.integer({ min: 1, max: 500 }), fc.constant(undefined));
		const count = fc.oneof(fc.nat(450), fc.constantFrom(0, 1, 99, 100, 101, 200, 300));
		await fc.assert(
			fc.asyncProperty(count, wantedResults, async (held, wanted) => {
				const { results, asked } = await collect(kind, held, wanted);
				const most = wanted ?? Infinity;
				expect(results).toEqual(resultsOf(Math.min(most, kind.reachable(held, most))));
				for (const { limit, offset } of asked) {
					expect(limit).toBeGreaterThan(0);
					expect(limit).toBeLessThanOrEqual(PAGE_SIZE);
					expect(offset + limit).toBeLessThanOrEqual(most);
				}
			}),
		);
	});
});

describe('pages', () => {
	const [honest] = KINDS as [Kind];

	it('are asked for one after another', async () => {
		const { asked } = await collect(honest, 230);
		expect(asked).toEqual([
			{ limit: 100, offset: 0 },
			{ limit: 100, offset: 100 },
			{ limit: 100, offset: 200 },
		]);
	});

	it('cost one request when a page suffices', async () => {
		expect((await collect(honest, 500, 50)).asked).toEqual([{ limit: 50, offset: 0 }]);
		expect((await collect(honest, 500, 100)).asked).toEqual([{ limit: 100, offset: 0 }]);
	});

	it('of a list that grows at its start meanwhile give each result once', async () => {
		const all = resultsOf(250);
		const fetchPage = async ({ limit, offset }: { limit: number; offset: number }) => {
			const page = all.slice(offset, offset + limit);
			all.unshift({ id: `new at ${offset}`, metadata: { same: true } });
			return page;
		};
		expect(await collectPages(fetchPage)).toEqual(resultsOf(250));
	});

	it('end on a server that ignores the offset, whatever changes in its results', async () => {
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
					const results = await collectPages(async ({ limit, offset }) => {
						asked += 1;
						if (asked > pages + 1) throw new Error('asks without end');
						// Whole pages are shown once; from there on the last one comes again and again.
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

	it('take results for the same by their id only where they have one', async () => {
		const twins = Array.from({ length: 150 }, (_, index) => ({ id: '', key: 'k', value: index }));
		const fetchPage = async ({ limit, offset }: { limit: number; offset: number }) =>
			twins.slice(offset, offset + limit);
		expect(await collectPages(fetchPage)).toEqual(twins);
	});

	it('that show the first result again go on to what else they hold', async () => {
		const all = resultsOf(250);
		const fetchPage = async ({ limit, offset }: { limit: number; offset: number }) =>
			offset === 0 ? all.slice(0, limit) : [all[0], ...all.slice(offset, offset + limit - 1)];
		const results = await collectPages(fetchPage);
		expect(results).toEqual(expect.arrayContaining([all[100], all[198]]));
		expect(new Set(results).size).toBe(results.length);
	});

	it('may hold very many results on a server that ignores the limit', async () => {
		expect(await collectPages(async () => resultsOf(200_000))).toHaveLength(200_000);
	});

	it('may hold plain values, such as the namespaces of a store', async () => {
		const namespaces = Array.from({ length: 150 }, (_, index) => ['memories', `user-${index}`]);
		const fetchPage = async ({ limit, offset }: { limit: number; offset: number }) =>
			namespaces.slice(offset, offset + limit);
		expect(await collectPages(fetchPage)).toEqual(namespaces);
	});
});
