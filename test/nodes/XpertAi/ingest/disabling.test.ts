import { switchDocuments } from '../../../../nodes/XpertAi/ingest/disabling';
import { SourceMemory } from '../../../../nodes/XpertAi/ingest/memory';
import type { MemoryRoutes } from '../../../../nodes/XpertAi/ingest/memory';
import { virtualTime } from '../../support/virtualTime';
import { answered } from './support/outcomes';

const ids = ['2f78e81b-0000-4000-8000-00000000000a', '2f78e81b-0000-4000-8000-00000000000b'];

it('what the server takes no note of is not disabled', async () => {
	const sent: string[] = [];
	/** Knows every document, and takes any note but a journal. */
	const send: MemoryRoutes['send'] = async ({ path, body }) => {
		if (typeof body !== 'string') {
			const answer = path.split(',').map((id) => ({ id, processMsg: notes.get(id) }));
			return { ok: true, status: 200, answer };
		}
		const answer = JSON.parse(body) as Array<{ id: string; name?: string; processMsg?: string }>;
		for (const { id, name = 'a document', processMsg = '' } of answer) {
			sent.push(name);
			if (name.includes('is storing')) return answered(422);
			notes.set(id, processMsg);
		}
		return { ok: true, status: 201, answer };
	};
	const notes = new Map<string, string>();
	const clock = virtualTime();
	const memoryRoutes = { send, storePath: '', statusPath: (asked: string[]) => asked.join(',') };
	const place = { knowledgebaseId: 'kb', source: 'a', title: 'a' };
	const memory = await SourceMemory.open(place, memoryRoutes);
	for (const id of ids) memory.stored(id, 'content');
	const disabled: string[] = [];
	const failure = await switchDocuments(ids, {
		memory,
		routes: { ...memoryRoutes, startPath: '', clock },
		disabled: true,
		onSwitched: (id) => disabled.push(id),
	});
	expect(failure).toMatchObject({ status: 422 });
	expect(disabled).toEqual([]);
	expect(sent).not.toContain('a document');
	expect([...memory.known.ids()]).toEqual(ids);
});

/** A server that has some of the documents, and notes what it is sent. */
async function switched(
	given: string[],
	{ has = given, disabled = true, failing = [], more, stopped = false }: Switched = {},
) {
	const sent: unknown[] = [];
	const asked: string[] = [];
	let flaw: string | undefined;
	const send: MemoryRoutes['send'] = async ({ path, body, checkAnswer }) => {
		await Promise.resolve();
		if (body === undefined) {
			if (failing.includes('status')) return answered(403);
			asked.push(path);
			return { ok: true, status: 200, answer: has.map((id) => ({ id, status: 'finish' })) };
		}
		sent.push(JSON.parse(String(body)));
		flaw ??= checkAnswer?.([]);
		if (failing.includes(`store ${sent.length}`)) return answered(403);
		return { ok: true, status: 201, answer: JSON.parse(String(body)) as unknown };
	};
	const clock = virtualTime(stopped ? 0 : Infinity);
	const told: Array<[string, boolean]> = [];
	const failure = await switchDocuments(given, {
		...{ disabled, more, onSwitched: (id, isThere) => told.push([id, isThere]) },
		routes: {
			...{ send, storePath: '/store', startPath: '', clock, signal: clock.signal },
			statusPath: (some) => some.join(','),
		},
	});
	return { sent, asked, told, failure, flaw };
}

interface Switched {
	has?: string[];
	disabled?: boolean;
	/** Which requests fail. */
	failing?: string[];
	more?: Map<string, object>;
	stopped?: boolean;
}

describe('documents that are taken out of all answers, or let in again', () => {
	it.each([true, false])(
		'are sent with nothing but that (%s), and what else is given',
		async (disabled) => {
			const more = new Map([['a', { name: 'A' }]]);
			const { sent, told, flaw } = await switched(['a', 'b'], { disabled, more });
			expect(sent).toEqual([
				[
					{ name: 'A', id: 'a', disabled },
					{ id: 'b', disabled },
				],
			]);
			expect(told).toEqual([
				['a', true],
				['b', true],
			]);
			expect(flaw).toBe('it does not list the documents that it should');
		},
	);

	it('are not sent where the server does not have them: they would be stored with nothing in them', async () => {
		const { sent, told } = await switched(['a', 'b'], { has: ['b'] });
		expect(sent).toEqual([[{ id: 'b', disabled: true }]]);
		expect(told).toEqual([
			['a', false],
			['b', true],
		]);
		const none = await switched(['a'], { has: [] });
		expect(none.sent).toEqual([]);
		expect(none.told).toEqual([['a', false]]);
	});

	const many = Array.from({ length: 150 }, (_, n) => `d${n}`);

	it('are sent a hundred at a time, and each is told once', async () => {
		const { sent, told } = await switched(many);
		expect(sent.map((rows) => (rows as unknown[]).length)).toEqual([100, 50]);
		expect(told.map(([id]) => id)).toEqual(many);
	});

	it('are told as far as it went, with what kept the rest from it', async () => {
		const half = await switched(many, { failing: ['store 2'] });
		expect(half.failure).toMatchObject({ status: 403 });
		expect(half.told).toHaveLength(100);
		const unknown = await switched(many, { failing: ['status'] });
		expect(unknown).toMatchObject({ failure: { status: 403 }, sent: [], told: [] });
	});

	it('are left as they are once the execution is stopped', async () => {
		expect(await switched(many, { stopped: true })).toMatchObject({ sent: [], told: [] });
	});
});

describe('what is remembered of documents', () => {
	/** Those that are remembered once the server, which has one of the two, was told. */
	async function rememberedAfter(disabled: boolean): Promise<string[]> {
		const [there = '', gone = ''] = ids;
		const notes = new Map<string, string>([[there, '']]);
		const send: MemoryRoutes['send'] = async ({ path, body }) => {
			await Promise.resolve();
			const rows =
				typeof body === 'string'
					? (JSON.parse(body) as Array<{ id: string; processMsg?: string }>)
					: path
							.split(',')
							.flatMap((id) => (notes.has(id) ? [{ id, processMsg: notes.get(id) }] : []));
			if (body !== undefined) for (const { id, processMsg = '' } of rows) notes.set(id, processMsg);
			return { ok: true, status: 200, answer: rows };
		};
		const memoryRoutes = { send, storePath: '', statusPath: (some: string[]) => some.join(',') };
		const place = { knowledgebaseId: 'kb', source: 'a', title: 'a' };
		const memory = await SourceMemory.open(place, memoryRoutes);
		for (const id of [there, gone]) memory.stored(id, 'content');
		const routes = { ...memoryRoutes, startPath: '', clock: virtualTime() };
		const failure = await switchDocuments([there, gone], {
			...{ memory, routes, disabled, onSwitched: () => undefined },
		});
		expect(failure).toBeUndefined();
		return [...memory.known.ids()];
	}

	it('is nothing of those that are disabled: the source may bring them again', async () => {
		expect(await rememberedAfter(true)).toEqual([]);
	});

	it('is that they are there of those that are let in again', async () => {
		expect(await rememberedAfter(false)).toEqual([ids[0]]);
	});
});
