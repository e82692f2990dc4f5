import { derivedId } from '../../../../../nodes/XpertAi/payloads/derivedId';
import { SourceMemory } from '../../../../../nodes/XpertAi/ingest/memory';
import type {
	BatchEnd,
	DocumentName,
	MemoryRoutes,
} from '../../../../../nodes/XpertAi/ingest/memory';
import { deflated } from '../../../../../nodes/XpertAi/ingest/memory/deflated';
import { Fingerprints } from '../../../../../nodes/XpertAi/ingest/memory/fingerprints';
import { noteText } from '../../../../../nodes/XpertAi/ingest/memory/note';
import { SIZES } from '../../../../../nodes/XpertAi/ingest/memory/sizes';
import type { AnswerCheck } from '../../../../../nodes/XpertAi/transport/answer';
import type { Outcome } from '../../../../../nodes/XpertAi/transport/request';
import { virtualTime } from '../../../support/virtualTime';
import { journaledBatch } from '../support/journaledBatch';
import { OLD } from '../support/oldNote';
import { answered, failed } from '../support/outcomes';

const PLACE = { knowledgebaseId: 'kb', source: 'a node', title: 'Nightly' };
const IDS = [...'abcdefghijklm'].map((key) => derivedId('kb', key));
const [A, B] = IDS as [string, string];

interface Row {
	id: string;
	name: string;
	processMsg: string;
	disabled: boolean;
	version: number;
}

/** The two routes on rows in memory; `refuses` says which notes the server does not take, and how. */
function server(refuses: (name: string) => number | undefined = () => undefined) {
	const rows = new Map<string, Row>();
	const written: string[] = [];
	const asked: string[][] = [];
	const store = (body: string): Outcome => {
		const sent = JSON.parse(body) as Row[];
		const refused = sent.flatMap(({ name }) => refuses(name) ?? [])[0];
		if (refused !== undefined || sent.length === 0) return answered(refused ?? 400);
		const answer = sent.map((one) => ({ ...one, version: (rows.get(one.id)?.version ?? 0) + 1 }));
		for (const row of answer) {
			written.push(row.name);
			rows.set(row.id, row);
		}
		return { ok: true, status: 201, answer };
	};
	const status = (ids: string[]): Outcome => ({
		ok: true,
		status: 200,
		answer: ids.flatMap((id) => rows.get(id) ?? []),
	});
	const routes: MemoryRoutes = {
		storePath: '/bulk',
		statusPath: (ids) => ids.join(','),
		send: async ({ path, body }) => {
			if (typeof body === 'string') return store(body);
			asked.push(path.split(','));
			return status(path.split(','));
		},
	};
	return { rows, written, asked, routes };
}

const HAS_STORED = 'n8n: what Nightly has stored (do not process)';
const routesOf = new WeakMap<SourceMemory, MemoryRoutes>();
/** Opens it; a run before that has not closed its memory has crashed, and the minute that takes is none. */
const open = async (...[place, routes, more]: Parameters<typeof SourceMemory.open>) => {
	const memory = await SourceMemory.open(place, routes, { clock: virtualTime(), ...more });
	routesOf.set(memory, routes);
	return memory;
};
const BESIDE = { evenIfRunning: true };
const times = (written: string[], name: string) => written.filter((one) => one === name).length;

/** Sends a batch, as far as it is about what is noted of it. */
async function sendBatch(memory: SourceMemory, ids: string[], content: string) {
	const routes = routesOf.get(memory);
	const contents = new Map(ids.map((id) => [id, content]));
	const journaled = routes && (await journaledBatch(memory, routes, contents));
	if (!journaled) throw new Error('nothing may be sent');
	await journaled.send();
	return journaled;
}

/** Stores documents one after another, as batches of one. */
async function store(memory: SourceMemory, ids: string[], content = 'one') {
	for (const id of ids) {
		const { ended } = await sendBatch(memory, [id], content);
		ended('done', false);
		memory.stored(id, content);
	}
}

/** What is remembered, without a note of that. */
async function recalled(routes: MemoryRoutes) {
	const read = await SourceMemory.recall(PLACE, routes);
	if ('failure' in read) throw new Error(read.failure.reason);
	const withContent = (content: string) => IDS.filter((id) => read.known.has(id, content));
	return {
		read,
		ids: IDS.filter((id) => read.known.knows(id)),
		withContent,
		troubles: read.troubles,
	};
}

/** Has a note say what is none, as a server does that was asked to process it. */
function spoil<Some extends Row | undefined>(row: Some): Some {
	if (row) row.processMsg = 'Invalid PDF structure';
	return row;
}

describe('the memory of a source', () => {
	it('is written once, at the end, however many documents were stored', async () => {
		const { routes, written } = server();
		const memory = await open(PLACE, routes);
		for (let batch = 0; batch < 30; batch++) {
			const id = derivedId('kb', `${batch}`);
			expect(await memory.expect([id])).toBeUndefined();
			memory.stored(id, 'content');
		}
		expect(times(written, HAS_STORED)).toBe(0);
		await memory.save();
		await memory.save();
		expect(written.filter((name) => name.includes('has stored'))).toEqual([HAS_STORED]);
		const next = await open(PLACE, routes);
		expect([next.knownBefore, next.known.has(derivedId('kb', '29'), 'content')]).toEqual([
			30,
			true,
		]);
		const fresh = await open(PLACE, routes, { fresh: true });
		expect([fresh.knownBefore, fresh.known.has(derivedId('kb', '29'), 'content')]).toEqual([
			30,
			false,
		]);
	});

	it('is not written by a run that changed nothing, nor when the execution was stopped', async () => {
		const { routes, written } = server();
		await (await open(PLACE, routes)).save();
		const { signal } = virtualTime(0);
		const stopped = await open(PLACE, routes, { signal });
		stopped.stored(A, 'content');
		await stopped.save();
		expect(times(written, HAS_STORED)).toBe(0);
	});

	it('knows after a crash what may be on the server, and sends that again', async () => {
		const { routes, asked } = server();
		const first = await open(PLACE, routes);
		first.stored(A, 'one');
		await first.save();
		const crashed = await open(PLACE, routes);
		await crashed.expect([A, B]);
		const next = await open(PLACE, routes);
		expect([...next.known.ids()]).toEqual([A, B]);
		expect(next.known.has(A, 'one')).toBe(false);
		// Behind a first page that the memory does not hold, more are asked for, once; so are lanes whose first was lost.
		asked.length = 0;
		await recalled(routes);
		expect(asked).toHaveLength(4);
	});

	it('knows no content for certain where a page of a journal was overwritten', async () => {
		const { rows, routes } = server();
		const first = await open(PLACE, routes);
		first.stored(A, 'one');
		await first.save();
		// It stores another content, and crashes; then somebody has its page processed.
		const crashed = await open(PLACE, routes);
		await crashed.expect([A]);
		const pages = [...rows.values()].filter(({ name }) => name.includes('is storing'));
		expect(pages).toHaveLength(1);
		for (const page of pages) page.processMsg = 'Invalid PDF structure';
		const next = await open(PLACE, routes);
		expect([next.known.knows(A), next.known.has(A, 'one')]).toEqual([true, false]);
	});

	it('keeps what a refused document was before, and nothing of one that was new', async () => {
		const { routes } = server();
		const memory = await open(PLACE, routes);
		memory.stored(A, 'one');
		const { ended } = await sendBatch(memory, [A, B], 'two');
		ended('nothing', false);
		memory.refused(A);
		memory.refused(B);
		expect([memory.known.knows(A), memory.known.knows(B)]).toEqual([true, false]);
	});

	it('of two runs is left to the one that began beside it; the next run sends everything', async () => {
		const { routes } = server();
		const first = await open(PLACE, routes);
		const second = await open(PLACE, routes, BESIDE);
		await first.expect([A]);
		first.stored(A, 'one');
		await second.expect([B]);
		second.stored(B, 'two');
		await second.close();
		await first.close();
		expect([first.troubles.overlapped, second.troubles.overlapped]).toEqual([true, undefined]);
		expect(await first.standing()).toEqual({ alone: false });
		const next = await open(PLACE, routes);
		expect(new Set(next.known.ids())).toEqual(new Set([A, B]));
		expect([next.known.has(A, 'one'), next.known.has(B, 'two')]).toEqual([false, false]);
	});

	it('loses nothing of a run beside, whenever that stores', async () => {
		for (let moment = 0, isOver = false; !isOver; moment++) {
			const { routes } = server();
			const beside = await open(PLACE, routes, BESIDE);
			let requests = 0;
			const send: MemoryRoutes['send'] = async (request) => {
				if (requests++ === moment) await store(beside, [B], 'beside');
				return await routes.send(request);
			};
			const alone = await open(PLACE, { ...routes, send });
			await store(alone, [A], 'two');
			await alone.close();
			isOver = requests <= moment;
			if (!isOver) expect([moment, (await recalled(routes)).ids]).toEqual([moment, [A, B]]);
		}
	});

	it('lets nothing be sent while another run of the source is at work, and says which', async () => {
		const { routes, written } = server();
		let word = () => undefined as unknown;
		const clock = { ...virtualTime(), later: (_: number, say: () => void) => (word = say) };
		await open(PLACE, routes, { clock, by: 'execution 7' });
		const sleep = async () => {
			await Promise.resolve(word());
		};
		const before = written.length;
		const memory = await open(PLACE, routes, { clock: { ...virtualTime(), sleep } });
		expect([memory.holder?.by, memory.isKept]).toEqual(['execution 7', false]);
		expect(await memory.expect([A])).toMatchObject({
			kind: 'unsuccessful',
			reason: expect.stringContaining('is at work: execution 7, since 2026') as string,
		});
		expect(await memory.around(new Map([[A, 'one']]))).toEqual({ failure: memory.refusal });
		expect(written.slice(before).filter((name) => !name.includes('is at work'))).toEqual([]);
	});

	it('lets nothing be sent once another run has taken this one for gone', async () => {
		const { routes } = server();
		const clock = virtualTime();
		const memory = await open(PLACE, routes, { clock });
		await open(PLACE, routes);
		clock.pass(50_000);
		expect(await memory.expect([A])).toMatchObject({
			reason: expect.stringContaining('has taken over') as string,
		});
		expect([memory.isKept, memory.known.knows(A)]).toEqual([false, false]);
	});

	it('knows what is unchanged where the server takes no note any more, and asks no more where it gives none', async () => {
		const { routes } = server();
		await store(await open(PLACE, routes), [A, B]);
		const asked: string[] = [];
		const without = (method: 'GET' | 'POST'): MemoryRoutes => ({
			...routes,
			send: async (request) => {
				asked.push(request.method);
				if (request.method !== method) return await routes.send(request);
				return { ok: false, failure: { kind: 'status', status: 403, method, path: request.path } };
			},
		});
		const memory = await open(PLACE, without('POST'));
		expect([memory.known.has(A, 'one'), memory.isKept]).toEqual([true, false]);
		asked.length = 0;
		expect((await open(PLACE, without('GET'))).isKept).toBe(false);
		expect(asked).toEqual(['GET']);
	});

	it('lets nothing be sent that the server does not take a note of', async () => {
		const { routes } = server((name) => (name.includes('is storing') ? 422 : undefined));
		const memory = await open(PLACE, routes);
		expect(await memory.expect([A])).toMatchObject({ status: 422 });
	});

	const PASSING = [
		['somebody else answers 404', failed({ kind: 'status', status: 404 })],
		['a record is missing', answered(404)],
		['the server is away', answered(503)],
		['the answer is none', failed({ kind: 'unreadable', status: 200, reason: 'it is empty' })],
	] as const;

	/** A server whose nth request fails. */
	const failing = (nth: number, outcome: Outcome) => {
		const { routes, ...rest } = server();
		let count = 0;
		const send: MemoryRoutes['send'] = async (request) =>
			++count === nth ? outcome : await routes.send(request);
		return { ...rest, routes: { ...routes, send } };
	};

	it.each(
		PASSING.flatMap(([what, outcome]) =>
			[1, 2, 3, 4, 5, 6].map((nth) => [what, nth, outcome] as const),
		),
	)('lets nothing be sent when %s in request %d of its beginning', async (_, nth, outcome) => {
		const { routes } = failing(nth, outcome);
		const memory = await open(PLACE, routes);
		expect([memory.isKept, memory.troubles.noRoute]).toEqual([false, undefined]);
		expect({ ok: false, failure: await memory.expect([A]) }).toEqual(outcome);
	});

	it.each([
		['asked whether it is alone', 7],
		['written', 8],
	])(
		'says so when it cannot be %s at the end; the next run knows all the same, from the journal',
		async (_, nth) => {
			const outcome = failed({ kind: 'status', status: 404 });
			const { routes } = failing(nth + 1, outcome);
			const memory = await open(PLACE, routes);
			await store(memory, [A]);
			await memory.save();
			expect({ ok: false, failure: memory.troubles.notWritten }).toEqual(outcome);
			expect(memory.troubles.overlapped).toBeUndefined();
			const next = await open(PLACE, routes);
			expect([next.known.knows(A), next.known.has(A, 'one')]).toEqual([true, true]);
		},
	);

	it('does not know whether it is alone where it cannot ask', async () => {
		const { routes } = failing(7, answered(503));
		const memory = await open(PLACE, routes);
		expect(await memory.standing()).toMatchObject({ failure: { status: 503 } });
		expect(await memory.standing()).toEqual({ alone: true });
	});

	it('counts only what was known when it was written: later changes are written next', async () => {
		const { routes, written } = server();
		let whileWriting: () => void = () => undefined;
		const send: MemoryRoutes['send'] = async (request) => {
			const outcome = await routes.send(request);
			if (typeof request.body === 'string' && request.body.includes('has stored')) whileWriting();
			return outcome;
		};
		const memory = await open(PLACE, { ...routes, send });
		memory.stored(A, 'one');
		whileWriting = () => memory.stored(B, 'two');
		await memory.save();
		whileWriting = () => undefined;
		await memory.save();
		expect(times(written, HAS_STORED)).toBe(2);
		const next = await open(PLACE, routes);
		expect(next.known.has(B, 'two')).toBe(true);
	});

	it('of two runs has a journal each: neither overwrites what the other has noted', async () => {
		const { routes } = server();
		const first = await open(PLACE, routes);
		const second = await open(PLACE, routes, BESIDE);
		await first.expect([A]);
		await second.expect([B]);
		const next = await open(PLACE, routes);
		expect(new Set(next.known.ids())).toEqual(new Set([A, B]));
	});

	it.each(['turn', 'memory', 'journal 1'])(
		'lets nothing be sent where its note %s is of a later version',
		async (name) => {
			const { routes, rows, written } = server();
			const first = await open(PLACE, routes);
			await first.expect([A]);
			await first.save();
			const id = derivedId('kb', `n8n ${name} of a node`);
			const row = rows.get(id);
			if (!row) throw new Error(`${name} is not there`);
			// The turn is written anew before it is read.
			const later = { ...row, processMsg: 'n8n-memory-5:what nobody knows' };
			const keep: MemoryRoutes['send'] = async (request) => {
				rows.set(id, later);
				const outcome = await routes.send(request);
				rows.set(id, later);
				return outcome;
			};
			written.length = 0;
			const next = await open(PLACE, { ...routes, send: keep });
			expect(await next.expect([A])).toMatchObject({
				reason: expect.stringContaining('a later version of this node') as string,
			});
			expect(written.filter((one) => !/began|is at work/.test(one))).toEqual([]);
		},
	);

	it('is nothing where the server does not have the route, by its own words', async () => {
		const routeMissing = failed({ kind: 'status', status: 404, missing: 'route' });
		const routes = { ...server().routes, send: async () => routeMissing };
		const memory = await open(PLACE, routes);
		expect([memory.isKept, memory.troubles.noRoute]).toEqual([false, true]);
		expect(await memory.expect([A])).toBeUndefined();
		expect(await memory.around(new Map([[A, 'one']]))).toBeUndefined();
		expect(memory.roomInBatch).toBeUndefined();
	});

	it('is nothing where the server takes it and does not give it back', async () => {
		const { routes, rows } = server();
		const forgetful: MemoryRoutes = {
			...routes,
			send: async (request) => {
				const outcome = await routes.send(request);
				for (const row of rows.values()) row.processMsg = '';
				return outcome;
			},
		};
		const memory = await open(PLACE, forgetful);
		expect([memory.isKept, memory.troubles.noRoute]).toEqual([false, true]);
		expect(await memory.expect([A])).toBeUndefined();
		expect(await memory.around(new Map([[A, 'one']]))).toBeUndefined();
		expect(memory.roomInBatch).toBeUndefined();
	});

	it('asks for a list of what is certainly there: any other answer does not count', async () => {
		const asked: Array<[string, AnswerCheck | undefined]> = [];
		const { routes, rows } = server();
		const send: MemoryRoutes['send'] = async (request) => {
			asked.push([request.method, request.checkAnswer]);
			return await routes.send(request);
		};
		const memory = await open(PLACE, { ...routes, send });
		expect(memory.witness).toBe([...rows.keys()][0]);
		await memory.standing();
		const own = [{ id: memory.witness?.toUpperCase() }];
		const others = [{ id: A }];
		const says = asked.map(([method, check]) => [
			method,
			...[own, others, [], {}, 'text', undefined].map((answer) => check?.(answer)),
		]);
		const [short, empty] = ['it does not list the documents that it should', 'it is empty'];
		expect(says).toEqual([
			// Before its first run, nothing of a source is there.
			['GET', undefined, undefined, undefined, short, short, empty],
			['POST', undefined, short, short, short, short, empty],
			['GET', undefined, short, short, short, short, empty],
			['POST', short, short, short, short, short, empty],
			['GET', undefined, short, short, short, short, empty],
			['GET', undefined, short, short, short, short, empty],
			['GET', undefined, short, short, short, short, empty],
		]);
	});

	it('is recalled for another source without a note of that, journals included', async () => {
		const { rows, routes, written } = server();
		expect((await recalled(routes)).read.witness).toBeUndefined();
		const memory = await open(PLACE, routes);
		memory.stored(A, 'one');
		await memory.save();
		await memory.expect([B]);
		const before = written.length;
		const { witness = '' } = memory;
		const read = await SourceMemory.recall(PLACE, routes, { witness });
		expect('known' in read && [...read.known.ids()]).toEqual([A, B]);
		expect(written).toHaveLength(before);
		rows.delete(witness);
		const id = derivedId('kb', 'n8n memory of a node');
		const without = await recalled(routes);
		expect([without.withContent('one'), without.read.witness, without.troubles]).toEqual([
			[A],
			id,
			{},
		]);
		spoil(rows.get(id));
		expect(await recalled(routes)).toMatchObject({
			ids: [B],
			troubles: { flaw: 'overwritten' },
		});
		const away: MemoryRoutes = { ...routes, send: async () => answered(503) };
		expect(await SourceMemory.recall(PLACE, away, {})).toMatchObject({
			failure: { status: 503 },
		});
	});

	it('lies in disabled documents, whose IDs are made of the knowledgebase and the source', async () => {
		const { routes, rows } = server();
		const memory = await open(PLACE, routes);
		await memory.expect([A]);
		await memory.save();
		const other = server();
		await (await open(PLACE, other.routes)).expect([A]);
		const ids = [...rows.keys()];
		expect([...other.rows.keys()].every((id) => ids.includes(id))).toBe(true);
		expect([...rows.values()].every(({ disabled }) => disabled)).toBe(true);
	});
});

describe('a batch that is its own journal', () => {
	const page = (at: number) => `n8n: what Nightly is storing, 2.${at} (do not process)`;
	const done = (at: number) => `n8n: what Nightly has sent, 2.${at} (do not process)`;
	const [C = '', D = '', E = ''] = IDS.slice(2);

	/** A run that has begun, and what it has written since. */
	async function begun() {
		const { routes, written, rows } = server();
		const memory = await open(PLACE, routes);
		written.length = 0;
		const send = async (...ids: string[]) => await sendBatch(memory, ids, 'one');
		return { memory, routes, rows, send, since: () => written.splice(0) };
	}

	it('carries a page, and behind its documents that it was carried out', async () => {
		const { memory, since } = await begun();
		expect(memory.roomInBatch).toEqual({ once: 8192, each: 30 });
		await store(memory, [A, B]);
		expect(since()).toEqual([page(1), done(2), page(1), done(3)]);
	});

	it('has a page of its own beside others, once the first page is there', async () => {
		const { send, since } = await begun();
		const first = await send(A);
		let isSent = false;
		const second = send(B).then((sent) => ((isSent = true), sent));
		await new Promise(setImmediate);
		expect(isSent).toBe(false);
		first.ended('done', false);
		const third = await send(C);
		for (const { ended } of [await second, third]) ended('done', false);
		expect(since()).toEqual([page(1), done(2), page(1), done(3), page(2), done(4)]);
	});

	it.each<[string, BatchEnd, boolean, string[]]>([
		[
			'certainly has not arrived leaves its number to the next',
			'nothing',
			false,
			[page(1), done(3)],
		],
		[
			'may have arrived is written by itself',
			'unclear',
			false,
			[page(1), done(3), page(2), done(4)],
		],
		['may still come is written by itself', 'unclear', true, [page(1), done(3), page(2), done(4)]],
		['may come once more is not written again', 'done', true, [page(2), done(3)]],
	])('whose page %s', async (_, end, late, then) => {
		const { send, since } = await begun();
		(await send(A)).ended(end, late);
		since();
		await send(B);
		expect(since()).toEqual(then);
	});

	it('whose later page did not arrive leaves no gap, and is not added to', async () => {
		const { memory, send, since } = await begun();
		await store(memory, [A]);
		const [second, third] = [await send(B), await send(C)];
		third.ended('nothing', false);
		second.ended('unclear', true);
		since();
		await send(D);
		// The second was in the first page, of which a row may come late.
		expect(since()).toEqual([page(2), done(5)]);
	});

	it('is known with its contents as far as it was carried out, whatever follows', async () => {
		const { memory, routes, send } = await begun();
		(await send(A)).ended('unclear', true);
		await store(memory, [B]);
		const { ids, withContent } = await recalled(routes);
		expect([ids, withContent('one')]).toEqual([[A, B], [B]]);
	});

	it('leaves no trace where certainly nothing of it was carried out', async () => {
		const { routes } = server();
		const first = await open(PLACE, routes);
		await store(first, [A, B], 'zero');
		await first.close();
		const crashed = await open(PLACE, routes);
		await store(crashed, [C]);
		await crashed.around(new Map([[B, 'one']])).then((around) => {
			if (around && 'ended' in around) around.ended('nothing', false);
		});
		await store(crashed, [D]);
		const { ids, withContent } = await recalled(routes);
		expect([ids, withContent('zero'), withContent('one')]).toEqual([
			[A, B, C, D],
			[A, B],
			[C, D],
		]);
	});

	it('is not taken for carried out where its page arrived and nothing behind it', async () => {
		const { memory, routes } = await begun();
		await store(memory, [A]);
		// The server stores the rows of a request in order, and ends after the first.
		const around = await memory.around(new Map([[B, 'one']]));
		if (!around || 'failure' in around) throw new Error('nothing may be sent');
		await routes.send({ method: 'POST', path: '/bulk', body: `[${around.rows[0]}]` });
		const { ids, withContent } = await recalled(routes);
		expect([ids, withContent('one')]).toEqual([[A, B], [A]]);
	});

	it('is not read where the pages behind the first are not given', async () => {
		const { memory, routes } = await begun();
		await store(memory, [A]);
		const send: MemoryRoutes['send'] = async (request) =>
			request.path.includes(derivedId('kb', `n8n journal 1.1 of ${PLACE.source}`))
				? answered(503)
				: await routes.send(request);
		expect(await SourceMemory.recall(PLACE, { ...routes, send })).toMatchObject({
			failure: { status: 503 },
		});
	});

	it('is not taken for carried out with another one whose page it was to go into', async () => {
		const { memory, routes, send } = await begun();
		await store(memory, [A]);
		(await send(B)).ended('nothing', false);
		// It is on its way once more, as a half of the batch that was too large.
		await memory.around(new Map([[B, 'one']]));
		(await send(C)).ended('done', false);
		const { ids, withContent } = await recalled(routes);
		expect([ids.includes(C), withContent('one')]).toEqual([true, [A, C]]);
	});

	it('is not taken for carried out with another one that goes into the page where it was noted before', async () => {
		const { memory, routes, send } = await begun();
		await store(memory, [A]);
		const again = await memory.around(new Map([[A, 'two']]));
		if (!again || 'failure' in again) throw new Error('nothing may be sent');
		(await send(B)).ended('done', false);
		again.ended('nothing', false);
		memory.refused(A);
		const { ids, withContent } = await recalled(routes);
		expect([ids, withContent('one'), withContent('two')]).toEqual([[A, B], [B], []]);
	});

	it('is not taken for carried out, however many others of the run were not, as its page comes late', async () => {
		const { memory, routes, send } = await begun();
		const around = await memory.around(new Map([[A, 'one']]));
		if (!around || 'failure' in around) throw new Error('nothing may be sent');
		around.ended('unclear', true);
		for (let batch = 0; batch < 101; batch++) (await send(B)).ended('unclear', true);
		await store(memory, [C]);
		await routes.send({ method: 'POST', path: '/bulk', body: `[${around.rows[0]}]` });
		const { ids, withContent } = await recalled(routes);
		expect([ids, withContent('one')]).toEqual([[A, B, C], [C]]);
	});

	it('leaves no content certain where a request may still bring another one', async () => {
		const { memory, send } = await begun();
		(await send(A, B)).ended('unclear', true);
		await store(memory, [A]);
		await store(memory, [B], 'two');
		const { known } = memory;
		expect([known.has(A, 'one'), known.has(B, 'two'), known.knows(B)]).toEqual([true, false, true]);
		(await send(C)).ended('unclear', true);
		memory.refused(C);
		memory.gone(A);
		expect([C, A].map((id) => known.knows(id))).toEqual([true, true]);
	});

	it('is known with its contents also behind very many others', async () => {
		const { memory, routes } = await begun();
		const ids = Array.from({ length: 60 }, (_, at) => derivedId('kb', `${at}`));
		await store(memory, ids);
		const { read } = await recalled(routes);
		expect(ids.filter((id) => !read.known.has(id, 'one'))).toEqual([]);
	});

	it('with a document that was noted before goes into a new page, which counts', async () => {
		const { memory, send, since } = await begun();
		await store(memory, [A]);
		since();
		(await send(A, B)).ended('done', false);
		expect(since()).toEqual([page(2), done(3)]);
	});

	it('leaves a page that did not arrive among others to be written by itself', async () => {
		const { memory, send, since } = await begun();
		await store(memory, [A]);
		const batches = [await send(B), await send(C), await send(D)];
		batches[1]?.ended('nothing', false);
		since();
		await send(E);
		expect(since()).toEqual([page(2), done(6), page(4), done(7)]);
	});

	it('is not sent while such a page is not taken, nor is anything else that is noted', async () => {
		const rules = { refuses: false };
		const { routes, written } = server((name) =>
			rules.refuses && name.includes('is storing') ? 422 : undefined,
		);
		const memory = await open(PLACE, routes);
		(await sendBatch(memory, [A], 'one')).ended('unclear', true);
		rules.refuses = true;
		const refused = { failure: { status: 422 } };
		expect(await memory.around(new Map([[B, 'one']]))).toMatchObject(refused);
		expect(await memory.expect([B])).toMatchObject(refused.failure);
		rules.refuses = false;
		written.length = 0;
		expect([await memory.expect([B]), await memory.expect([C])]).toEqual([undefined, undefined]);
		expect(written).toEqual([page(1), done(5), page(2), done(6), page(2), done(7)]);
		rules.refuses = true;
		expect(await memory.expect([D])).toMatchObject(refused.failure);
		rules.refuses = false;
		written.length = 0;
		await memory.expect([E]);
		expect(written).toEqual([page(2), done(9), page(3), done(10)]);
	});

	it('tells its own two rows from its documents', async () => {
		const { memory, rows, send } = await begun();
		const around = await memory.around(new Map([[A, 'one']]));
		if (!around || 'failure' in around) throw new Error('nothing may be sent');
		around.ended('nothing', false);
		(await send(A)).ended('done', false);
		const idOf = (name: string) => [...rows.values()].find((row) => row.name === name)?.id;
		const sent = around.rows.map((row) => (JSON.parse(row) as Row).id);
		expect([around.ids[0], around.ids]).toEqual([idOf(page(1)), sent]);
	});

	/** Runs that store one document each, in a lane of their own. */
	async function manyRuns(routes: MemoryRoutes, count: number, end: BatchEnd = 'done') {
		for (let run = 0; run < count; run++) {
			const next = await open(PLACE, routes);
			(await sendBatch(next, [B], `${run}`)).ended(end, end !== 'done');
			if (end === 'done') next.stored(B, `${run}`);
			await next.close();
		}
	}

	const textOf = (rows: Map<string, Row>, name: string) =>
		[...rows.values()].find((row) => row.name === name)?.processMsg;

	it.each([
		['has ended', 'unclear', true],
		['has crashed', 'unclear', false],
		['has ended, and nothing can come any more', 'done', true],
	] as const)(
		'of a run that %s: its lane is taken last where a row may come',
		async (_, end, closes) => {
			const { memory, routes, rows, send } = await begun();
			(await send(A)).ended(end, end === 'unclear');
			if (closes) await memory.close();
			const before = textOf(rows, page(1));
			// The ninth run would take the same lane as the first.
			await manyRuns(routes, 9);
			expect(textOf(rows, page(1)) === before).toBe(end === 'unclear');
			expect([...rows.values()].filter(({ name }) => name.includes('is storing'))).toHaveLength(8);
		},
	);

	it('takes such a lane where there is no other, without what is known already', async () => {
		const { memory, routes, send, since } = await begun();
		(await send(A)).ended('unclear', true);
		await memory.close();
		await manyRuns(routes, 7, 'unclear');
		const next = await open(PLACE, routes);
		since();
		await sendBatch(next, [C], 'one');
		expect(since()).toEqual([page(1), done(2)]);
	});

	it('is not taken for carried out where an earlier run in the same lane has said so of its own', async () => {
		const { memory, routes } = await begun();
		await store(memory, IDS);
		await memory.close();
		await manyRuns(routes, 7);
		const next = await open(PLACE, routes);
		const around = await next.around(new Map([[A, 'two']]));
		if (!around || 'failure' in around) throw new Error('nothing may be sent');
		await routes.send({ method: 'POST', path: '/bulk', body: `[${around.rows[0]}]` });
		const { ids, withContent } = await recalled(routes);
		expect([ids.includes(A), withContent('one').includes(A), withContent('two')]).toEqual([
			true,
			false,
			[],
		]);
	});
});

describe('a source that is large for its notes', () => {
	const sizes = { ...SIZES };
	beforeEach(() =>
		Object.assign(SIZES, { piece: 4, changes: 2, page: 60, request: 700, answer: 2, pages: 3 }),
	);
	afterEach(() => Object.assign(SIZES, sizes));

	/** The pages that a run has filled which crashed as it had stored all. */
	async function crashed() {
		const { rows, routes, written, asked } = server();
		await store(await open(PLACE, routes), IDS);
		const pages = [...rows.values()].filter(({ name }) => name.includes('is storing'));
		return { rows, routes, written, pages, asked };
	}

	it('is known after a crash from as many pages as that took', async () => {
		const { routes, pages, written } = await crashed();
		expect(pages.map(({ name }) => name)).toEqual(
			[1, 2, 3, 4, 5].map((page) => `n8n: what Nightly is storing, 2.${page} (do not process)`),
		);
		const { ids, withContent } = await recalled(routes);
		expect([ids, withContent('one')]).toEqual([IDS, IDS]);
		let count = 0;
		const away: MemoryRoutes['send'] = async (request) =>
			++count === 2 ? answered(503) : await routes.send(request);
		expect(await SourceMemory.recall(PLACE, { ...routes, send: away })).toMatchObject({
			failure: { status: 503 },
		});
		// The next run takes that into the memory before it begins.
		expect(times(written, HAS_STORED)).toBe(0);
		await open(PLACE, routes);
		expect(times(written, HAS_STORED)).toBe(1);
	});

	it('is known from the memory alone once that is written, and from what later runs leave', async () => {
		const { routes, written } = server();
		const first = await open(PLACE, routes);
		await store(first, IDS);
		await first.save();
		await store(first, [A]);
		expect(written.at(-2)).toContain('is storing, 2.1');
		await first.close();
		for (const [at, id] of [A, B].entries()) {
			const next = await open(PLACE, routes);
			await store(next, [id], 'two');
			await next.close();
			const { withContent, troubles } = await recalled(routes);
			expect(withContent('two')).toEqual(IDS.slice(0, at + 1));
			expect([withContent('one'), troubles]).toEqual([IDS.slice(at + 1), {}]);
		}
		written.length = 0;
		await (await open(PLACE, routes)).close();
		expect(written.filter((name) => name.includes('stor'))).toEqual([]);
		await store(await open(PLACE, routes), [B, A], 'three');
		expect((await recalled(routes)).withContent('three')).toEqual([A, B]);
	});

	it('is not read any more from the pages of a crashed run once two runs have had it', async () => {
		const { routes, asked } = await crashed();
		const requests: number[] = [];
		for (let run = 0; run < 4; run++) {
			asked.length = 0;
			await (await open(PLACE, routes)).close();
			requests.push(asked.filter((ids) => ids.length > 8).length);
		}
		expect(requests).toEqual([4, 2, 1, 1]);
		expect((await recalled(routes)).withContent('one')).toEqual(IDS);
	});

	it('is known behind a page that did not arrive, however many there are', async () => {
		const { rows, routes } = server();
		const ids = Array.from({ length: 120 }, (_, at) => derivedId('kb', `${at}`));
		const memory = await open(PLACE, routes);
		await store(memory, ids.slice(0, 90));
		await memory.around(new Map(ids.slice(90, 93).map((id) => [id, 'one'])));
		await store(memory, ids.slice(93));
		const pages = [...rows.values()].filter(({ name }) => name.includes('is storing'));
		expect(pages).toHaveLength(39);
		const { read } = await recalled(routes);
		expect(ids.filter((id) => !read.known.has(id, 'one'))).toEqual(ids.slice(90, 93));
	});

	it.each([0, 1, 39])(
		'has no certain content where somebody has deleted its page %i after a crash',
		async (at) => {
			const { rows, routes } = server();
			const first = await open(PLACE, routes);
			await store(first, IDS, 'zero');
			await first.close();
			const all = Array.from({ length: 120 }, (_, at) => IDS[at] ?? derivedId('kb', `${at}`));
			await store(await open(PLACE, routes), all);
			const pages = [...rows.values()].filter(({ name }) => name.includes('is storing, 3'));
			expect(pages).toHaveLength(40);
			rows.delete(pages[at]?.id ?? '');
			const { ids, withContent } = await recalled(routes);
			expect([ids, withContent('zero'), withContent('one')]).toEqual([IDS, [], []]);
			for (const content of ['two', 'three']) {
				const next = await open(PLACE, routes);
				await store(next, [A], content);
				await next.close();
				expect((await recalled(routes)).withContent(content)).toEqual([A]);
			}
		},
	);

	/** A run that has noted what it stored, on a server that does not take the memory. */
	async function unwritten() {
		const rules = { refuses: false };
		const { rows, routes } = server((name) =>
			rules.refuses && name.includes('has stored') ? 413 : undefined,
		);
		const first = await open(PLACE, routes);
		await store(first, IDS, 'zero');
		await first.close();
		rules.refuses = true;
		const second = await open(PLACE, routes);
		await store(second, [A]);
		await second.close();
		const deletePage = () => {
			const [page] = [...rows.values()].filter(({ name }) => name.includes('is storing, 3'));
			rows.delete(page?.id ?? '');
		};
		return { rules, routes, deletePage };
	}

	it.each([
		['nor could the next one', false],
		['and the next one could not read it', true],
	])('misses a page of a run that could not write the memory, %s', async (_, isAway) => {
		const { rules, routes, deletePage } = await unwritten();
		expect((await recalled(routes)).withContent('zero')).toEqual(IDS.slice(1));
		// The next ones can write it as little, or not even read it.
		await (await open(PLACE, routes)).close();
		const away: MemoryRoutes['send'] = async (request) =>
			request.path.split(',').length > 8 ? answered(503) : await routes.send(request);
		if (isAway) await (await open(PLACE, { ...routes, send: away })).close();
		deletePage();
		expect((await recalled(routes)).withContent('zero')).toEqual([]);
		rules.refuses = false;
		await (await open(PLACE, routes)).close();
		const { ids, withContent } = await recalled(routes);
		expect([ids, withContent('zero')]).toEqual([IDS, []]);
	});

	it('misses a page also after a run that missed it and could not write the memory either', async () => {
		const { routes, deletePage } = await unwritten();
		deletePage();
		await (await open(PLACE, routes)).close();
		expect((await recalled(routes)).withContent('zero')).toEqual([]);
	});

	it('has contents where somebody deletes a page of an earlier run in the same lane', async () => {
		SIZES.piece = 100;
		const { rows, routes } = server();
		for (let run = 0; run < 8; run++) {
			const memory = await open(PLACE, routes);
			await store(memory, run === 0 ? IDS : [A]);
			await memory.close();
		}
		await store(await open(PLACE, routes), [A], 'two');
		const pages = [...rows.values()].filter(({ name }) => name.includes('is storing, 2.'));
		expect(pages).toHaveLength(5);
		rows.delete(pages[3]?.id ?? '');
		const { withContent } = await recalled(routes);
		expect([withContent('one'), withContent('two')]).toEqual([IDS.slice(1), [A]]);
	});

	it('is not written where a page was lost, until the memory is', async () => {
		const { rows, routes } = server();
		await store(await open(PLACE, routes), [A]);
		const pageIn = (lane: string) =>
			[...rows.values()].find(({ name }) => name.includes(`is storing, ${lane}.1`));
		rows.delete(pageIn('2')?.id ?? '');
		for (let run = 0; run < 7; run++) await store(await open(PLACE, routes), [B]);
		expect(['1', '2', '3'].map((lane) => pageIn(lane) !== undefined)).toEqual([true, false, true]);
	});

	it('does not look for lost pages where the last run has ended with all of it written', async () => {
		const { routes, asked } = server();
		const askedBy = async (work: () => Promise<unknown>) => {
			asked.length = 0;
			await work();
			return asked.filter((ids) => ids.length > 8).length;
		};
		const run = async (ids: string[], more?: typeof BESIDE) => {
			const memory = await open(PLACE, routes, more);
			await store(memory, ids);
			await memory.close();
		};
		await run(IDS);
		expect(await askedBy(async () => await run([]))).toBe(1);
		expect(await askedBy(async () => await run([A], BESIDE))).toBe(1);
		// Who works beside others takes no lease that would tell how it has ended.
		expect(await askedBy(async () => await run([]))).toBeGreaterThan(1);
		expect(await askedBy(async () => await run([]))).toBe(1);
	});

	it('has no page of a run count behind those of a later one in the same lane, nor asks for them all', async () => {
		SIZES.piece = 100;
		const { routes, asked } = server();
		for (let run = 0; run < 8; run++) {
			const memory = await open(PLACE, routes);
			await store(memory, run === 0 ? IDS : [A]);
			await memory.close();
		}
		const left = async () => {
			asked.length = 0;
			const { withContent } = await recalled(routes);
			const pages = asked.length - 1;
			return { one: withContent('one'), two: withContent('two'), pages };
		};
		expect(await left()).toEqual({ one: IDS, two: [], pages: 0 });
		await store(await open(PLACE, routes), IDS.slice(0, 3), 'two');
		const now = { one: IDS.slice(3), two: IDS.slice(0, 3), pages: 8 };
		expect(await left()).toEqual(now);
		await (await open(PLACE, routes)).close();
		expect(await left()).toEqual(now);
	});

	it.each([
		[[0, 1, 2], 'jklm'],
		[[0, 1, 2, 3], 'm'],
		[[1, 2, 3], 'abcm'],
		[[1, 2, 3, 4], 'abc'],
	])(
		'has no certain content without its pages %j, and is looked for behind them',
		async (lost, left) => {
			const { routes, pages } = await crashed();
			for (const at of lost) spoil(pages[at]);
			const { ids, withContent } = await recalled(routes);
			expect([ids, withContent('one')]).toEqual([[...left].map((key) => derivedId('kb', key)), []]);
			const next = await open(PLACE, routes);
			await store(next, IDS);
			await next.close();
			// What the pages may have said is in the memory by now.
			expect((await recalled(routes)).withContent('one')).toEqual(IDS);
		},
	);

	it('is known, without contents, from the journals of more runs than there are lanes', async () => {
		const { routes, written } = server((name) => (name.includes('has stored') ? 413 : undefined));
		const [first = '', ...others] = IDS;
		await store(await open(PLACE, routes), [first]);
		for (let idle = 0; idle < 7; idle++) await (await open(PLACE, routes)).close();
		for (const id of others) await store(await open(PLACE, routes), [id, B]);
		const memory = await open(PLACE, routes);
		await memory.save();
		const before = written.length;
		await memory.save();
		expect(written).toHaveLength(before);
		const { ids, withContent } = await recalled(routes);
		expect([ids, withContent('one')]).toEqual([IDS, []]);
	});

	it('has no certain content where a run was taken for gone and went on', async () => {
		const { routes } = server();
		const [slow, other] = [await open(PLACE, routes), await open(PLACE, routes)];
		await store(other, [A], 'two');
		await other.close();
		await store(slow, [A, B]);
		const { ids, withContent } = await recalled(routes);
		expect([ids, withContent('one'), withContent('two')]).toEqual([[A, B], [], []]);
	});

	it('lies in notes of a size that a request may have, several in one as long as they fit', async () => {
		const { routes, asked, written } = server();
		const sent: Row[][] = [];
		const send: MemoryRoutes['send'] = async (request) => {
			if (typeof request.body === 'string') sent.push(JSON.parse(request.body) as Row[]);
			return await routes.send(request);
		};
		const memory = await open(PLACE, { ...routes, send });
		await store(memory, IDS);
		sent.length = 0;
		await memory.save();
		const textOf = (rows: Row[]) => rows.map(({ processMsg }) => processMsg).join('');
		expect(sent.map(({ length }) => length)).toEqual([2, 2, 1]);
		expect(Math.max(...sent.map((rows) => textOf(rows).length))).toBeLessThanOrEqual(700);
		await memory.close();
		asked.length = 0;
		expect((await recalled(routes)).withContent('one')).toEqual(IDS);
		expect(asked.slice(1).map(({ length }) => length)).toEqual([2, 2]);
		asked.length = 0;
		const away: MemoryRoutes['send'] = async (request) =>
			asked.length === 1 ? answered(503) : await routes.send(request);
		expect(await SourceMemory.recall(PLACE, { ...routes, send: away })).toMatchObject({
			failure: { status: 503 },
		});
		// Where much of them has changed, they are written anew.
		const next = await open(PLACE, routes);
		await store(next, IDS, 'two');
		written.length = 0;
		SIZES.request = 1;
		await next.close();
		expect(written.filter((name) => name.includes('has stored, '))).toHaveLength(4);
		expect(written.filter((name) => name.includes('changes'))).toEqual([]);
	});

	it.each([1, 4])('is not written without its piece %i; journals have it', async (number) => {
		SIZES.request = 1;
		const { routes, written } = server((name) =>
			name.includes(`has stored, ${number} of`) ? 413 : undefined,
		);
		const memory = await open(PLACE, routes);
		await store(memory, IDS);
		await memory.close();
		expect(memory.troubles.notWritten).toMatchObject({ status: 413 });
		expect(times(written, HAS_STORED)).toBe(0);
		expect((await recalled(routes)).withContent('one')).toEqual(IDS);
	});

	it('loses with a piece its documents, and with the changes beside one the contents of it', async () => {
		const { rows, routes } = server();
		for (const content of ['one', 'two']) {
			const memory = await open(PLACE, routes);
			await store(memory, content === 'one' ? IDS : [A, B], content);
			await memory.close();
		}
		const notes = [...rows.values()].filter(({ name }) => name.includes('has stored, '));
		expect(notes.map(({ id, name }) => [id, name])).toEqual(
			['1', '2', '3', '4', 'changes in 3', 'changes in 4'].map((part) => [
				derivedId('kb', `n8n ${part.replace(/(?=\d)/, 'piece ')} of 4 of a node`),
				`n8n: what Nightly has stored, ${part} of 4 (do not process)`,
			]),
		);
		for (const note of notes) {
			const isChanges = note.name.includes('changes');
			rows.set(note.id, spoil({ ...note }));
			const { ids, withContent, troubles } = await recalled(routes);
			const certain = [...withContent('one'), ...withContent('two')];
			expect(certain.length).toBeLessThan(IDS.length - 1);
			expect(troubles.lost).toBe(isChanges ? 1 : IDS.length - certain.length);
			// Of a piece that cannot be read, the changes beside it name some documents.
			const named = IDS.filter((id) => certain.includes(id) || id === A || id === B);
			expect(ids).toEqual(isChanges ? IDS : named);
			rows.set(note.id, note);
		}
		// What is left of it is whole one run later, also of one that changes nothing.
		rows.delete(notes[2]?.id ?? '');
		await (await open(PLACE, routes)).close();
		const { read, troubles } = await recalled(routes);
		expect([read.known.knows(A), read.known.has(A, 'two'), troubles]).toEqual([true, false, {}]);
	});
});

describe('what documents are called', () => {
	const sizes = { ...SIZES };
	beforeEach(() => Object.assign(SIZES, { names: 70 }));
	afterEach(() => Object.assign(SIZES, sizes));

	const of = (number: number) =>
		`n8n: what Nightly calls its documents, ${number} (do not process)`;
	const [C = '', D = '', E = '', F = '', G = '', H = '', I = ''] = IDS.slice(2);

	/** One run after another that brings documents, and which notes of names it writes. */
	function scene() {
		const rules = { refuses: false };
		const { rows, routes, written } = server((name) =>
			rules.refuses && name.includes('calls its') ? 413 : undefined,
		);
		const bring = async (
			some: Array<[id: string, called: DocumentName]>,
			{ content = 'one', crashes = false } = {},
		) => {
			const memory = await open(PLACE, routes);
			for (const [id, called] of some)
				if (memory.known.has(id, content)) memory.unchanged(id, called);
				else {
					(await sendBatch(memory, [id], content)).ended('done', false);
					memory.stored(id, content, called);
				}
			if (!crashes) await memory.close();
			return written.splice(0).filter((name) => name.includes('calls its'));
		};
		const names = async (ids = IDS) =>
			Object.fromEntries(await (await recalled(routes)).read.namesOf(ids));
		const noteOf = (number: number) => [...rows.values()].find(({ name }) => name === of(number));
		return { bring, names, noteOf, rows, rules };
	}

	it('is noted when they are first stored, in notes to which more is added as long as they have room', async () => {
		const { bring, names, noteOf, rows, rules } = scene();
		rules.refuses = true;
		await bring([[I, { name: 'never noted' }]]);
		rules.refuses = false;
		expect(await bring([[A, { key: 'a', name: 'first' }]])).toEqual([of(1)]);
		// An id of its own, in upper case.
		expect(await bring([[B.toUpperCase(), { key: 'own', name: 'second' }]])).toEqual([of(1)]);
		expect(
			await bring([
				[C, { key: 'c' }],
				[D, {}],
			]),
		).toEqual([of(2)]);
		const called = {
			[A]: { key: 'a', name: 'first' },
			[B]: { name: 'second' },
			[C]: { key: 'c', name: 'c' },
		};
		expect(await names()).toEqual(called);
		expect(await names([A])).toEqual({ [A]: called[A] });
		expect(await names([])).toEqual({});
		expect(await bring([[A, { name: 'again' }]])).toEqual([]);
		expect(await bring([[A, { name: 'again' }]], { content: 'two' })).toEqual([]);
		// What cannot be read is lost alone, and nothing is added to it.
		spoil(noteOf(2));
		expect(await bring([[E, { name: 'the fifth of them' }]])).toEqual([of(3)]);
		expect(await names()).toEqual({
			[A]: called[A],
			[B]: called[B],
			[E]: { name: 'the fifth of them' },
		});
		// While a run is at work, as soon as there is enough of it.
		const many = [F, G, H].map((id): [string, DocumentName] => [id, { name: 'many' }]);
		expect(await bring(many)).toEqual([of(4), of(5)]);
		expect(Object.keys(await names())).toEqual([A, B, E, F, G, H]);
		rows.delete(noteOf(1)?.id ?? '');
		expect(Object.keys(await names())).toEqual([E, F, G, H]);
	});

	it('is read as earlier versions noted it, with whole ids', async () => {
		const { bring, names, noteOf } = scene();
		await bring([[B, { name: 'second' }]]);
		const body = await deflated(JSON.stringify([[null, 'second', B.toUpperCase()]]));
		const text = noteText({ source: PLACE.source, mark: 'names 0' }, new Fingerprints(), { body });
		Object.assign(noteOf(1) ?? {}, { processMsg: text.replace('memory-4', 'memory-2') });
		expect(await names()).toEqual({ [B]: { name: 'second' } });
	});

	it('is noted of a memory from before there were names, once they are brought again', async () => {
		const { bring, names, rows } = scene();
		const known = new Fingerprints();
		known.record(B, 'one');
		const id = derivedId('kb', `n8n memory of ${PLACE.source}`);
		const processMsg = noteText({ source: PLACE.source, mark: 'before' }, known, {
			keys: known.keys(),
		});
		rows.set(id, { id, name: '', processMsg, disabled: true, version: 1 });
		expect(await bring([[B, { name: 'second' }]])).toEqual([of(1)]);
		expect(await names()).toEqual({ [B]: { name: 'second' } });
	});

	it('is known after a crash once they are brought again, changed or not', async () => {
		const { bring, names } = scene();
		const both: Parameters<typeof bring>[0] = [
			[H, { name: 'eighth' }],
			[I, { name: 'ninth' }],
		];
		await bring([[A, { name: 'first' }]]);
		expect(await bring(both, { crashes: true })).toEqual([]);
		await bring([...both, [A, { name: 'another' }]]);
		expect(Object.values(await names())).toEqual([
			{ name: 'first' },
			{ name: 'eighth' },
			{ name: 'ninth' },
		]);
	});
});

it.each([1, 2])(
	'the memory of a source of version %i is taken over, and written anew',
	async (of) => {
		const { rows, routes, written } = server();
		const id = derivedId('kb', 'n8n memory of handbook');
		const processMsg = OLD.replace('memory-1', `memory-${of}`);
		rows.set(id, { id, name: '', processMsg, disabled: true, version: 1 });
		const place = { ...PLACE, source: 'handbook' };
		for (let run = 0; run < 2; run++) {
			const memory = await open(place, routes);
			expect(memory.known.has(A, 'content')).toBe(true);
			await memory.close();
			expect(times(written, HAS_STORED)).toBe(1);
		}
	},
);
