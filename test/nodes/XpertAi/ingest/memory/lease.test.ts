import { Lease, LEASE_NOTE } from 'nodes/XpertAi/ingest/memory/lease';
import { type MemoryRoutes, NotesOnServer, orFailure } from 'nodes/XpertAi/ingest/memory/notes';
import type { RequestOutcome } from 'nodes/XpertAi/transport/request';

import { calling } from '../../../support/send';
import { Timeline } from '../../../support/timeline';
import { Knowledgebase, PLACE, type Row } from '../support/knowledgebase';
import { answered } from '../support/outcomes';

const SECOND = 1000;

interface Options {
	signal?: AbortSignal;
	clock?: ReturnType<Timeline['clock']>;
}

/** The notes of one source on a server, and the time in which runs look at them. */
function scene() {
	const time = new Timeline();
	const server = new Knowledgebase();
	const { rows } = server;
	const requests: string[] = [];
	const rules: { fails: (what: string) => RequestOutcome | undefined; takesMs: () => number } = {
		fails: () => undefined,
		takesMs: () => 1,
	};
	const { send, ...paths } = server.routes();
	const routes: MemoryRoutes = {
		...paths,
		send: calling(async (request) => {
			await time.wait(rules.takesMs());
			const sent = request.body && (JSON.parse(String(request.body)) as Row[]);
			const what = sent ? `writes ${/began|at work/.exec(sent[0]?.name ?? '')?.[0]}` : 'looks';
			requests.push(what);
			return rules.fails(what) ?? (await send(request));
		}),
	};
	const lease = (run: string, { signal, clock = time.clock() }: Options = {}) => {
		const holder = { by: `execution ${run}`, since: new Date(clock.now()).toISOString() };
		return new Lease(new NotesOnServer(PLACE, routes), clock, signal, holder);
	};
	/** Undefined where all is well. */
	const of = async <Result>(work: Promise<Result>) =>
		await time.of(orFailure(async () => await work));
	const named = (word: string) => server.notes(word)[0];
	return { time, rows, requests, rules, lease, of, named };
}

const AT = '1970-01-01T00:00:00.000Z';

describe('the number of a run', () => {
	it.each([
		['where there are no notes', {}, 0, 2],
		['than that of the last run', { run: 5 }, 0, 6],
		['than that of what was sent', { sent: 5 }, 0, 6],
		['than that of the root', { root: 5 }, 0, 6],
		['than the highest of them', { run: 5, sent: 7, root: 3 }, 0, 8],
		['beside a crashed run in the same slot', { sent: 4 }, 4, 5],
		['beside a crashed run in the other slot', { sent: 4 }, 3, 6],
	])(
		'is one more than any that the notes show, in the other slot than a crashed run: %s',
		(_, said, crashed, number) => {
			const lease = scene().lease('one');
			lease.raiseCounters(said, crashed);
			expect(lease.number).toBe(number);
		},
	);
});

describe('the lease of a source', () => {
	it('is taken with two notes, and released with one, which frees it at once', async () => {
		const { lease, of, requests, rows, time } = scene();
		const one = lease('one');
		expect(await of(one.take())).toEqual([]);
		expect(requests).toEqual(['looks', 'writes began', 'looks', 'writes at work', 'looks']);
		await of(one.release());
		expect(requests.slice(5)).toEqual(['writes at work']);
		expect([...rows.values()].map(({ name }) => name)).toEqual([
			'n8n: when Nightly began (do not process)',
			'n8n: whether Nightly is at work (do not process)',
		]);
		await of(one.release());
		expect(requests).toHaveLength(6);
		const from = time.now;
		expect(await of(lease('two').take())).toEqual([]);
		expect(time.now - from).toBeLessThan(SECOND);
	});

	it('stays held when somebody has its note processed: the next renewal shows it', async () => {
		const { lease, of, named } = scene();
		const one = lease('one');
		await of(one.take());
		Object.assign(named('at work') ?? {}, { processMsg: 'Invalid PDF structure' });
		expect(await of(lease('two').take())).toEqual({ by: 'execution one', since: AT });
		expect(await of(one.renewIfOverdue())).toBeUndefined();
	});

	const held = { lease: { by: 'another', since: AT, ended: false, sent: 0, root: 0 } };
	const notes = new NotesOnServer(PLACE, new Knowledgebase().routes());
	it.each([
		['is unreadable', 'Invalid PDF structure'],
		['names no write', notes.row({ nameAndTitle: LEASE_NOTE, header: held }).processMsg],
	])('is free after a minute when its note %s and nobody renews it', async (_, processMsg) => {
		const { lease, of, named, time } = scene();
		const one = lease('one');
		await of(one.take());
		await of(one.release());
		Object.assign(named('at work') ?? {}, { processMsg });
		expect(await of(lease('two').take())).toEqual([]);
		expect(time.now).toBeGreaterThan(50 * SECOND);
		expect(time.now).toBeLessThan(62 * SECOND);
	});

	it('is not released after Stop, when no request can be sent: it expires', async () => {
		const { lease, of, requests } = scene();
		const stop = new AbortController();
		const one = lease('one', { signal: stop.signal });
		await of(one.take());
		stop.abort();
		await of(one.release());
		expect(requests).toHaveLength(5);
	});

	it('says that its run sends also where a renewal is under way, which arrives late', async () => {
		const { lease, of, rules, time } = scene();
		const [one, two] = [lease('one'), lease('two')];
		await of(one.take());
		const renewal = new Promise<void>((resolve) => {
			rules.takesMs = () => {
				rules.takesMs = () => 1;
				resolve();
				return 10 * SECOND;
			};
		});
		await of(renewal);
		await of(one.recordSending([]));
		await of(time.wait(20 * SECOND));
		await of(two.peek([]));
		expect(two.counters.sent).toBe(one.number);
	});

	it('is not renewed after its release, nor after Stop', async () => {
		const { lease, of, time, requests } = scene();
		const stop = new AbortController();
		const [one, two] = [lease('one'), lease('two', { signal: stop.signal })];
		await of(one.take());
		await of(one.release());
		await of(two.take());
		stop.abort();
		requests.length = 0;
		await time.run(time.now + 300 * SECOND);
		expect(requests).toEqual([]);
	});

	it('is left to a run that renews it, as soon as it has', async () => {
		const { lease, of, time } = scene();
		await of(lease('one').take());
		const began = time.now;
		await of(lease('two').take());
		expect(time.now - began).toBeGreaterThan(15 * SECOND);
		expect(time.now - began).toBeLessThan(27 * SECOND);
	});

	it('is taken half a minute later when a rival overwrote `turn` and left', async () => {
		const other = scene();
		await other.of(other.lease('other').take());
		const { lease, of, rules, rows, time, requests } = scene();
		rules.fails = () => {
			const turn = other.named('began');
			if (turn && requests.length === 5) rows.set(turn.id, turn);
			return undefined;
		};
		expect(await of(lease('one').take())).toEqual([]);
		expect(time.now).toBeGreaterThanOrEqual(30 * SECOND);
	});

	it('is given up at once on a server that does not return notes', async () => {
		const { lease, of, rows, requests } = scene();
		const taken = lease('one').take();
		const forget = {
			set: (_: string, row: Row) =>
				Map.prototype.set.call(rows, row.id, { ...row, processMsg: '' }),
		};
		Object.assign(rows, forget);
		expect(await of(taken)).toBeUndefined();
		expect(requests).toEqual(['looks', 'writes began', 'looks']);
	});
});

describe('a run that has not renewed its lease for long', () => {
	/** One that cannot say a word from now on, as its machine is asleep. */
	async function asleep() {
		const world = scene();
		const one = world.lease('one', { clock: { ...world.time.clock(), later: () => undefined } });
		await world.of(one.take());
		return { ...world, one };
	}

	it('checks the notes and renews after 45 seconds, not before', async () => {
		const { one, of, time, requests } = await asleep();
		requests.length = 0;
		await time.run(40 * SECOND);
		expect(await of(one.renewIfOverdue())).toBeUndefined();
		expect(requests).toEqual([]);
		await of(time.wait(10 * SECOND));
		expect(await of(one.renewIfOverdue())).toBeUndefined();
		expect(requests).toEqual(['looks', 'writes at work']);
		expect(await of(one.renewIfOverdue())).toBeUndefined();
		expect(requests).toHaveLength(2);
	});

	it('sends and releases nothing once another run has taken over', async () => {
		const { one, lease, of, requests } = await asleep();
		expect(await of(lease('two').take())).toEqual([]);
		expect(await of(one.renewIfOverdue())).toMatchObject({
			failure: {
				kind: 'unsuccessful',
				reason: expect.stringMatching(
					/^Another run .* has taken over.*: execution two, since 19/,
				) as string,
			},
		});
		expect(one.sendBlockedBy).toBeDefined();
		requests.length = 0;
		expect(await of(one.renewIfOverdue())).toEqual({ failure: one.sendBlockedBy });
		await of(one.release());
		expect(requests).toEqual([]);
		expect(await of(one.renewIfOverdue())).toEqual({ failure: one.sendBlockedBy });
	});

	it('does not release a lease that another run has taken', async () => {
		const { one, lease, of, requests } = await asleep();
		await of(lease('two').take());
		requests.length = 0;
		await of(one.release());
		expect(requests).toEqual(['looks']);
	});

	it('sends nothing when its notes are gone', async () => {
		const { one, of, time, rows } = await asleep();
		await of(time.wait(50 * SECOND));
		rows.clear();
		expect(await of(one.renewIfOverdue())).toMatchObject({ failure: { kind: 'unreadable' } });
	});

	it.each(['began', 'at work'])(
		'continues when a rival overwrote only the note `%s`',
		async (word) => {
			const { one, lease, of, named } = await asleep();
			const own = { ...named(word === 'began' ? 'at work' : 'began') };
			await of(lease('two').take());
			const kept = named(word === 'began' ? 'at work' : 'began');
			Object.assign(kept ?? {}, own);
			expect(await of(one.renewIfOverdue())).toBeUndefined();
			expect(one.sendBlockedBy).toBeUndefined();
		},
	);

	it('must not send while the notes cannot be read or written', async () => {
		const { one, of, time, rules } = await asleep();
		await of(time.wait(50 * SECOND));
		rules.fails = () => answered(503);
		expect(await of(one.renewIfOverdue())).toMatchObject({ failure: { status: 503 } });
		rules.fails = (what) => (what === 'looks' ? undefined : answered(503));
		expect(await of(one.renewIfOverdue())).toMatchObject({ failure: { status: 503 } });
		rules.fails = () => undefined;
		expect(await of(one.renewIfOverdue())).toBeUndefined();
		expect(await of(one.renewIfOverdue())).toBeUndefined();
	});
});
