import { readChanges } from '../../../nodes/XpertAiTrigger/reading';
import type { ChangesQuery } from '../../../nodes/XpertAiTrigger/reading';
import { ChangingServer, named } from './support/changingServer';

const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const PAGE = { pageSize: 3 };

/** A server on which each conversation has changed at a moment of its own, and what it is asked. */
function serverOf(ids: string[]) {
	const server = new ChangingServer();
	const from = server.now;
	for (const id of ids) server.change([id]);
	const queries: ChangesQuery[] = [];
	const fetch = async (query: ChangesQuery) => {
		queries.push(query);
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
		expect(reading.upTo).toBe(from + 7);
		expect(queries.map(({ since, without }) => [since, without])).toEqual([
			[from, []],
			[from + 3, ['c']],
			[from + 6, ['f']],
		]);
	});

	it('passes over none when one that was read changes meanwhile', async () => {
		const { server, from, fetch } = serverOf(IDS);
		let pages = 0;
		server.beforePage = () => {
			pages += 1;
			if (pages === 2) server.change(['a']);
		};
		expect(idsOf(await readChanges(fetch, from, PAGE))).toEqual([...IDS, 'a']);
	});

	it('passes over none of those of one moment, whatever changes meanwhile', async () => {
		const server = new ChangingServer();
		const from = server.now;
		server.change(IDS);
		let pages = 0;
		server.beforePage = () => {
			pages += 1;
			if (pages === 2) server.change(['a']);
		};
		const { changes } = await readChanges(server.fetch, from, PAGE);
		expect([...new Set(changes.map(({ id }) => id))].sort()).toEqual(IDS);
	});

	it('stops where there is enough, and says how far it came', async () => {
		const { from, fetch, queries } = serverOf(IDS);
		const isEnough = (changes: unknown[]) => changes.length >= 2;
		const reading = await readChanges(fetch, from, { ...PAGE, isEnough });
		expect(idsOf(reading)).toEqual(['a', 'b', 'c']);
		expect(reading.upTo).toBe(from + 3);
		expect(queries).toHaveLength(1);
	});

	it('keeps what it has when a page does not come', async () => {
		const { server, from, fetch } = serverOf(IDS);
		let pages = 0;
		server.beforePage = () => {
			pages += 1;
			if (pages === 2) throw new Error('lost');
		};
		const reading = await readChanges(fetch, from, PAGE);
		expect(idsOf(reading)).toEqual(['a', 'b', 'c']);
		expect(reading).toMatchObject({ upTo: from + 3, failure: new Error('lost') });
	});

	it('ends on a server that takes no offset and leaves nothing out', async () => {
		const server = new ChangingServer(['limit']);
		const from = server.now;
		server.change(['a', 'b', 'c']);
		const blind = async ({ without: _, offset: __, ...query }: ChangesQuery) =>
			await server.fetch(query);
		const { changes } = await readChanges(blind, from, PAGE);
		expect(changes.map(named)).toHaveLength(3);
	});

	it('reads everything from a server that neither filters nor sorts', async () => {
		const server = new ChangingServer(['where', 'order']);
		for (const id of IDS) server.change([id]);
		const reading = await readChanges(server.fetch, server.now - 1, PAGE);
		expect(idsOf(reading).sort()).toEqual(IDS);
		expect(reading.upTo).toBe(Date.UTC(2026, 0, 1) + 7);
	});
});
