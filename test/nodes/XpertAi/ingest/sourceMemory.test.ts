import { derivedId } from '../../../../nodes/XpertAi/payloads/derivedId';
import type { MemoryRoutes } from '../../../../nodes/XpertAi/ingest/notesOnServer';
import { SourceMemory } from '../../../../nodes/XpertAi/ingest/sourceMemory';
import { MINUTE_MS } from '../../../../nodes/XpertAi/transport/clock';
import type { AnswerCheck } from '../../../../nodes/XpertAi/transport/answer';
import type { Outcome } from '../../../../nodes/XpertAi/transport/request';
import { virtualTime } from '../../support/virtualTime';
import { answered, failed } from './support/outcomes';

const PLACE = { knowledgebaseId: 'kb', source: 'a node', title: 'Nightly' };
const [A, B] = ['a', 'b'].map((key) => derivedId('kb', key)) as [string, string];

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
	const store = (body: string): Outcome => {
		const [sent] = JSON.parse(body) as [Row];
		const refused = refuses(sent.name);
		if (refused !== undefined) return answered(refused);
		written.push(sent.name);
		const row = { ...sent, version: (rows.get(sent.id)?.version ?? 0) + 1 };
		rows.set(row.id, row);
		return { ok: true, status: 201, answer: [row] };
	};
	const status = (ids: string[]): Outcome => ({
		ok: true,
		status: 200,
		answer: ids.flatMap((id) => rows.get(id) ?? []),
	});
	const routes: MemoryRoutes = {
		storePath: '/bulk',
		statusPath: (ids) => ids.join(','),
		send: async ({ path, body }) =>
			typeof body === 'string' ? store(body) : status(path.split(',')),
	};
	return { rows, written, routes };
}

const HAS_STORED = 'n8n: what Nightly has stored';
const times = (written: string[], name: string) => written.filter((one) => one === name).length;

describe('the memory of a source', () => {
	it('is written about once a minute while documents are stored, and at the end', async () => {
		const { routes, written } = server();
		const clock = virtualTime();
		const memory = await SourceMemory.open(PLACE, routes, { clock });
		for (let batch = 0; batch < 30; batch++) {
			const id = derivedId('kb', `${batch}`);
			expect(await memory.expect([id])).toBeUndefined();
			memory.stored(id, 'content');
			clock.pass(MINUTE_MS / 10);
		}
		expect(times(written, HAS_STORED)).toBe(2);
		await memory.save();
		await memory.save();
		expect(times(written, HAS_STORED)).toBe(3);
		const next = await SourceMemory.open(PLACE, routes, { clock });
		expect([next.knownBefore, next.known.has(derivedId('kb', '29'), 'content')]).toEqual([
			30,
			true,
		]);
	});

	it('is not written by a run that changed nothing, nor when the execution was stopped', async () => {
		const { routes, written } = server();
		const clock = virtualTime();
		await (await SourceMemory.open(PLACE, routes, { clock })).save();
		const { signal } = virtualTime(0);
		const stopped = await SourceMemory.open(PLACE, routes, { clock, signal });
		stopped.stored(A, 'content');
		await stopped.save();
		expect(times(written, HAS_STORED)).toBe(0);
	});

	it('knows after a crash what may be on the server, and sends that again', async () => {
		const { routes } = server();
		const clock = virtualTime();
		const first = await SourceMemory.open(PLACE, routes, { clock });
		first.stored(A, 'one');
		await first.save();
		const crashed = await SourceMemory.open(PLACE, routes, { clock });
		await crashed.expect([A, B]);
		const next = await SourceMemory.open(PLACE, routes, { clock });
		expect([...next.known.ids()]).toEqual([A, B]);
		expect(next.known.has(A, 'one')).toBe(false);
	});

	it('keeps what a refused document was before, and nothing of one that was new', async () => {
		const { routes } = server();
		const memory = await SourceMemory.open(PLACE, routes, { clock: virtualTime() });
		memory.stored(A, 'one');
		await memory.expect([A, B]);
		memory.refused(A);
		memory.refused(B);
		expect([memory.known.knows(A), memory.known.knows(B)]).toEqual([true, false]);
	});

	it('of two runs is left to the one that began later; the next run sends everything', async () => {
		const { routes } = server();
		const clock = virtualTime();
		const first = await SourceMemory.open(PLACE, routes, { clock });
		const second = await SourceMemory.open(PLACE, routes, { clock });
		await first.expect([A]);
		first.stored(A, 'one');
		await second.expect([B]);
		second.stored(B, 'two');
		await second.save();
		await first.save();
		expect([first.troubles.overlapped, second.troubles.overlapped]).toEqual([true, undefined]);
		const next = await SourceMemory.open(PLACE, routes, { clock });
		expect(new Set(next.known.ids())).toEqual(new Set([A, B]));
		expect([next.known.has(A, 'one'), next.known.has(B, 'two')]).toEqual([false, false]);
	});

	it('lets nothing be sent that the server does not take a note of', async () => {
		const { routes } = server((name) => (name.includes('is storing') ? 422 : undefined));
		const memory = await SourceMemory.open(PLACE, routes, { clock: virtualTime() });
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
		PASSING.flatMap(([what, outcome]) => [1, 2, 3].map((nth) => [what, nth, outcome] as const)),
	)('lets nothing be sent when %s in request %d of its beginning', async (_, nth, outcome) => {
		const { routes } = failing(nth, outcome);
		const memory = await SourceMemory.open(PLACE, routes, { clock: virtualTime() });
		expect([memory.isKept, memory.troubles.noRoute]).toEqual([false, undefined]);
		expect({ ok: false, failure: await memory.expect([A]) }).toEqual(outcome);
	});

	it.each([
		['asked whether it is alone', 4],
		['written', 5],
	])(
		'says so when it cannot be %s at the end; the next run knows of what it was',
		async (_, nth) => {
			const outcome = failed({ kind: 'status', status: 404 });
			const { routes } = failing(nth + 1, outcome);
			const clock = virtualTime();
			const memory = await SourceMemory.open(PLACE, routes, { clock });
			await memory.expect([A]);
			memory.stored(A, 'one');
			await memory.save();
			expect({ ok: false, failure: memory.troubles.notWritten }).toEqual(outcome);
			expect(memory.troubles.overlapped).toBeUndefined();
			const next = await SourceMemory.open(PLACE, routes, { clock });
			expect([next.known.knows(A), next.known.has(A, 'one')]).toEqual([true, false]);
		},
	);

	it('does not know whether it is alone where it cannot ask', async () => {
		const { routes } = failing(4, answered(503));
		const memory = await SourceMemory.open(PLACE, routes, { clock: virtualTime() });
		expect(await memory.standing()).toMatchObject({ failure: { status: 503 } });
		expect(await memory.standing()).toEqual({ alone: true });
	});

	it('counts only what was known when it was written: later changes are written next', async () => {
		const { routes, written } = server();
		const clock = virtualTime();
		let whileWriting: () => void = () => undefined;
		const send: MemoryRoutes['send'] = async (request) => {
			const outcome = await routes.send(request);
			if (typeof request.body === 'string' && request.body.includes('has stored')) whileWriting();
			return outcome;
		};
		const memory = await SourceMemory.open(PLACE, { ...routes, send }, { clock });
		memory.stored(A, 'one');
		whileWriting = () => memory.stored(B, 'two');
		await memory.save();
		whileWriting = () => undefined;
		await memory.save();
		expect(times(written, HAS_STORED)).toBe(2);
		const next = await SourceMemory.open(PLACE, routes, { clock });
		expect(next.known.has(B, 'two')).toBe(true);
	});

	it('of two runs has a journal each: neither overwrites what the other has noted', async () => {
		const { routes } = server();
		const clock = virtualTime();
		const first = await SourceMemory.open(PLACE, routes, { clock });
		const second = await SourceMemory.open(PLACE, routes, { clock });
		await first.expect([A]);
		await second.expect([B]);
		const next = await SourceMemory.open(PLACE, routes, { clock });
		expect(new Set(next.known.ids())).toEqual(new Set([A, B]));
	});

	it('takes up what a journal holds that is too large, and goes on', async () => {
		const { routes } = server((name) => (name.includes('is storing') ? 413 : undefined));
		const clock = virtualTime();
		const first = await SourceMemory.open(PLACE, routes, { clock });
		first.stored(A, 'one');
		expect(await first.expect([B])).toBeUndefined();
		expect([first.isKept, first.troubles.notWritten]).toEqual([true, undefined]);
		const next = await SourceMemory.open(PLACE, routes, { clock });
		expect([next.known.has(A, 'one'), next.known.knows(B)]).toEqual([true, true]);
	});

	it('is given up where notes are too large, and makes every content uncertain', async () => {
		let tooLarge = 0;
		const { routes } = server((name) =>
			name.includes('began') || tooLarge-- <= 0 ? undefined : 413,
		);
		const clock = virtualTime();
		const first = await SourceMemory.open(PLACE, routes, { clock });
		first.stored(A, 'one');
		await first.save();
		// The journal, and the memory after it.
		tooLarge = 2;
		const second = await SourceMemory.open(PLACE, routes, { clock });
		expect(await second.expect([B])).toBeUndefined();
		expect([second.isKept, second.troubles.notWritten?.status]).toEqual([false, 413]);
		const next = await SourceMemory.open(PLACE, routes, { clock });
		expect(next.known.has(A, 'one')).toBe(false);
	});

	it('is nothing where the server does not have the route, by its own words', async () => {
		const routeMissing = failed({ kind: 'status', status: 404, missing: 'route' });
		const routes = { ...server().routes, send: async () => routeMissing };
		const memory = await SourceMemory.open(PLACE, routes, { clock: virtualTime() });
		expect([memory.isKept, memory.troubles.noRoute]).toEqual([false, true]);
		expect(await memory.expect([A])).toBeUndefined();
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
		const memory = await SourceMemory.open(PLACE, forgetful, { clock: virtualTime() });
		expect([memory.isKept, memory.troubles.noRoute]).toEqual([false, true]);
		expect(await memory.expect([A])).toBeUndefined();
	});

	it('asks for a list of what is certainly there: any other answer does not count', async () => {
		const asked: Array<[string, AnswerCheck | undefined]> = [];
		const { routes, rows } = server();
		const send: MemoryRoutes['send'] = async (request) => {
			asked.push([request.method, request.checkAnswer]);
			return await routes.send(request);
		};
		const memory = await SourceMemory.open(PLACE, { ...routes, send }, { clock: virtualTime() });
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
			['GET', undefined, short, short, short, short, empty],
		]);
	});

	it('is recalled for another source without a note of that, journals included', async () => {
		const { routes, written } = server();
		const clock = virtualTime();
		const memory = await SourceMemory.open(PLACE, routes, { clock });
		memory.stored(A, 'one');
		await memory.save();
		await memory.expect([B]);
		const before = written.length;
		const recalled = await SourceMemory.recall(PLACE, routes, { clock, witness: memory.witness });
		expect('known' in recalled && [...recalled.known.ids()]).toEqual([A, B]);
		expect(written).toHaveLength(before);
		const away: MemoryRoutes = { ...routes, send: async () => answered(503) };
		expect(await SourceMemory.recall(PLACE, away, { clock })).toMatchObject({
			failure: { status: 503 },
		});
	});

	it('lies in disabled documents, whose IDs are made of the knowledgebase and the source', async () => {
		const { routes, rows } = server();
		const memory = await SourceMemory.open(PLACE, routes, { clock: virtualTime() });
		await memory.expect([A]);
		await memory.save();
		const other = server();
		await (await SourceMemory.open(PLACE, other.routes, { clock: virtualTime() })).expect([A]);
		const ids = [...rows.keys()];
		expect([...other.rows.keys()].every((id) => ids.includes(id))).toBe(true);
		expect([...rows.values()].every(({ disabled }) => disabled)).toBe(true);
	});
});
