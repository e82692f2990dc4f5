import {
	OVERLAP_MS,
	freshFilter,
	newChanges,
	nextMemory,
} from '../../../nodes/XpertAiTrigger/memory';
import type { Change, Memory } from '../../../nodes/XpertAiTrigger/memory';
import type { ChangesQuery } from '../../../nodes/XpertAiTrigger/changes';
import { readPollChanges } from '../../../nodes/XpertAiTrigger/changes';
import { ChangingServer, countingUp, named } from './support/changingServer';

const PAGE = 10;

/** A trigger that has seen nothing yet, and counts what it asks for. */
class Trigger {
	readonly given: string[] = [];

	/** From when on each page was asked for, poll by poll. */
	readonly polls: number[][] = [];

	memory: Memory;

	constructor(readonly server: ChangingServer) {
		const positions = {
			since: server.now,
			floor: server.now,
			again: server.now,
			final: server.now,
		};
		this.memory = { watched: '', ...positions, ahead: false, known: [], waiting: [] };
	}

	/**
	 * @param most how many changes it gives
	 * @param pageTime what part of its time a page takes
	 * @param wanted which changes are of interest
	 */
	async poll({ most = PAGE, pageTime = 0, wanted = (_: { id: string }): boolean => true } = {}) {
		const { memory, server } = this;
		const asked: number[] = [];
		const fetch = async (query: ChangesQuery) => {
			asked.push(query.since ?? 0);
			return await server.fetch(query);
		};
		const isFresh = freshFilter(memory);
		const { changes, failure, ...progress } = await readPollChanges(fetch, memory, {
			makeCounter: countingUp((read) => read.filter(wanted).filter(isFresh).length >= most),
			pageSize: PAGE,
			hasTime: (share) => asked.length * pageTime < share,
		});
		const fresh = changes.filter(wanted);
		const handled = newChanges(memory, fresh).slice(0, most);
		const polled = { ...progress, wanted: fresh, handled, unread: [], now: server.now };
		this.memory = nextMemory(memory, memory, polled);
		this.given.push(...handled.map(named));
		this.polls.push(asked);
		return failure;
	}
}

/** Conversations that change at a steady rate. */
function changeMany(server: ChangingServer, count: number, everyMs: number): void {
	for (let n = 0; n < count; n++) {
		server.now += everyMs;
		server.change([`${server.now}-${n}`]);
	}
}

describe('catching up', () => {
	it('with 300 changes that ended close together takes two requests a page', async () => {
		const trigger = new Trigger(new ChangingServer());
		changeMany(trigger.server, 300, 10);
		while (trigger.given.length < 300) await trigger.poll();
		expect(trigger.polls).toHaveLength(30);
		expect(trigger.polls.flat().length).toBeLessThanOrEqual(60);
		expect(new Set(trigger.given).size).toBe(300);
	});

	it('takes as many requests again for a change as for the first, however many there are', async () => {
		const requests = async (count: number) => {
			const trigger = new Trigger(new ChangingServer());
			changeMany(trigger.server, count, 10);
			while (trigger.given.length < count) await trigger.poll();
			return trigger.polls.flat().length;
		};
		expect(await requests(400)).toBeLessThanOrEqual(2 * (await requests(200)) + 2);
	});

	it('goes on where a page takes all the time there is', async () => {
		const trigger = new Trigger(new ChangingServer());
		changeMany(trigger.server, 100, 10);
		for (let n = 0; n < 20; n++) await trigger.poll({ pageTime: 2 });
		expect(trigger.given).toHaveLength(100);
		expect(trigger.polls.map((asked) => asked.length)).toEqual(trigger.polls.map(() => 1));
	});

	it('comes to the few of interest behind the many that are not, in which time ends', async () => {
		const trigger = new Trigger(new ChangingServer());
		changeMany(trigger.server, 600, 400);
		trigger.server.change(['wanted']);
		const wanted = ({ id }: { id: string }) => id === 'wanted';
		let polls = 0;
		for (; trigger.given.length === 0; polls++) await trigger.poll({ pageTime: 0.7 / 30, wanted });
		expect(polls).toBeLessThanOrEqual(5);
	});

	it('keeps up with 2.5 changes a second, and remembers no more than those of the overlap', async () => {
		const server = new ChangingServer();
		const busy = new Trigger(server);
		for (let minute = 0; minute < 20; minute++) {
			changeMany(server, 150, 400);
			await busy.poll({ most: 200, pageTime: 0.3 / 30 });
		}
		expect(busy.given.length).toBeGreaterThan(2_800);
		expect(busy.memory.known.length).toBeLessThan(8 * 150);
	}, 60_000);
});

describe('what comes to light late', () => {
	const settled = async (count: number) => {
		const trigger = new Trigger(new ChangingServer());
		changeMany(trigger.server, count, 10);
		while (trigger.given.length < count) await trigger.poll();
		return trigger;
	};

	it('is found by the next poll where that is one page', async () => {
		const trigger = await settled(5);
		trigger.server.change(['late'], 60_000);
		changeMany(trigger.server, 2, 10);
		await trigger.poll();
		trigger.server.now += 60_000;
		await trigger.poll();
		expect(trigger.given.at(-1)).toContain('late');
		expect(trigger.polls.slice(-2).map((asked) => asked.length)).toEqual([1, 1]);
	});

	it('is one page with what is new where that is enough', async () => {
		const trigger = await settled(5);
		changeMany(trigger.server, 30, 10);
		await trigger.poll({ most: 3 });
		expect(trigger.polls.at(-1)).toHaveLength(1);
		expect(trigger.given).toHaveLength(8);
	});

	it('is not asked for twice where nothing is there any more', async () => {
		const trigger = await settled(5);
		trigger.server.change(['last']);
		await trigger.poll();
		const fetch = jest.fn(async () => await Promise.resolve([]));
		const { memory } = trigger;
		const bounds = { makeCounter: () => () => false, hasTime: () => true };
		const { upTo, overlap, ahead } = await readPollChanges(fetch, memory, bounds);
		expect(fetch).toHaveBeenCalledTimes(1);
		expect([upTo, overlap.upTo, ahead]).toEqual([memory.since, memory.since, false]);
	});

	it('is found among many in a few polls, though nothing changes any more', async () => {
		const trigger = await settled(290);
		trigger.server.change(['late'], OVERLAP_MS);
		changeMany(trigger.server, 9, 10);
		await trigger.poll();
		trigger.server.now += OVERLAP_MS;
		for (let n = 0; n < 5; n++) await trigger.poll();
		expect(trigger.given.at(-1)).toContain('late');
	});

	it('is found among many where a page takes all the time there is', async () => {
		const trigger = await settled(50);
		trigger.server.change(['late'], OVERLAP_MS);
		changeMany(trigger.server, 9, 10);
		await trigger.poll();
		trigger.server.now += OVERLAP_MS;
		for (let n = 0; n < 14; n++) await trigger.poll({ pageTime: 2 });
		expect(trigger.given.at(-1)).toContain('late');
	});
});

describe('a page that does not come', () => {
	it('ends the poll, and the next begins with the other part', async () => {
		const trigger = new Trigger(new ChangingServer());
		changeMany(trigger.server, 30, 10);
		await trigger.poll();
		const lost = new Error('lost');
		trigger.server.beforePage = () => {
			throw lost;
		};
		expect(await trigger.poll()).toBe(lost);
		expect(trigger.polls.at(-1)).toHaveLength(1);
		trigger.server.beforePage = () => undefined;
		const { since } = trigger.memory;
		await trigger.poll();
		expect(trigger.polls.at(-1)?.[0]).toBe(since);
		expect(trigger.given).toHaveLength(20);
	});
});

/** A poll that begins at page 3 of changes 0, 1, 2 …, of which there are 10 a page; it looks again from the first on. */
describe('what a poll asks for', () => {
	const SINCE = 3 * PAGE;

	/** Where each page began that a poll of `there` changes has asked for, and what it found. */
	async function asking({
		there = 100 * PAGE,
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
			...{ id: `${n}`, updatedAt: `${n}`, at: momentOf(n) },
		}));
		const asked: number[] = [];
		const fetch = async ({ since = 0, limit }: ChangesQuery) => {
			asked.push(since);
			if (asked.length >= lostAt) throw new Error('lost');
			return await Promise.resolve(all.filter(({ at }) => at >= since).slice(0, limit));
		};
		const positions = { since: SINCE, floor: 0, again: 0, final: SINCE, ahead: false };
		const found = await readPollChanges(
			fetch,
			{ watched: '', known: [], waiting: [], ...positions, ...memory },
			{
				makeCounter: countingUp((changes) => changes.length >= enough),
				hasTime: (share) => hasTime(share, asked.length),
				pageSize: PAGE,
			},
		);
		return { asked, ...found };
	}

	it('is as many pages again as there are new ones', async () => {
		const { asked, overlap, upTo } = await asking({ enough: 3 * PAGE });
		expect(asked).toEqual([0, SINCE, SINCE + PAGE, PAGE]);
		expect(overlap).toEqual({ from: 0, upTo: 2 * PAGE });
		expect(upTo).toBe(SINCE + 2 * PAGE);
	});

	it('is nothing more once a page did not come, also behind others that did', async () => {
		const { asked, failure } = await asking({ lostAt: 4 });
		expect(asked).toHaveLength(4);
		expect(failure).toMatchObject({ message: 'lost' });
	});

	it('is nothing again once that has met what is new', async () => {
		const { asked, overlap } = await asking({ enough: 8 * PAGE });
		expect(asked).toEqual([0, 30, 40, 50, 60, 70, 80, 90, 10, 20]);
		expect(overlap.upTo).toBe(SINCE);
	});

	it('is no more than ten pages again where nothing new is left', async () => {
		const { asked, changes } = await asking({ since: 400, final: 400, there: 405 });
		expect(asked).toEqual([0, 400, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
		expect(new Set(changes.map(({ at }) => at)).size).toBe(101 + 5);
	});

	it('is what is new also where enough has come to light late', async () => {
		const { asked } = await asking({ enough: PAGE });
		expect(asked).toEqual([0, SINCE]);
	});

	it('is nothing more where looking again has met enough of what is new', async () => {
		const { asked, ahead } = await asking({ again: 2 * PAGE, floor: SINCE, enough: PAGE });
		expect(asked).toEqual([2 * PAGE]);
		expect(ahead).toBe(true);
	});

	it('is one of the two in turn where a page takes all the time there is, however little', async () => {
		const hasTime = () => false;
		const looking = await asking({ hasTime });
		expect([looking.asked, looking.ahead]).toEqual([[0], true]);
		const reading = await asking({ hasTime, ahead: true });
		expect([reading.asked, reading.ahead]).toEqual([[SINCE], false]);
	});

	it('is what may be late next time too where looking again has read on', async () => {
		const hasTime = (_: number, pages: number) => pages === 0;
		const { asked, upTo, ahead } = await asking({ again: SINCE - 5, floor: SINCE, hasTime });
		expect(asked).toEqual([SINCE - 5]);
		expect([upTo, ahead]).toEqual([SINCE + 5, false]);
	});

	it('is what may be late next time too where many new ones are of one moment', async () => {
		const { asked, upTo, ahead } = await asking({
			...{ since: 0, again: 0, floor: 0, final: 0, there: 5, momentOf: () => 0 },
		});
		expect(asked).toEqual([0]);
		expect([upTo, ahead]).toEqual([1, false]);
	});
});
