import { readChanges } from 'nodes/XpertAiTrigger/readChanges';
import { correctPollState, OVERLAP_MS, createPollState } from 'nodes/XpertAiTrigger/pollState';
import type { ChangesQuery } from 'nodes/XpertAiTrigger/readChanges';
import type { PollState } from 'nodes/XpertAiTrigger/pollState';

import { ChangingServer, answered } from './support/changingServer';

const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
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
const toTheEnd = () => false;

describe('reading changes', () => {
	it('goes through all pages, each from the last moment of the one before', async () => {
		const { from, fetch, queries } = serverOf(IDS);
		const reading = await readChanges(fetch, from, toTheEnd, 3);
		expect(idsOf(reading)).toEqual(IDS);
		expect([reading.completeUntil, reading.readError]).toEqual([from + 8, undefined]);
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
		const reading = await readChanges(fetch, from + 1, () => true, 3);
		expect(idsOf(reading)).toEqual([...many, 'later']);
		expect(queries.map(({ limit }) => limit)).toEqual([4, 9, 19, 39]);
	});

	it('stops where there is enough, and says how far it came', async () => {
		const { from, fetch, queries } = serverOf(IDS);
		const reading = await readChanges(fetch, from, ({ changes }) => changes.length >= 2, 3);
		expect(idsOf(reading)).toEqual(['a', 'b', 'c', 'd']);
		// There may be more of the last moment.
		expect(reading.completeUntil).toBe(from + 4);
		expect(queries).toHaveLength(1);
	});

	it.each([
		[1, [], 0],
		[2, ['a', 'b', 'c', 'd'], 4],
	])('keeps what it has when page %i does not come', async (lostPage, ids, upTo) => {
		const { from, fetch } = serverOf(IDS, lostPage);
		const reading = await readChanges(fetch, from, toTheEnd, 3);
		expect(idsOf(reading)).toEqual(ids);
		expect(reading).toMatchObject({ completeUntil: from + upTo, readError: LOST });
	});

	it('ends at a page of which no moment can be read, and passes over single ones', async () => {
		const odd = { ...answered('odd', 0), at: NaN };
		const oddly = jest.fn(async ({ limit }: ChangesQuery) => ({
			changes: Array<typeof odd>(limit).fill(odd),
		}));
		const ended = await readChanges(oddly, 5, toTheEnd, 3);
		expect(ended).toMatchObject({ changes: [odd], completeUntil: 5 });
		expect(oddly).toHaveBeenCalledTimes(1);
		const { from, fetch } = serverOf(IDS);
		const withOdd = async (query: ChangesQuery) => ({
			changes: [odd, ...(await fetch(query)).changes.slice(0, query.limit - 1)],
		});
		expect(idsOf(await readChanges(withOdd, from, toTheEnd, 3))).toEqual(['odd', ...IDS]);
	});

	it('has the time that the server told with the first page', async () => {
		const { server, from, fetch } = serverOf(IDS);
		const { serverTime } = await readChanges(fetch, from, toTheEnd, 3);
		expect([serverTime, server.now]).toEqual([from + 8, from + 10]);
	});
});

describe('what is there on activation', () => {
	it('is known as far back as changes may still come to light beside it', async () => {
		const { server, fetch } = serverOf(IDS);
		server.now += 2 * OVERLAP_MS;
		const newest = server.now + 4;
		for (const id of ['w', 'x', 'y', 'z']) server.change([id]);
		const { known, ...memory } = await createPollState(fetch, 'me');
		expect(known.map(({ id, tries }) => [id, tries])).toEqual(
			['w', 'x', 'y', 'z'].map((id) => [id, undefined]),
		);
		expect(memory).toEqual({ watched: 'me', since: newest + 1, again: newest - OVERLAP_MS });
	});

	it.each([
		['a change that is stamped with the future', IDS, 7],
		['only changes that are stamped with the future', [], 8],
	])('is read from the time of the server back where there is %s', async (_, ids, toldAfter) => {
		const { server, from, fetch } = serverOf(ids);
		server.change(['future'], 0, 10 * OVERLAP_MS);
		server.now = from + 7;
		const { again, known } = await createPollState(fetch, '');
		expect([known.length, again]).toEqual([ids.length + 1, from + toldAfter - OVERLAP_MS]);
	});

	it('knows no change whose time cannot be read', async () => {
		const { fetch } = serverOf(IDS);
		const withOdd = async (query: ChangesQuery) => ({
			changes: [{ ...answered('odd', 0), at: NaN }, ...(await fetch(query)).changes],
		});
		const memory = await createPollState(withOdd, 'me');
		expect(memory.known.map(({ id }) => id)).toEqual(IDS);
	});

	it('is nothing on an empty server, and not known where a page does not come', async () => {
		expect(await createPollState(serverOf([]).fetch, '')).toMatchObject({ since: -OVERLAP_MS });
		for (const lostPage of [1, 2])
			await expect(createPollState(serverOf(IDS, lostPage).fetch, '')).rejects.toBe(LOST);
	});
});

describe('a remembered time that is later than that of the server', () => {
	const known: PollState['known'] = [{ id: 'a', at: 5 }];

	/** What it is corrected to, as the distance to the newest change. */
	async function corrected(since: (now: number) => number, datesBy: number | undefined) {
		const { server, from, fetch, queries } = serverOf(IDS);
		server.datesBy = datesBy;
		const memory = { watched: '', since: since(server.now), again: from + 2, known };
		const found = await readChanges(fetch, memory.since);
		const { since: next = NaN, ...rest } = (await correctPollState(fetch, memory, found)) ?? {};
		return { by: next - (from + 7), rest, asked: queries.length - 1 };
	}

	it.each([
		['tells its time', 0],
		['is at its newest change, telling no time', undefined],
	])('goes on five minutes before the newest change where the server %s', async (_, datesBy) => {
		const far = await corrected((now) => now + 100 * OVERLAP_MS, datesBy);
		expect([far.by, far.asked]).toEqual([-OVERLAP_MS, 1]);
		// What is known of the time from then on stays known.
		expect(far.rest).toMatchObject({ known, again: expect.any(Number) });
		const near = await corrected((now) => now + OVERLAP_MS, datesBy);
		expect(near.by).toBeNaN();
	});

	it('takes nothing to be read again that was', async () => {
		const { fetch, from } = serverOf(IDS);
		const memory = { watched: '', since: from + 2 * OVERLAP_MS, again: 1, known };
		const found = { changes: [], serverTime: from };
		expect(await correctPollState(fetch, memory, found)).toMatchObject({ again: 1 });
		const quiet = { changes: [answered('a', from)] };
		expect(await correctPollState(fetch, memory, quiet)).toBeUndefined();
	});
});
