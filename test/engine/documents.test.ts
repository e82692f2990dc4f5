import { range } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import type { FaultRule } from 'sandbox';
import { answering } from './support/faults';
import {
	BY_NAME,
	REFUSED_SOURCE_TYPE,
	TEXTS,
	column,
	hintsOf,
	useIngest,
	rows,
} from './support/ingest';

const NO_RECORD = { statusCode: 404, message: 'The requested record was not found' };

const { fixture, add, sent, submit, storedNames, batchSizes } = useIngest();

describe('Document: Submit', () => {
	it('makes a document of each item and sends them in batches, one after another', async () => {
		const { items } = await submit(
			{ ...BY_NAME, tuning: { batchSize: 100, concurrency: 1 } },
			{ items: rows(250) },
		);
		expect(batchSizes()).toEqual([10, 100, 100, 40]);
		expect(storedNames()).toEqual(column(rows(250), 'name'));
		expect(items.map(({ json, pairedItem }) => [json.name, pairedItem])).toEqual(
			rows(250).map(({ json }, item) => [json.name, { item }]),
		);
		expect(items[249]?.json).toEqual({
			id: expect.any(String),
			name: 'doc 249',
			outcome: 'stored',
			processing: 'none',
			status: 201,
			attempts: 1,
			batch: 4,
		});
	});

	it('takes columns with the usual names, and says which match nothing', async () => {
		const result = await submit(
			{ ...BY_NAME, documentKey: '={{ $json.row_id }}' },
			{
				items: [
					{ json: { title: 'a', content: 'hello', url: 'https://a.example/a.md', row_id: 1 } },
					{ json: { title: 'b', content: 'world', mood: 'good', weather: 'fine', row_id: 2 } },
				],
			},
		);
		expect(sent('E3')[0]?.body).toEqual([
			expect.objectContaining({
				name: 'a',
				fileUrl: 'https://a.example/a.md',
				pages: [{ pageContent: 'hello' }],
			}),
			expect.objectContaining({ name: 'b', pages: [{ pageContent: 'world' }] }),
		]);
		expect(hintsOf(result)).toContain('Columns that match no field of a document: mood, weather');
	});

	it.each([
		['nothing', {}, ''],
		['only what says nothing of it', { mood: 'good', type: 'md' }, '; the item has mood, type'],
		[
			'only an ID, which would clear that document',
			{ id: '2f78e81b-096f-42ff-8ac0-8403fd81392d' },
			'; the item has id',
		],
	])('sends no document to which %s was mapped', async (_, json, has) => {
		const { error } = await submit(BY_NAME, { items: [{ json }] });
		expect(error?.message).toBe(
			`"Document Fields" must give the document a name, a text, a page, a chunk, a file ID or an address${has}. Documents: 1 rejected`,
		);
		expect(sent()).toEqual([]);
	});

	it('sends a document that is only switched off, which takes it out of answers', async () => {
		const id = '2f78e81b-096f-42ff-8ac0-8403fd81392d';
		await submit({ source: 'json', jsonBody: JSON.stringify([{ id, disabled: true }]) });
		expect(sent('E3')[0]?.body).toEqual([{ id, disabled: true }]);
	});

	it('gives the records of the server with Simplify off', async () => {
		const { items } = await submit({ ...BY_NAME, simplify: false }, { items: rows(1) });
		expect(items[0]?.json).toMatchObject({
			name: 'doc 0',
			knowledgebaseId: fixture.world.knowledgebaseId,
			processDuation: null,
		});
	});

	it('a document whose chunks changed is told what to do instead', async () => {
		const withIds = { ...BY_NAME, documentKey: '={{ $json.name }}' };
		const items = (text: string) => rows(1, () => ({ chunks: [{ pageContent: text }] }));
		await submit(withIds, { items: items('first') });
		const { error } = await submit(withIds, { items: items('changed') });
		expect(error?.message).toBe(
			'The server answered 400: it does not take a document again whose chunks changed. Send its text with "Documents From" set to Text, or its file with Files. Documents: 1 rejected',
		);
	});

	describe('with Stop', () => {
		const texts = (count: number, more: (at: number) => object) =>
			range(count).map((at) => ({ json: { name: `doc ${at}`, text: 'A word.', ...more(at) } }));
		const CONTINUE = 'To have the others come out all the same, set "On Error"';

		it.each<[string, INodeParameters, (at: number) => object]>([
			['the tenth text is empty', TEXTS, (at) => (at === 9 ? { text: '' } : {})],
			[
				'a setting of the tenth differs',
				{ ...TEXTS, tuning: { batchSize: '={{ $json.size }}' } },
				(at) => ({ size: at === 9 ? 2 : 1 }),
			],
			[
				'the tenth record has no content',
				{ source: 'json', jsonBody: '={{ $json.record }}' },
				(at) => ({ record: at === 9 ? {} : { name: 'a' } }),
			],
		])('counts every item where %s', async (_, parameters, more) => {
			const { error } = await submit(parameters, { items: texts(100, more) });
			expect(error?.message).toMatch(
				/ \[item 9\]\. Documents: 1 rejected, 9 not sent, 90 items not read$/,
			);
			expect(error?.description).toContain(CONTINUE);
			expect(sent()).toEqual([]);
		});

		it.each<[string, number, FaultRule]>([
			['there is only one', 1, answering('E16', 422)],
			['the key may not store any', 3, answering('E16', 403)],
			['there is no such knowledgebase', 3, answering('E3', 404, { body: NO_RECORD })],
			['the server is away', 3, answering('E16', 503)],
		])('does not advise to go on with the other documents where %s', async (_, count, fault) => {
			add(fault);
			const parameters = { ...TEXTS, tuning: { retryMinutes: 0 } };
			const { error } = await submit(parameters, { items: texts(count, () => ({})) });
			expect(error?.description).toBeTruthy();
			expect(error?.description).not.toContain(CONTINUE);
		});

		it('advises to go on with the other documents where the server refuses one, or its file', async () => {
			for (const fault of [
				answering('E16', 413, { nth: 1 }),
				answering('E16', 422, { nth: 1 }),
				answering('E16', 500, { nth: 1 }),
			]) {
				add(fault);
				const { error } = await submit(TEXTS, { items: texts(3, () => ({})) });
				expect(error?.description).toContain(CONTINUE);
			}
		});

		it('speaks of a second run only where that stores something twice', async () => {
			const SECOND = 'A second run replaces';
			const record = (more: object) => [...'ab'].map((name) => ({ name, ...more }));
			for (const [documents, isSaid] of [
				[record({}), true],
				[record({ id: '2f78e81b-096f-42ff-8ac0-8403fd81392d' }).slice(0, 1), false],
			] as const) {
				const bad = { name: 'c', sourceType: REFUSED_SOURCE_TYPE };
				const jsonBody = JSON.stringify([...documents, bad]);
				const { error } = await submit({ source: 'json', jsonBody });
				expect(error?.message).toContain('1 rejected');
				expect(error?.description?.includes(SECOND)).toBe(isSaid);
			}
		});
	});

	it('says how much is stored when a batch fails', async () => {
		add(answering('E3', 503, { nth: 2, body: 'busy' }));
		const { error } = await submit(
			{ ...BY_NAME, tuning: { batchSize: 10, concurrency: 1, retryMinutes: 0 } },
			{ items: rows(30) },
		);
		expect(error?.message).toBe(
			'The server answered 503: busy. Documents: 10 stored, 10 unknown, 10 not sent',
		);
		expect(sent('E3')).toHaveLength(2);
	});
});

describe('Document: Start Processing', () => {
	it('queues ten documents a request and tells of each asked for whether it was queued', async () => {
		const { store, requests } = fixture.sandbox;
		const { knowledgebaseId } = fixture.world;
		const ids = range(0, 24).map(() => store.putDocument({ knowledgebaseId }).id);
		const unknown = 'b7b0a3c8-5f0b-4c8f-9f0e-3d1f7c1c2a11';
		const { items } = await fixture.run({
			resource: 'document',
			operation: 'process',
			knowledgebaseId,
			documentIds: [...ids.slice(0, 12), unknown, ...ids.slice(12)].join(','),
		});
		expect(requests.of('process').map(({ body }) => (body as unknown[]).length)).toEqual([
			10, 10, 5,
		]);
		expect(column(items, 'id')).toEqual([...ids.slice(0, 12), unknown, ...ids.slice(12)]);
		expect(items[12]?.json).toEqual({ id: unknown, queued: false });
		expect(items[13]?.json).toMatchObject({ queued: true, status: 'running' });
	});
});

describe('Document: Get Processing Status', () => {
	it('asks for more documents than an address can hold in several requests', async () => {
		const { store } = fixture.sandbox;
		const { knowledgebaseId } = fixture.world;
		const ids = Array.from({ length: 220 }, () => store.putDocument({ knowledgebaseId }).id);
		const { items } = await fixture.run({
			resource: 'document',
			operation: 'getStatus',
			knowledgebaseId,
			documentIds: ids.join(','),
		});
		expect(items.map(({ json }) => json.id)).toEqual(ids);
		expect(sent('status')).toHaveLength(Math.ceil(220 / 180));
	});

	it('tells of a document that the server does not know, in the order asked', async () => {
		const { knowledgebaseId } = fixture.world;
		const { id } = fixture.sandbox.store.putDocument({ knowledgebaseId });
		const unknown = [
			'00000000-0000-4000-8000-000000000000',
			'ffffffff-ffff-4fff-8fff-ffffffffffff',
		];
		const { items } = await fixture.run({
			resource: 'document',
			operation: 'getStatus',
			knowledgebaseId,
			documentIds: [unknown[0], id, unknown[1]],
		});
		expect(items.map(({ json }) => json)).toEqual([
			{ id: unknown[0], status: 'unknown' },
			expect.objectContaining({ id, status: null }),
			{ id: unknown[1], status: 'unknown' },
		]);
	});
});

describe('documents that the server does not have', () => {
	const UNKNOWN = 'b7b0a3c8-5f0b-4c8f-9f0e-3d1f7c1c2a11';
	const byKey = { documentKey: '={{ $json.key }}' };
	const byId = (...ids: string[]) => ({ documentsBy: 'id', documentIds: ids });
	const asked = async (operation: string, parameters: INodeParameters) =>
		await fixture.run(
			{
				resource: 'document',
				operation,
				knowledgebaseId: fixture.world.knowledgebaseId,
				...parameters,
			},
			{ items: ['a', 'b'].map((key) => ({ json: { key } })) },
		);

	it('are told by process, which cannot tell them from those in process', async () => {
		expect(hintsOf(await asked('process', byId(UNKNOWN)))).toEqual([
			'The server queued none of these documents: they are being processed already, or it does not have them. Get Processing Status tells which.',
		]);
	});

	it.each<[operation: string, fields: string, parameters: INodeParameters]>([
		['disable', '"Knowledgebase", "Source Name" and the keys', byKey],
		['enable', '"Knowledgebase", "Source Name" and the keys', byKey],
		['disable', '"Knowledgebase" and the IDs', byId(UNKNOWN)],
		['getStatus', '"Knowledgebase" and the IDs', byId(UNKNOWN)],
	])('are told by %s, which names %s', async (operation, fields, parameters) => {
		expect(hintsOf(await asked(operation, parameters))).toEqual([
			`The server has none of these documents: check ${fields}.`,
		]);
		const { id } = fixture.sandbox.store.putDocument(fixture.world);
		const some = await asked(operation, byId(UNKNOWN, id));
		expect(hintsOf(some).join()).not.toContain('none of these');
	});
});

describe('half a character in the name of a field', () => {
	const given = { name: 'a', metadata: { ['cut \ud83d']: 'a' } };
	const documentSettings = { metadata: '={{ $json.metadata }}' };

	it.each<[string, INodeParameters, string]>([
		['JSON', { source: 'json', jsonBody: '={{ [$json] }}' }, '"JSON Body" at metadata'],
		[
			'Text',
			{ source: 'text', text: 'A text', documentSettings },
			'"Metadata" in "Document Settings"',
		],
	])('is refused as in a value, from %s', async (_, parameters, subject) => {
		const { error } = await submit(parameters, { items: [{ json: given }] });
		expect(error?.message).toContain(`${subject} has a field whose name holds half of a character`);
		expect(error?.message).not.toMatch(/\p{Surrogate}/u);
		expect(sent()).toEqual([]);
	});
});
