import { range, without } from 'lodash';
import { RESERVED_JOURNAL_BYTES, SourceMemory } from 'nodes/XpertAi/ingest/memory';
import { packId, unpackId } from 'nodes/XpertAi/ingest/memory/fingerprints';
import { type MemoryRoutes, NOTE_LIMITS } from 'nodes/XpertAi/ingest/memory/notes';
import { derivedId } from 'nodes/XpertAi/payloads/ids';
import { answerIssue } from 'nodes/XpertAi/transport/answer';
import { type AnswerSchema, anySuccessfulAnswer } from 'nodes/XpertAi/transport/answerSchemas';
import type { RequestOutcome } from 'nodes/XpertAi/transport/request';
import type { ZodError } from 'zod';

import { calling } from '../../../support/send';
import { virtualTime } from '../../../support/virtualTime';
import { Knowledgebase, open, PLACE, recall } from '../support/knowledgebase';
import { answered, failed } from '../support/outcomes';

const KEYS = [...'abcdefghijklm'];
const IDS = KEYS.map((key) => derivedId('kb', key));
const [A, B, C, D] = IDS as [string, string, string, string];

const sizes = { ...NOTE_LIMITS };
beforeEach(() =>
	Object.assign(NOTE_LIMITS, { piece: 4, names: 70, request: 700, answer: 2, pages: 4 }),
);
afterAll(() => Object.assign(NOTE_LIMITS, sizes));

interface Sending {
	content?: string;
	end?: 'done' | 'refused' | 'unclear';
	arrives?: boolean;
	late?: boolean;
}

/** Sends a batch, with the documents in it. */
async function send(
	server: Knowledgebase,
	memory: SourceMemory,
	ids: string[],
	{ content = 'copy #1', end = 'done', arrives = end === 'done', late = false }: Sending = {},
) {
	const around = await memory.journalBatch(new Map(ids.map((id) => [id, content])));
	if (!around || 'failure' in around) throw new Error('nothing may be sent');
	const rows = ids.map((id) => JSON.stringify({ id, content }));
	const body = `[${[around.before, ...rows, around.after].join(',')}]`;
	const notes = JSON.parse(`[${around.before},${around.after}]`) as Array<{ id: string }>;
	expect(around.ids).toEqual(notes.map(({ id }) => id));
	const arrive = async () =>
		await server
			.routes()
			.send({ method: 'POST', path: '/bulk', body, schema: anySuccessfulAnswer });
	if (arrives) await arrive();
	around.onEnded(end === 'done', late || end === 'unclear');
	if (end === 'done')
		for (const id of ids) memory.recordStored(id, content, { key: KEYS[IDS.indexOf(id)] });
	return arrive;
}

/** A run that stores documents, one in a batch. */
async function night(server: Knowledgebase, ids: string[], content = 'copy #1', closes = true) {
	const memory = await open(server.routes());
	for (const id of ids) await send(server, memory, [id], { content });
	if (closes) await memory.close();
	return memory;
}

/** What a dry run knows: the documents, those with a content, and what is lost. */
async function remembered(server: Knowledgebase) {
	const { known, failures } = await recall(server.routes());
	const having = (content: string) => IDS.filter((id) => known.hasSameContent(id, content));
	const all = [...known.entries()].map(([key]) => unpackId(key));
	const ids = [...IDS.filter((id) => all.includes(id)), ...without(all, ...IDS)];
	return { ids, having, lost: failures.lost };
}

describe('a source that was stored', () => {
	it('is known in the next run with its contents, and whether it was only stored', async () => {
		const server = new Knowledgebase();
		await night(server, IDS);
		for (const lastRunOnlyStored of [false, true]) {
			const next = await open(server.routes(), { startsProcessing: false });
			expect([next.knownCountBefore, next.known.hasSameContent(A, 'copy #1')]).toEqual([
				IDS.length,
				true,
			]);
			expect(next.lastRunOnlyStored).toBe(lastRunOnlyStored);
			await next.close();
		}
	});

	it('takes no more room in a batch than is reserved for the journal', async () => {
		const memory = await open(new Knowledgebase().routes());
		for (const count of [1, 1000]) {
			const ids = range(count).map((at) => derivedId('kb', `${at}`));
			const around = await memory.journalBatch(new Map(ids.map((id) => [id, 'copy #1'])));
			const bytes =
				around && 'before' in around
					? Buffer.byteLength(`${around.before},${around.after}`)
					: Infinity;
			expect(bytes).toBeLessThan(
				RESERVED_JOURNAL_BYTES.perBatch + count * RESERVED_JOURNAL_BYTES.perDocument,
			);
		}
	});

	it('has its names written once, and only those pieces again whose documents have changed', async () => {
		const server = new Knowledgebase();
		await night(server, IDS);
		server.written.length = 0;
		await night(server, [A], 'copy #2');
		expect(server.written.filter((name) => name.includes('calls its documents'))).toEqual([]);
		expect(server.written.filter((name) => name.includes('has stored,'))).toHaveLength(1);
	});

	it('fills a note with names before it writes another, and returns the names asked for', async () => {
		const server = new Knowledgebase();
		const counts = [];
		for (const id of IDS.slice(0, 6)) {
			await night(server, [id]);
			counts.push(server.notes('calls its documents').length);
		}
		// Four take more than half of a note.
		expect(counts).toEqual([1, 1, 1, 1, 2, 2]);
		expect(server.notes('calls its documents, 2')).toHaveLength(1);
		const { names } = await recall(server.routes());
		expect(await names.of([A, D])).toEqual(
			new Map([
				[A, { name: 'a', key: 'a' }],
				[D, { name: 'd', key: 'd' }],
			]),
		);
		server.asked.length = 0;
		expect([await names.of([]), server.asked]).toEqual([new Map(), []]);
	});

	it('finds documents by their names, also those whose names are not written yet', async () => {
		const server = new Knowledgebase();
		await night(server, [A, B]);
		const { names } = await night(server, [A, B, C], 'copy #1', false);
		const found = async () => await names.findByNames(new Set(['b', 'c', 'd']));
		expect(await found()).toEqual(
			new Map([
				[B, { name: 'b', key: 'b' }],
				[C, { name: 'c', key: 'c' }],
			]),
		);
		names.unnamed.add(packId(B));
		names.addIfUnnamed(B, { name: 'another name', key: 'b' });
		expect([...(await found()).keys()]).toEqual([C]);
	});

	it('keeps a rejected document that was stored before, and forgets a new one', async () => {
		const server = new Knowledgebase();
		await night(server, [A]);
		const memory = await open(server.routes());
		await send(server, memory, [A, B], { content: 'copy #2', end: 'refused' });
		for (const id of [A, B]) memory.recordRejected(id);
		expect([A, B].map((id) => memory.known.knows(id))).toEqual([true, false]);
	});

	it('keeps what the first run found until a run has said it, whatever becomes of the runs before', async () => {
		const server = new Knowledgebase();
		const found = { stored: 3, twice: 2 };
		const first = await open(server.routes());
		first.recordUnsaid(found);
		await send(server, first, [A]);
		const unsaid = async () => (await recall(server.routes())).unsaid;
		expect(await unsaid()).toEqual(found);
		// The first one is killed, and the second ends without having said it.
		await night(server, [B]);
		expect(await unsaid()).toEqual(found);
		const saying = async () => {
			const memory = await open(server.routes());
			await memory.close({ isSaid: true });
		};
		await saying();
		expect(await unsaid()).toBeUndefined();
		server.written.length = 0;
		await saying();
		expect(server.written.filter((name) => name.includes('has stored'))).toEqual([]);
	});

	it('is new until a run has sent something, however earlier runs ended', async () => {
		const server = new Knowledgebase();
		const crash = { ofBatches: false, rows: 0, crash: true, again: false };
		for (const request of range(8)) {
			const memory = await open(server.routes([{ ...crash, request }]));
			await memory.close();
			expect((await recall(server.routes())).isNew).toBe(true);
		}
		await night(server, [A], 'copy #1', false);
		expect((await recall(server.routes())).isNew).toBe(false);
	});

	it('is not new where only its lease is gone', async () => {
		const server = new Knowledgebase();
		await night(server, [A]);
		for (const word of ['at work', 'began'])
			for (const { id } of server.notes(word)) server.rows.delete(id);
		expect(await recall(server.routes())).toMatchObject({ isNew: false, known: { size: 1 } });
	});

	it('is not new where a run has begun to send, though nothing of that arrived', async () => {
		const server = new Knowledgebase();
		await night(server, [A], 'copy #1', false);
		const kept = [...server.notes('at work'), ...server.notes('began')].map(({ id }) => id);
		for (const id of [...server.rows.keys()]) if (!kept.includes(id)) server.rows.delete(id);
		expect(await recall(server.routes())).toMatchObject({ isNew: false, known: { size: 0 } });
	});

	it('has it said once that a run sends, in however many batches', async () => {
		const said = await Promise.all(
			[[A], [A, B, C]].map(async (ids) => {
				const server = new Knowledgebase();
				await night(server, ids);
				return server.written.filter((name) => name.includes('at work')).length;
			}),
		);
		expect(said[0]).toBe(said[1]);
	});

	it('names a document that it did not know to be stored, once it is', async () => {
		const server = new Knowledgebase();
		const first = await open(server.routes());
		await send(server, first, [A], { end: 'unclear' });
		await first.close();
		await night(server, [A]);
		const { names } = await recall(server.routes());
		expect(await names.of([A])).toEqual(new Map([[A, { name: 'a', key: 'a' }]]));
	});
});

describe('Send Everything', () => {
	it('goes on with a memory that is there, and only asks where there is none', async () => {
		const server = new Knowledgebase();
		const openIfKept = async () =>
			await new SourceMemory(PLACE, server.routes(), { clock: virtualTime() }).open('if kept');
		const { isKept } = await openIfKept();
		expect([isKept, server.written, server.asked.length]).toEqual([false, [], 1]);
		await night(server, [A]);
		const memory = await openIfKept();
		expect([memory.isKept, memory.known.knows(A)]).toEqual([true, true]);
		await send(server, memory, [A, B], { content: 'copy #2' });
		await memory.close();
		expect((await remembered(server)).having('copy #2')).toEqual([A, B]);
	});

	it.each([
		['the route is missing', { status: 404, missing: 'route' } as const, [false, undefined]],
		['the key may not read it', { status: 403 }, [false, undefined]],
		['the server is away', { status: 503 }, [true, 503]],
		['the key may not write it', { status: 403, method: 'POST' }, [true, 403]],
	])(
		'counts as having no memory only where it cannot be read: %s',
		async (_, outcome, expected) => {
			const failure = { kind: 'status', method: 'GET', path: '', ...outcome } as const;
			const send = calling(() => ({ ok: false, failure }));
			const routes = { ...new Knowledgebase().routes(), send };
			const memory = await new SourceMemory(PLACE, routes).open('if kept');
			const { isKept, failures } = memory;
			expect([isKept, memory.sendBlockedBy?.status, failures]).toEqual([...expected, {}]);
		},
	);
});

describe('a run that crashed', () => {
	it('is known also when its rows arrive during the next run, even if that crashes', async () => {
		for (const closes of [true, false]) {
			const server = new Knowledgebase();
			const crashed = await open(server.routes());
			await send(server, crashed, [A]);
			const arrive = await send(server, crashed, [B], { end: 'unclear' });
			const next = await open(server.routes());
			await send(server, next, [C], { content: 'copy #2' });
			await arrive();
			if (closes) await next.close();
			const { ids, having, lost } = await remembered(server);
			expect([ids, having('copy #2'), lost]).toEqual([[A, B, C], [C], undefined]);
		}
	});

	it('does not bring back what runs before had written, though it wrote a new memory first', async () => {
		const server = new Knowledgebase();
		await night(server, [B, C, A]);
		await night(server, [A], 'copy #2');
		const third = await open(server.routes(), { startsProcessing: false });
		await send(server, third, [D]);
		expect((await remembered(server)).having('copy #2')).toEqual([A]);
	});

	it('does not count as damaged when a batch did not arrive and a later one did', async () => {
		const server = new Knowledgebase();
		const memory = await open(server.routes());
		await memory.journalBatch(new Map([[A, 'copy #1']]));
		await send(server, memory, [B]);
		const { ids, lost } = await remembered(server);
		expect([ids, lost]).toEqual([[B], undefined]);
	});

	/** Which notes are gone, of which documents the content is still known, and whether a loss is said. */
	it.each<[string, string[], [number, number], string[], boolean]>([
		['its first page', ['storing, 2.', 'come, 2.'], [0, 1], IDS, false],
		['what a page was storing', ['storing, 2.'], [3, 4], [], true],
		['how far a page had come', ['come, 2.'], [3, 4], without(IDS, C), false],
		['how far many pages had come', ['come, 2.'], [0, 6], IDS.slice(5), false],
		['both notes of a page', ['storing, 2.', 'come, 2.'], [3, 4], [], true],
		['so many pages that no others are found', ['storing, 2.', 'come, 2.'], [0, 10], [], true],
		['all its pages', ['storing, 2.', 'come, 2.'], [0, 99], [], true],
		['the lease', ['is at work'], [0, 1], IDS, false],
	])('is known as far as possible when %s is deleted', async (_, words, part, certain, said) => {
		const server = new Knowledgebase();
		await night(server, IDS, 'copy #0');
		await night(server, IDS, 'copy #1', false);
		for (const word of words) server.harm(server.notes(word).slice(...part), 'deletes');
		const { ids, having, lost } = await remembered(server);
		expect([ids, having('copy #0'), having('copy #1')]).toEqual([IDS, [], certain]);
		const { failures } = await open(server.routes());
		expect([lost !== undefined, failures.lost !== undefined]).toEqual([said, said]);
	});

	it('does not count as damaged when pages of earlier runs are processed', async () => {
		const server = new Knowledgebase();
		for (const content of ['copy #0', 'copy #1']) await night(server, IDS, content);
		server.harm(server.notes('is storing, 1.3 ('), 'processes');
		await night(server, [A], 'copy #2', false);
		const { having, lost } = await remembered(server);
		expect([having('copy #1'), having('copy #2'), lost]).toEqual([IDS.slice(1), [A], undefined]);
	});
});

it.each([true, false])(
	'a first run that sends while the next one waits for its lease is known to that, cut anywhere (crashed: %s)',
	async (crash) => {
		let cut = 0;
		for (const request of range(3, 14))
			for (const rows of range(5)) {
				const server = new Knowledgebase();
				const fault = { ofBatches: false, again: false, crash, request, rows };
				const first = await open(server.routes([fault]));
				const routes = server.routes();
				let looks = 0;
				const sendAfterFirstLook: MemoryRoutes['send'] = async (asked) => {
					const answer = await routes.send(asked);
					if (asked.method !== 'GET' || ++looks > 1) return answer;
					await send(server, first, [A]).catch(() => undefined);
					await first.close();
					return answer;
				};
				const next = await open({ ...routes, send: sendAfterFirstLook });
				if (first.failures.writeFailure) cut += 1;
				expect([request, rows, next.failures.lost]).toEqual([request, rows, undefined]);
				if (!next.sendBlockedBy && server.rows.has(A))
					expect([request, rows, next.known.knows(A)]).toEqual([request, rows, true]);
			}
		expect(cut).toBeGreaterThan(0);
	},
);

describe('a batch whose request was not answered', () => {
	it('makes uncertain every content that it may still overwrite', async () => {
		const server = new Knowledgebase();
		const memory = await open(server.routes());
		const arrive = await send(server, memory, [A, B, C], { end: 'unclear' });
		await send(server, memory, [A]);
		await send(server, memory, [B], { content: 'copy #2' });
		memory.recordRejected(C);
		await arrive();
		const { known } = memory;
		expect([
			known.hasSameContent(A, 'copy #1'),
			known.hasSameContent(B, 'copy #2'),
			known.knows(C),
		]).toEqual([true, false, true]);
		expect((await remembered(server)).having('copy #2')).toEqual([]);
	});

	it('makes a later batch with one of its documents uncertain as a whole', async () => {
		const server = new Knowledgebase();
		const memory = await open(server.routes());
		await send(server, memory, [A], { end: 'unclear' });
		await send(server, memory, [A, B], { content: 'copy #2' });
		expect((await remembered(server)).having('copy #2')).toEqual([]);
	});

	it('blocks further batches until its page is written', async () => {
		const server = new Knowledgebase();
		let refuses = false;
		const memory = await open(server.routes([], () => refuses));
		await send(server, memory, [A], { end: 'unclear' });
		refuses = true;
		const failure = { status: 422 };
		expect(await memory.journalBatch(new Map([[B, 'copy #1']]))).toMatchObject({ failure });
		expect(await memory.journalBeforeDisabling([B])).toMatchObject(failure);
		refuses = false;
		expect(await memory.journalBeforeDisabling([B])).toBeUndefined();
		expect((await remembered(server)).ids).toEqual([A, B]);
	});
});

describe('what is lost', () => {
	it('of a piece is rebuilt from names; its documents are resent and do not count as missing', async () => {
		const server = new Knowledgebase();
		await night(server, IDS);
		server.harm(server.notes('has stored, 2 of'), 'deletes');
		const memory = await open(server.routes());
		const unknown = IDS.filter((id) => !memory.known.hasSameContent(id, 'copy #1'));
		expect(IDS.filter((id) => memory.known.rebuilt.has(id))).toEqual(unknown);
		expect(unknown.length).toBeLessThan(IDS.length / 2);
		expect([unknown.length > 0, memory.known.size, memory.failures]).toEqual([
			true,
			IDS.length,
			{},
		]);
		await memory.close();
		server.harm(server.notes('calls its documents'), 'deletes');
		expect(await remembered(server)).toMatchObject({ ids: IDS, lost: undefined });
	});

	it('of a piece without names is reported with a number until Forget Earlier Damage', async () => {
		const server = new Knowledgebase();
		await night(server, IDS);
		server.harm(server.notes('has stored, 2 of'), 'processes');
		server.harm(server.notes('calls its documents'), 'deletes');
		const { ids, lost } = await remembered(server);
		expect(lost?.count).toBe(IDS.length - ids.length);
		const crash = { ofBatches: false, rows: 1, crash: true, again: false };
		for (const request of range(12)) {
			const other = server.copy();
			await (await open(other.routes([{ ...crash, request }]))).close();
			expect((await remembered(other)).lost).toBeDefined();
		}
		const first = await night(server, []);
		expect(first.failures.lost?.count).toBe(lost?.count);
		expect((await night(server, [])).failures).toEqual(first.failures);
		expect((await remembered(server)).lost).toEqual(first.failures.lost);
		const forgetful = await open(server.routes(), { acknowledgesLoss: true });
		await forgetful.close();
		expect([forgetful.failures, (await remembered(server)).lost]).toEqual([{}, undefined]);
	});

	it('of a piece is reported when a run that crashed has named no document', async () => {
		const server = new Knowledgebase();
		await night(server, IDS, 'copy #1', false);
		await night(server, []);
		server.harm(server.notes('has stored, 2 of'), 'deletes');
		expect((await remembered(server)).lost).toBeDefined();
	});

	it('of a piece does not bring back documents that were removed', async () => {
		const server = new Knowledgebase();
		await night(server, IDS);
		const memory = await open(server.routes());
		for (const id of IDS) {
			await memory.journalBeforeDisabling([id]);
			memory.known.remove(id);
		}
		await send(server, memory, [A]);
		await memory.close();
		const piece = server
			.notes('has stored, ')
			.find(({ processMsg = '' }) => processMsg.length < 150);
		server.harm(piece ? [piece] : [], 'deletes');
		const { having, ids } = await remembered(server);
		expect(having('copy #1')).toEqual([A]);
		// Those that were in the piece may be there again.
		expect(ids.length).toBeLessThan(IDS.length / 2);
	});

	it('of a piece is counted without the documents that names give', async () => {
		const server = new Knowledgebase();
		const own = KEYS.map((key) => derivedId('somewhere else', key));
		const memory = await open(server.routes());
		await send(server, memory, [...IDS, ...own]);
		await memory.close();
		const all = (await recall(server.routes())).known.size;
		server.harm(server.notes('has stored, 2 of'), 'deletes');
		const { known, failures } = await recall(server.routes());
		expect([all, known.size + (failures.lost?.count ?? 0)]).toEqual([26, 26]);
		expect(IDS.filter((id) => !known.knows(id))).toEqual([]);
	});

	it('is reported when a late request overwrote the root with an earlier one', async () => {
		const server = new Knowledgebase();
		await night(server, [A]);
		const [root] = server.notes('has stored (');
		await night(server, [B]);
		if (root) server.put(root);
		const { ids, having, lost } = await remembered(server);
		expect([ids, having('copy #1'), lost !== undefined]).toEqual([[A, B], [], true]);
	});

	it.each([
		['a page is there', 'has stored'],
		['a piece is there', 'storing'],
	])('with root and lease, though %s, is said until it is forgotten', async (_, others) => {
		const server = new Knowledgebase();
		await night(server, IDS);
		for (const words of ['has stored (', 'at work', others, 'how far'])
			server.harm(server.notes(words), 'deletes');
		expect(await remembered(server)).toMatchObject({
			ids: IDS,
			lost: { at: expect.any(String) as string },
		});
		for (const id of [A, B]) expect((await night(server, [id])).failures.lost).toBeDefined();
		await (await open(server.routes(), { acknowledgesLoss: true })).close();
		expect((await remembered(server)).lost).toBeUndefined();
	});

	it('with root and lease is rebuilt from names again where the run that rebuilt it crashed', async () => {
		const server = new Knowledgebase();
		await night(server, IDS);
		for (const words of ['has stored (', 'at work', 'storing', 'how far'])
			server.harm(server.notes(words), 'deletes');
		const crash = { ofBatches: false, crash: true, again: false };
		for (const request of range(12))
			for (const rows of range(4)) {
				const other = server.copy();
				await (await open(other.routes([{ ...crash, request, rows }]))).close();
				expect([request, rows, (await remembered(other)).ids]).toEqual([request, rows, IDS]);
				// An empty list of a proxy must not pass for names that are gone.
				const isRootThere = other.notes('has stored (').length > 0;
				const { requiredId } = await recall(other.routes());
				expect(requiredId !== undefined).toBe(isRootThere);
			}
	});

	it('is nothing where a first run crashed before it sent, though it had written what it found', async () => {
		const crash = { ofBatches: false, crash: true, again: false };
		for (const request of range(12))
			for (const rows of range(4)) {
				const server = new Knowledgebase();
				const first = await open(server.routes([{ ...crash, request, rows }]));
				first.recordUnsaid({ stored: 3, twice: 0 });
				await send(server, first, [A]).catch(() => undefined);
				expect([request, rows, (await remembered(server)).lost]).toEqual([
					request,
					rows,
					undefined,
				]);
			}
	});

	it.each([2, 3])(
		'with the root and all pages is rebuilt from names in %i notes',
		async (notes) => {
			const server = new Knowledgebase();
			const rebuilt = async () => {
				for (const words of ['has stored (', 'is storing', 'how far'])
					server.harm(server.notes(words), 'deletes');
				return await remembered(server);
			};
			for (const at of range(notes)) await night(server, IDS.slice(4 * at, 4 * at + 4));
			expect(server.notes('calls its documents')).toHaveLength(notes);
			const before = IDS.slice(0, 4 * notes);
			expect(await rebuilt()).toMatchObject({
				ids: before,
				lost: { at: expect.any(String) as string },
			});
			// One that brings its own ID is in names, which do not give it back.
			await night(server, [...IDS.slice(12), derivedId('somewhere else', 'own')]);
			expect((await rebuilt()).ids).toEqual([...before, ...IDS.slice(12)]);
		},
	);

	it('of several pieces is reported with their sum, as long as each number is known', async () => {
		const server = new Knowledgebase();
		await night(server, IDS);
		const before = (await remembered(server)).ids.length;
		server.harm(server.notes('calls its documents'), 'deletes');
		for (const piece of ['has stored, 2 of', 'has stored, 3 of']) {
			server.harm(server.notes(piece), 'processes');
			await night(server, []);
		}
		const { ids, lost } = await remembered(server);
		expect(lost?.count).toBe(before - ids.length);
		server.harm(server.notes('has stored ('), 'deletes');
		await night(server, []);
		expect((await remembered(server)).lost).toEqual({ at: expect.any(String) as string });
	});

	it('adds no writes to a run that changes nothing', async () => {
		const server = new Knowledgebase();
		await night(server, [A]);
		for (const beginning of [{}, { acknowledgesLoss: true }]) {
			server.written.length = 0;
			await (await open(server.routes(), beginning)).close();
			expect(server.written).toHaveLength(3);
		}
		server.harm(server.notes('calls its documents'), 'deletes');
		server.harm(server.notes('has stored, 1 of'), 'deletes');
		await night(server, []);
		server.written.length = 0;
		const last = await night(server, []);
		expect([server.written.length, last.failures.lost !== undefined]).toEqual([3, true]);
	});
});

describe('a run that may not send', () => {
	it('is named the run that holds the lease also where it only reads', async () => {
		const server = new Knowledgebase();
		await open(server.routes());
		expect((await recall(server.routes())).holder).toMatchObject({ by: expect.any(String) });
	});

	it('names the run that holds the lease, and writes nothing', async () => {
		const server = new Knowledgebase();
		let renew = () => undefined as unknown;
		const clock = { ...virtualTime(), later: (_: number, work: () => void) => (renew = work) };
		await open(server.routes(), { clock, runDescription: 'execution 7' });
		const sleep = async () => await Promise.resolve(void renew());
		const memory = await open(server.routes(), { clock: { ...virtualTime(), sleep } });
		expect([memory.holder?.by, memory.isUsable]).toEqual(['execution 7', false]);
		expect(memory.sendBlockedBy?.reason).toMatch(/is at work: execution 7, since 2026/);
		for (const kept of [
			await memory.journalBeforeDisabling([A]),
			await memory.renewLeaseIfOverdue(),
		])
			expect(kept).toBe(memory.sendBlockedBy);
		expect(await memory.journalBatch(new Map([[A, 'copy #1']]))).toEqual({
			failure: memory.sendBlockedBy,
		});
	});

	it.each([
		['somebody else answers 404', failed({ kind: 'status', status: 404 })],
		['a record is missing', answered(404)],
		['the server is away', answered(503)],
		['the answer is none', failed({ kind: 'unreadable', status: 200, reason: 'it is empty' })],
	])('is one during whose start %s, at any request', async (_, outcome) => {
		for (const nth of range(7)) {
			const memory = await open(failing(new Knowledgebase(), nth, outcome));
			expect({ ok: false, failure: await memory.journalBeforeDisabling([A]) }).toEqual(outcome);
			expect(memory.failures.isMemoryUnsupported).toBeUndefined();
		}
	});

	it('reads nothing more when notes cannot be read', async () => {
		const server = new Knowledgebase();
		const refused = failed({ kind: 'status', status: 403 });
		expect((await open(failing(server, 0, refused))).isUsable).toBe(false);
		expect(server.asked).toEqual([]);
	});

	/** A server of which one request of a run fails. */
	function failing(server: Knowledgebase, nth: number, outcome: RequestOutcome): MemoryRoutes {
		const routes = server.routes();
		let count = 0;
		const send = calling(async (request) =>
			count++ === nth ? outcome : await routes.send(request),
		);
		return { ...routes, send };
	}
});

describe('a server', () => {
	const without = async (routes: MemoryRoutes) => {
		const memory = await open(routes);
		expect([memory.isUsable, memory.failures.isMemoryUnsupported]).toEqual([false, true]);
		expect(await memory.journalBeforeDisabling([A])).toBeUndefined();
		expect(await memory.journalBatch(new Map([[A, 'copy #1']]))).toBeUndefined();
	};

	it('without the route remembers nothing', async () => {
		const routeMissing = failed({ kind: 'status', status: 404, missing: 'route' });
		await without({ ...new Knowledgebase().routes(), send: calling(() => routeMissing) });
	});

	it('that accepts notes and does not return them remembers nothing', async () => {
		const server = new Knowledgebase();
		const routes = server.routes();
		const send: MemoryRoutes['send'] = async (request) => {
			const outcome = await routes.send(request);
			server.harm(server.notes(), 'processes');
			return outcome;
		};
		await without({ ...routes, send });
	});

	it('must list a note that is certainly there, or its answer does not count', async () => {
		const server = new Knowledgebase();
		const routes = server.routes();
		const schemas: AnswerSchema[] = [];
		const send: MemoryRoutes['send'] = async (request) => {
			schemas.push(request.schema);
			return await routes.send(request);
		};
		const memory = await open({ ...routes, send });
		expect(memory.requiredId).toBe(server.notes('began')[0]?.id);
		const answers = [[{ id: memory.requiredId?.toUpperCase() }], [{ id: A }], {}, undefined];
		const issueOf = (answer: unknown, { error }: { error?: ZodError }) =>
			error && answerIssue(answer, error);
		const said = schemas.map((schema) =>
			answers.map((answer) => issueOf(answer, schema.safeParse(answer))),
		);
		const [short, empty] = ['it does not list the documents that it should', 'it is empty'];
		// Before its first run, nothing of a source is there; the lease is written by itself.
		expect(said[0]).toEqual([undefined, undefined, short, empty]);
		expect(said[3]).toEqual([short, short, short, empty]);
		for (const at of [1, 2, 4, 5]) expect(said[at]).toEqual([undefined, short, short, empty]);
	});

	it('that refuses the merged memory blocks sending; the next attempt has lost nothing', async () => {
		const server = new Knowledgebase();
		await night(server, IDS);
		await night(server, [A, B], 'copy #2', false);
		let refuses = true;
		const memory = await open(
			server.routes([], ({ name }) => refuses && name?.includes('has stored') === true),
		);
		expect(await memory.journalBatch(new Map([[C, 'copy #2']]))).toMatchObject({
			failure: { status: 422 },
		});
		refuses = false;
		await send(server, memory, [C], { content: 'copy #2' });
		await memory.close();
		const { having } = await remembered(server);
		expect([having('copy #2'), having('copy #1')]).toEqual([[A, B, C], IDS.slice(3)]);
	});

	it.each(['refuses the memory at the end', 'is stopped'])(
		'that %s still has the journal, which the next run reads',
		async (what) => {
			const server = new Knowledgebase();
			const refuses = what.startsWith('refuses');
			const isMemory = ({ name = '' }) => refuses && name.includes('has stored');
			const signal = refuses ? undefined : virtualTime(0).signal;
			const memory = await open(server.routes([], isMemory), { signal });
			await send(server, memory, [A]);
			await memory.close();
			expect(memory.failures.writeFailure?.status).toBe(refuses ? 422 : undefined);
			expect(server.notes('has stored')).toEqual([]);
			expect((await remembered(server)).having('copy #1')).toEqual([A]);
		},
	);
});
