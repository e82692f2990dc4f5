import { OVERLAP_MS } from '../../../nodes/XpertAiTrigger/memory';
import type { Change, Memory } from '../../../nodes/XpertAiTrigger/memory';
import { readChanges, readExisting, readPollChanges } from '../../../nodes/XpertAiTrigger/changes';
import type { ChangesQuery } from '../../../nodes/XpertAiTrigger/changes';
import { ChangingServer, countingUp } from './support/changingServer';

const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const PAGE = { pageSize: 3 };
const LOST = new Error('lost');

/** A server on which each conversation has changed at a moment of its own, and what it is asked. */
function serverOf(ids: string[], lostPage = Infinity) {
	const server = new ChangingServer();
	const from = server.now;
	for (const id of ids) server.change([id]);
	const queries: ChangesQuery[] = [];
	const fetch = async (query: ChangesQuery) => {
		if (queries.push(query) === lostPage) throw LOST;
		return await server.fetch(query);
	};
	return { server, from, fetch, queries };
}

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
		const isEnough = (_: unknown, added: unknown[]) => added.length >= 2;
		const reading = await readChanges(fetch, from, { ...PAGE, isEnough });
		expect(idsOf(reading)).toEqual(['a', 'b', 'c', 'd']);
		// There may be more of the last moment.
		expect(reading).toMatchObject({ upTo: from + 4, isEnd: false, failure: undefined });
		expect(queries).toHaveLength(1);
	});

	it.each([
		[1, [], 0],
		[2, ['a', 'b', 'c', 'd'], 4],
	])('keeps what it has when page %i does not come', async (lostPage, ids, upTo) => {
		const { from, fetch } = serverOf(IDS, lostPage);
		const reading = await readChanges(fetch, from, PAGE);
		expect(idsOf(reading)).toEqual(ids);
		expect(reading).toMatchObject({ upTo: from + upTo, isEnd: false, failure: LOST });
	});

	it('has come nowhere when there is nothing', async () => {
		const { from, fetch } = serverOf([]);
		const nothing = { changes: [], upTo: from, isEnd: true, pages: 1 };
		expect(await readChanges(fetch, from)).toEqual(nothing);
	});

	it('ends at a page of which no moment can be read, and passes over single ones', async () => {
		const odd = { id: 'odd', updatedAt: 'soon', at: NaN };
		const oddly = jest.fn(async ({ limit }: ChangesQuery) => Array<typeof odd>(limit).fill(odd));
		const ended = { changes: [odd], upTo: 5, isEnd: true, pages: 1 };
		expect(await readChanges(oddly, 5, PAGE)).toEqual(ended);
		expect(oddly).toHaveBeenCalledTimes(1);
		const { from, fetch } = serverOf(IDS);
		const withOdd = async (query: ChangesQuery) => [
			odd,
			...(await fetch(query)).slice(0, query.limit - 1),
		];
		expect(idsOf(await readChanges(withOdd, from, PAGE))).toEqual(['odd', ...IDS]);
	});
});

describe('what is there on activation', () => {
	const inTime = { ...PAGE, hasTime: () => true };

	it('is read as far back as changes may still come to light beside it', async () => {
		const { server, fetch } = serverOf(IDS);
		server.now += 2 * OVERLAP_MS;
		const newest = server.now + 4;
		for (const id of ['w', 'x', 'y', 'z']) server.change([id]);
		const existing = await readExisting(fetch, server.now, inTime);
		expect(idsOf(existing)).toEqual(['w', 'x', 'y', 'z']);
		expect(existing).toMatchObject({ upTo: newest + 1, from: newest - OVERLAP_MS });
	});

	it('is read from our clock back where the server stamped a change with the future', async () => {
		const { server, fetch } = serverOf(IDS);
		server.change(['future'], 0, 10 * OVERLAP_MS);
		const { now } = server;
		const { from, changes } = await readExisting(fetch, now, inTime);
		expect([changes.length, from]).toEqual([8, now - OVERLAP_MS]);
	});

	it('is not looked at again where there is no time to read it', async () => {
		const { server, from, fetch, queries } = serverOf(IDS);
		const limits = { ...PAGE, hasTime: () => false };
		const known = { changes: [], upTo: from + 8, from: from + 8 };
		expect(await readExisting(fetch, server.now, limits)).toEqual(known);
		expect(queries).toHaveLength(2);
	});

	it('is nothing on an empty server, and not known where a page does not come', async () => {
		const nothing = { changes: [], upTo: 0, from: 0 };
		expect(await readExisting(serverOf([]).fetch, OVERLAP_MS, inTime)).toEqual(nothing);
		for (const lostPage of [1, 2]) {
			const { server, fetch } = serverOf(IDS, lostPage);
			await expect(readExisting(fetch, server.now, inTime)).rejects.toBe(LOST);
		}
	});
});

/** A poll that begins at change 400 of changes 0, 1, 2 …, of which there are 10 a page; it looks again from the first on. */
describe('what a poll asks for', () => {
	const SINCE = 400;

	/** Where each page began that a poll of `there` changes has asked for, and what it found. */
	async function asking({
		there = 1000,
		enough = Infinity,
		hasTime = (): boolean => true,
		momentOf = (n: number) => n,
		lostAt = Infinity,
		...memory
	}: Partial<Memory> & {
		there?: number;
		enough?: number;
		hasTime?: (share: number, pages: number) => boolean;
		momentOf?: (n: number) => number;
		/** From which page on none comes. */
		lostAt?: number;
	}) {
		const all: Change[] = Array.from({ length: there }, (_, n) => ({
			id: `${n}`,
			updatedAt: `${n}`,
			at: momentOf(n),
		}));
		const asked: number[] = [];
		const fetch = async ({ since = 0, limit }: ChangesQuery) => {
			asked.push(since);
			if (asked.length >= lostAt) throw LOST;
			return await Promise.resolve(all.filter(({ at }) => at >= since).slice(0, limit));
		};
		const positions = { since: SINCE, floor: 0, again: 0, final: SINCE, ahead: false };
		const found = await readPollChanges(
			fetch,
			{ watched: '', known: [], waiting: [], ...positions, ...memory },
			{
				isEnough: countingUp((changes) => changes.length >= enough),
				hasTime: (share) => hasTime(share, asked.length),
				pageSize: 10,
			},
		);
		return { asked, ...found };
	}

	it('is three pages again at most, and what is new as far as that is enough', async () => {
		const { asked, overlap, upTo, ahead } = await asking({ enough: 60 });
		expect(asked).toEqual([0, 10, 20, 400, 410, 420]);
		expect([overlap, upTo, ahead]).toEqual([{ from: 0, upTo: 30 }, 430, false]);
	});

	it('is one page where looking again meets what is new, and as many more as that takes', async () => {
		const near = { floor: SINCE, again: SINCE - 5 };
		const one = await asking({ ...near, there: 404 });
		expect([one.asked, one.upTo, one.overlap.upTo]).toEqual([[395], 404, 404]);
		const { asked, upTo } = await asking({ ...near, enough: 30 });
		expect([asked, upTo]).toEqual([[395, 405, 415], 425]);
	});

	it('is what is new also where enough has come to light late', async () => {
		expect((await asking({ enough: 5 })).asked).toEqual([0, 10, 20, 400]);
	});

	it('is nothing twice where nothing is there any more', async () => {
		const { asked, upTo, overlap, ahead } = await asking({ there: 0, again: 390, floor: SINCE });
		expect([asked, upTo, overlap.upTo, ahead]).toEqual([[390], SINCE, SINCE, false]);
	});

	it('is nothing more once a page did not come; the next poll begins with what is new', async () => {
		for (const lostAt of [1, 3, 4]) {
			const { asked, failure, ahead } = await asking({ lostAt });
			expect([asked.length, failure, ahead]).toEqual([lostAt, LOST, lostAt < 4]);
		}
	});

	it('is one of the two in turn where a page takes all the time there is, however little', async () => {
		const hasTime = () => false;
		const again = await asking({ hasTime });
		expect([again.asked, again.ahead]).toEqual([[0], true]);
		const fresh = await asking({ hasTime, ahead: true });
		expect([fresh.asked, fresh.ahead]).toEqual([[SINCE], false]);
		expect(fresh.overlap).toEqual({ from: 0, upTo: 0 });
	});

	it('is both where there is time, each up to its share of it, also in the other order', async () => {
		const hasTime = (share: number, pages: number) => pages < 10 * share;
		const { asked } = await asking({ hasTime, ahead: true, again: 300, floor: SINCE });
		expect(asked).toEqual([400, 410, 420, 430]);
		const quick = (share: number, pages: number) => pages < 20 * share;
		const both = await asking({
			hasTime: quick,
			ahead: true,
			there: 415,
			again: 385,
			floor: SINCE,
		});
		expect(both.asked).toEqual([400, 410, 385, 395]);
		const short = await asking({ hasTime: (share, pages) => pages < 8 * share });
		expect(short.asked).toEqual([0, 10, 20, 400, 410, 420, 430]);
	});

	it('is past many of one moment', async () => {
		const moment = { since: 0, again: 0, floor: 0, final: 0, there: 5, momentOf: () => 0 };
		const { asked, upTo, ahead } = await asking(moment);
		expect([asked, upTo, ahead]).toEqual([[0], 1, false]);
	});
});
