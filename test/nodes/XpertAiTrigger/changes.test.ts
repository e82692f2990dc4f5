import { OVERLAP_MS } from '../../../nodes/XpertAiTrigger/memory';
import { readChanges, readRecent } from '../../../nodes/XpertAiTrigger/changes';
import type { ChangesQuery } from '../../../nodes/XpertAiTrigger/changes';
import { ChangingServer, named } from './support/changingServer';
import type { Ignored } from './support/changingServer';

const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const PAGE = { pageSize: 3 };
const LOST = new Error('lost');

/** A server on which each conversation has changed at a moment of its own, and what it is asked. */
function serverOf(ids: string[], ignored: Ignored[] = []) {
	const server = new ChangingServer(ignored);
	const from = server.now;
	for (const id of ids) server.change([id]);
	const queries: ChangesQuery[] = [];
	const fetch = async (query: ChangesQuery) => {
		queries.push(query);
		return await server.fetch(query);
	};
	return { server, from, fetch, queries };
}

/** Does something before a page, counted from 1. */
function before(page: number, server: ChangingServer, happen: () => void): void {
	let pages = 0;
	server.beforePage = () => {
		pages += 1;
		if (pages === page) happen();
	};
}

const fail = () => {
	throw LOST;
};

const idsOf = ({ changes }: { changes: Array<{ id: string }> }) => changes.map(({ id }) => id);

describe('reading changes', () => {
	it('goes through all pages, each from the last moment of the one before', async () => {
		const { from, fetch, queries } = serverOf(IDS);
		const reading = await readChanges(fetch, from, PAGE);
		expect(idsOf(reading)).toEqual(IDS);
		expect(reading).toMatchObject({ upTo: from + 8, isEnd: true, pages: 3 });
		expect(queries.map(({ since, limit }) => [since, limit])).toEqual([
			[from, 4],
			[from + 4, 4],
			[from + 7, 4],
		]);
	});

	it('passes over none when one that was read changes meanwhile', async () => {
		const { server, from, fetch } = serverOf(IDS);
		before(2, server, () => server.change(['a']));
		expect(idsOf(await readChanges(fetch, from, PAGE))).toEqual([...IDS, 'a']);
	});

	it('passes over none of those of one moment, whatever changes meanwhile', async () => {
		const server = new ChangingServer();
		const from = server.now;
		server.change(IDS);
		before(2, server, () => server.change(['a']));
		const { changes } = await readChanges(server.fetch, from, PAGE);
		expect([...new Set(changes.map(({ id }) => id))].sort()).toEqual(IDS);
	});

	it('gets past a moment of many changes in pages that double, whether or not there is enough', async () => {
		const { server, from, fetch, queries } = serverOf([]);
		const many = Array.from({ length: 20 }, (_, n) => `${n}`);
		server.change(many);
		server.change(['later']);
		const reading = await readChanges(fetch, from + 1, { ...PAGE, isEnough: () => true });
		expect(idsOf(reading)).toEqual([...many, 'later']);
		expect(queries.map(({ limit }) => limit)).toEqual([4, 9, 19, 39]);
	});

	it('stops where there is enough, and says how far it came', async () => {
		const { from, fetch, queries } = serverOf(IDS);
		const isEnough = (_: unknown, brought: unknown[]) => brought.length >= 2;
		const reading = await readChanges(fetch, from, { ...PAGE, isEnough });
		expect(idsOf(reading)).toEqual(['a', 'b', 'c', 'd']);
		// There may be more of the last moment.
		expect(reading).toMatchObject({ upTo: from + 4, isEnd: false, failure: undefined });
		expect(queries).toHaveLength(1);
	});

	it('keeps what it has when a page does not come', async () => {
		const { server, from, fetch } = serverOf(IDS);
		before(2, server, fail);
		const reading = await readChanges(fetch, from, PAGE);
		expect(idsOf(reading)).toEqual(['a', 'b', 'c', 'd']);
		expect(reading).toMatchObject({ upTo: from + 4, isEnd: false, failure: LOST });
	});

	it('has come nowhere when the first page does not come', async () => {
		const { server, from, fetch } = serverOf(IDS);
		before(1, server, fail);
		const nothing = { changes: [], upTo: from, isEnd: false, pages: 0, failure: LOST };
		expect(await readChanges(fetch, from, PAGE)).toEqual(nothing);
	});

	it('ends at a page of which no moment can be read', async () => {
		const odd = { id: 'odd', updatedAt: 'soon', at: NaN };
		const oddly = jest.fn(async ({ limit }: ChangesQuery) => Array<typeof odd>(limit).fill(odd));
		const reading = await readChanges(oddly, 5, PAGE);
		expect(reading).toEqual({ changes: [odd], upTo: 5, isEnd: true, pages: 1 });
		expect(oddly).toHaveBeenCalledTimes(1);
	});

	it('has come nowhere when there is nothing', async () => {
		const { from, fetch } = serverOf([]);
		expect(await readChanges(fetch, from)).toEqual({
			changes: [],
			upTo: from,
			isEnd: true,
			pages: 1,
		});
	});

	it('is not led astray by a record whose moment cannot be read', async () => {
		const { from, fetch, queries } = serverOf(IDS);
		const odd = { id: 'odd', updatedAt: 'soon', at: NaN };
		const oddly = async (query: ChangesQuery) => {
			const page = await fetch(query);
			return [odd, ...page.slice(0, query.limit - 1)];
		};
		expect(idsOf(await readChanges(oddly, from, PAGE))).toEqual(['odd', ...IDS]);
		expect(queries.every(({ order }) => order === 'ASC')).toBe(true);
	});
});

describe('a server that neither filters nor sorts', () => {
	it('is read wholly', async () => {
		const { server, fetch } = serverOf(IDS, ['where', 'order']);
		const reading = await readChanges(fetch, server.now - 1, PAGE);
		expect(idsOf(reading).sort()).toEqual(IDS);
		expect(reading).toMatchObject({ upTo: Date.UTC(2026, 0, 1) + 8, isEnd: true });
	});

	it('is read once where it does not take an offset either', async () => {
		const { server, fetch, queries } = serverOf(['a', 'b', 'c'], ['where', 'order']);
		const blind = async ({ offset: _, ...query }: ChangesQuery) => await fetch(query);
		const reading = await readChanges(blind, server.now - 1, PAGE);
		expect(idsOf(reading).sort()).toEqual(['a', 'b', 'c']);
		expect(queries).toHaveLength(3);
	});

	it('has come nowhere when a page does not come: the rest may be as old as any', async () => {
		const { server, fetch } = serverOf(IDS, ['where', 'order']);
		before(3, server, fail);
		const reading = await readChanges(fetch, server.now - 1, PAGE);
		expect(idsOf(reading)).toHaveLength(3);
		expect(reading).toMatchObject({ upTo: -Infinity, isEnd: false, failure: LOST });
	});
});

describe('reading what has changed last', () => {
	const recent = { ...PAGE, goOn: () => true };

	it('goes back as far as changes may still come to light beside it', async () => {
		const { server, fetch, queries } = serverOf(IDS);
		server.now += 2 * OVERLAP_MS;
		for (const id of ['w', 'x', 'y', 'z']) server.change([id]);
		const reading = await readRecent(fetch, { ...recent, now: server.now });
		expect(idsOf(reading)).toEqual(['z', 'y', 'x', 'w', 'g', 'f']);
		const [newest] = reading.changes;
		expect(reading).toMatchObject({
			upTo: (newest?.at ?? 0) + 1,
			from: (newest?.at ?? 0) - OVERLAP_MS,
		});
		expect(queries).toHaveLength(2);
	});

	it('is told of each change once, also where those that come meanwhile push some to the next page', async () => {
		const { server, from, fetch } = serverOf(IDS);
		server.beforePage = () => server.change(['x', 'y']);
		const brought: string[] = [];
		await readChanges(server.fetch, from, {
			...PAGE,
			isEnough: (_, more) => {
				brought.push(...more.map(named));
				return brought.length >= 9;
			},
		});
		expect(new Set(brought).size).toBe(brought.length);
		expect(
			idsOf(await readRecent(fetch, { ...recent, now: server.now, goOn: () => false })),
		).toHaveLength(3);
	});

	it('ends where it is meant to, also where those that come meanwhile push some to the next page', async () => {
		const { server, fetch, queries } = serverOf(IDS);
		server.now += 2 * OVERLAP_MS;
		for (const id of ['w', 'x', 'y', 'z']) server.change([id]);
		server.beforePage = () => server.change(['new', 'newer']);
		const reading = await readRecent(fetch, { ...recent, now: server.now });
		expect(idsOf(reading)).toEqual(['new', 'newer', 'z', 'y', 'x', 'w', 'g', 'f', 'e']);
		expect(queries.length).toBeLessThan(6);
	});

	it('goes back from our clock where the server stamped one with the future', async () => {
		const { server, fetch } = serverOf(IDS);
		server.change(['future'], 0, 10 * OVERLAP_MS);
		const { from, changes } = await readRecent(fetch, { ...recent, now: server.now });
		expect(changes).toHaveLength(8);
		expect(from).toBe(server.now - 3 - OVERLAP_MS);
	});

	it('goes back no further than there is time for', async () => {
		const { server, from, fetch } = serverOf(IDS);
		const reading = await readRecent(fetch, { ...recent, now: server.now, goOn: () => false });
		expect(idsOf(reading)).toEqual(['g', 'f', 'e']);
		expect(reading).toMatchObject({ upTo: from + 8, from: from + 6 });
	});

	it('reads all there is where the server does not sort, however long it takes', async () => {
		const { server, fetch } = serverOf(IDS, ['order']);
		const unsorted = async (query: ChangesQuery) => (await fetch(query)).reverse();
		const reading = await readRecent(unsorted, { ...recent, now: server.now, goOn: () => false });
		expect(reading.changes.map(named)).toHaveLength(7);
	});

	it('goes on where a page ends at the moment to which it goes back', async () => {
		const { server, fetch, queries } = serverOf(['z', 'a', 'b']);
		server.now += OVERLAP_MS - 3;
		for (const id of ['x', 'y']) server.change([id]);
		await readRecent(fetch, { ...recent, now: server.now + OVERLAP_MS });
		expect(queries).toHaveLength(2);
	});

	it('has come nowhere where there is nothing', async () => {
		const { fetch } = serverOf([]);
		const nothing = { changes: [], upTo: 0, isEnd: true, pages: 1, from: 0 };
		expect(await readRecent(fetch, { ...recent, now: Date.UTC(2026, 0, 2) })).toEqual(nothing);
	});

	it('leaves out a record whose moment cannot be read', async () => {
		const { server, fetch } = serverOf(['a']);
		const odd = { id: 'odd', updatedAt: 'soon', at: NaN };
		const oddly = async (query: ChangesQuery) => [...(await fetch(query)), odd];
		const reading = await readRecent(oddly, { ...recent, now: server.now });
		expect(idsOf(reading)).toEqual(['a']);
	});

	it('says what it failed with', async () => {
		const { server, fetch } = serverOf(IDS);
		before(1, server, fail);
		expect(await readRecent(fetch, { ...recent, now: server.now })).toMatchObject({
			changes: [],
			failure: LOST,
		});
	});
});
