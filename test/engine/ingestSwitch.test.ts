import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { keyNamespace } from 'nodes/XpertAi/operations/document/sourceIdentity';
import { derivedId } from 'nodes/XpertAi/payloads/ids';

import { answering } from './support/faults';
import { TEXTS, column, hintsOf, useIngest, isNote } from './support/ingest';

const { fixture, add, submit } = useIngest();

const SOURCE = 'handbook';
const night = async (letters: string, parameters: INodeParameters = {}) =>
	await submit(
		{
			...TEXTS,
			mode: 'mirror',
			sourceName: SOURCE,
			...parameters,
		},
		{ items: [...letters].map((name) => ({ json: { name, text: `The word is ${name}.` } })) },
	);
const byKey = async (
	operation: 'disable' | 'enable',
	letters: string,
	parameters: INodeParameters = {},
	run: Parameters<typeof fixture.run>[1] = {},
) =>
	await fixture.run(
		{
			resource: 'document',
			operation,
			knowledgebaseId: fixture.world.knowledgebaseId,
			documentKey: '={{ $json.name }}',
			sourceName: SOURCE,
			...parameters,
		},
		{ items: [...letters].map((name) => ({ json: { name } })), ...run },
	);
const NOT_TAKEN = { statusCode: 400, message: 'not taken' };
const idOf = (name: string, source = SOURCE) =>
	derivedId(keyNamespace(fixture.world.knowledgebaseId, source), name);
const found = () =>
	[...'abcdefghij'].filter((name) => fixture.sandbox.store.findable(idOf(name))).join('');
/** The bodies that were sent to store documents since the last look, without notes. */
const sent = () => {
	const bodies = fixture.sandbox.requests
		.of('E3')
		.map(({ body }) => (body as IDataObject[]).filter((document) => !isNote(document)))
		.filter((body) => body.length > 0);
	fixture.sandbox.requests.clear();
	return bodies;
};

describe('Document: Disable', () => {
	it('takes documents out of every answer, those of all items in one request', async () => {
		await night('abcde');
		sent();
		const { items } = await byKey('disable', 'bd');
		expect(found()).toBe('ace');
		expect(items).toEqual([
			{
				json: { key: 'b', id: idOf('b'), outcome: 'disabled', known: true },
				pairedItem: { item: 0 },
			},
			{
				json: { key: 'd', id: idOf('d'), outcome: 'disabled', known: true },
				pairedItem: { item: 1 },
			},
		]);
		expect(sent()).toHaveLength(1);
	});

	it.each([
		['what their source remembers, by key', SOURCE, 'b.md', () => ({})],
		[
			'what their source remembers, by ID',
			SOURCE,
			'b.md',
			() => ({ documentsBy: 'id', documentIds: idOf('b') }),
		],
		['their key, of a source without a name', '', 'b', () => ({})],
	])(
		'leaves them a name on the server, which clears what is not sent: %s',
		async (_, sourceName, name, by) => {
			await night('ab', { sourceName });
			await byKey('disable', 'b', { sourceName, ...by() });
			const document = fixture.sandbox.store.documents.get(idOf('b', sourceName));
			expect(document).toMatchObject({ name, disabled: true });
		},
	);

	it('looks into the memory of each source where the items name several', async () => {
		for (const sourceName of [SOURCE, 'other']) await night('a', { sourceName });
		const of = { sourceName: '={{ $json.of }}' };
		const items = [SOURCE, 'other'].map((source) => ({ json: { name: 'a', of: source } }));
		const result = await byKey('disable', '', of, { items });
		expect(column(result.items, 'known')).toEqual([true, true]);
		expect(column(result.items, 'id')).toEqual([idOf('a'), idOf('a', 'other')]);
	});

	it('needs no source: by ID, only the documents are changed, and the night sends what it still brings', async () => {
		await night('abc');
		const documentIds = JSON.stringify([idOf('a'), idOf('b')]);
		const parameters = { documentsBy: 'id', documentIds, sourceName: '' };
		const { items } = await byKey('disable', 'x', parameters);
		expect(items.map(({ json }) => json)).toEqual([
			{ id: idOf('a'), outcome: 'disabled' },
			{ id: idOf('b'), outcome: 'disabled' },
		]);
		expect(found()).toBe('c');
		await night('abc');
		expect(found()).toBe('abc');
	});

	it('stores nothing in the place of a document that is not there, and says so', async () => {
		await night('ab');
		sent();
		const result = await byKey('disable', 'az');
		expect(column(result.items, 'outcome')).toEqual(['disabled', 'missing']);
		expect(column(result.items, 'known')).toEqual([true, false]);
		expect(hintsOf(result)).toEqual([
			'1 document was not known of this source (one of a Shard never is). Check Knowledgebase, Source Name and the keys.',
		]);
		expect(fixture.sandbox.store.documents.has(idOf('z'))).toBe(false);
		expect(sent()).toHaveLength(1);
	});

	it('takes no answer without its own notes for one that says what is there', async () => {
		await night('ab');
		const path = idOf('a');
		add(answering('status', 200, { path, nth: 1, body: [] }));
		const { items } = await byKey('disable', 'ab');
		expect(column(items, 'outcome')).toEqual(['disabled', 'disabled']);
		expect(found()).toBe('');
	});

	it('fails each of its items where the server refuses', async () => {
		add(answering('status', 403));
		const unnamed = { sourceName: '' };
		const { outputs } = await byKey('disable', 'ab', unnamed, { onError: 'continueErrorOutput' });
		const refused = expect.stringContaining('This key may not do this') as string;
		expect(column(outputs[1], 'error')).toEqual([refused, refused]);
		const { error } = await byKey('disable', 'ab', unnamed);
		expect(error?.context?.itemIndex).toBe(0);
	});

	it('is refused before anything is sent where an item has no key; with Continue, the others go on', async () => {
		await night('ab');
		sent();
		const items = [{ json: { name: 'a' } }, { json: {} }];
		const { error } = await byKey('disable', '', {}, { items });
		expect(error?.message).toBe(
			'"Document Key" is empty: its expression gave nothing for this item [item 1]',
		);
		expect(sent()).toEqual([]);
		const { outputs } = await byKey('disable', '', {}, { items, onError: 'continueErrorOutput' });
		expect(outputs.map((output) => output.length)).toEqual([1, 1]);
		expect(found()).toBe('b');
	});
});

describe('a list of IDs', () => {
	it('may be in either case, as those of servers', async () => {
		await night('abc');
		const documentIds = `${idOf('a').toUpperCase()}, ${idOf('c')}`;
		const { items } = await byKey('disable', 'a', { documentsBy: 'id', documentIds });
		expect(column(items, 'outcome')).toEqual(['disabled', 'disabled']);
		expect(found()).toBe('b');
	});
});

describe('documents that were only stored', () => {
	it('are processed without being sent; one that cannot be is sent whole in the same run', async () => {
		await night('abc', { afterStoring: 'nothing' });
		await byKey('disable', 'b');
		fixture.sandbox.requests.clear();
		const { items } = await night('abc');
		expect(column(items, 'outcome')).toEqual(['unchanged', 'found', 'unchanged']);
		expect(column(items, 'processing')).toEqual(['finish', 'finish', 'finish']);
		expect(found()).toBe('abc');
		expect(sent().flat()).toEqual([expect.objectContaining({ id: idOf('b'), name: 'b.md' })]);
		expect(column((await night('abc')).items, 'outcome')).toEqual(Array(3).fill('unchanged'));
		expect(sent()).toEqual([]);
	});

	it('end the run with Stop where one is refused when it is sent whole, and nothing is disabled', async () => {
		await night('abc', { afterStoring: 'nothing' });
		await byKey('disable', 'b');
		// The request that sends b whole, after those of the memory.
		add(answering('E3', 400, { nth: 5, body: NOT_TAKEN }));
		fixture.sandbox.requests.clear();
		const { error } = await night('ab');
		expect(error?.message).toContain('not taken');
		expect(error?.message).toContain('1 rejected');
		expect(sent().flat()).toEqual([expect.objectContaining({ name: 'b.md' })]);
	});

	it.each(['new', 'old'])(
		'give way to a later one with the same key and the text %s',
		async (text) => {
			const documentKey = '={{ $json.name }}';
			const parameters = { ...TEXTS, mode: 'changed', sourceName: SOURCE, documentKey };
			const bring = async (texts: string[], more: INodeParameters = {}) =>
				await submit(
					{ ...parameters, ...more },
					{ items: texts.map((one) => ({ json: { name: 'b', text: one } })) },
				);
			await bring(['old'], { afterStoring: 'nothing' });
			await byKey('disable', 'b');
			fixture.sandbox.requests.clear();
			const { items } = await bring(['old', text]);
			expect(column(items, 'outcome')).toEqual(['replaced', 'found']);
			expect(sent()).toHaveLength(1);
			expect(found()).toBe('b');
		},
	);
});

describe('Document: Enable', () => {
	it('lets documents in again within a request, and the next night sends them whole', async () => {
		await night('abc');
		await byKey('disable', 'bc');
		const { items } = await byKey('enable', 'bc');
		expect(items.map(({ json }) => json)).toEqual([
			{ key: 'b', id: idOf('b'), outcome: 'enabled' },
			{ key: 'c', id: idOf('c'), outcome: 'enabled' },
		]);
		expect(found()).toBe('abc');
		sent();
		await night('abc');
		expect(sent().flat()).toEqual([
			expect.objectContaining({ id: idOf('b'), name: 'b.md' }),
			expect.objectContaining({ id: idOf('c'), name: 'c.md' }),
		]);
	});

	it.each([
		['1', 'c', 'it', 'it is', 'it'],
		['2', 'bc', 'them', 'they are', 'them'],
	])(
		'keeps the names, and says that filters do not find %s documents until the next Submit, which sends them',
		async (_, letters, it, itIs, them) => {
			const documentSettings = { metadata: '={{ { department: $json.name } }}' };
			await night('abc', { documentSettings });
			await byKey('disable', letters);
			const result = await byKey('enable', letters);
			expect(hintsOf(result)).toEqual([
				`Enabled without metadata and address: filters do not find ${it} until ${itIs} submitted again. The next Submit sends ${them}.`,
			]);
			const { documents } = fixture.sandbox.store;
			const enabled = [...letters].map((name) => documents.get(idOf(name)));
			expect(enabled).toMatchObject([...letters].map((name) => ({ name: `${name}.md` })));
			expect(enabled.map((document) => document?.metadata)).not.toContainEqual(expect.anything());
			sent();
			await night('abc', { documentSettings });
			expect(sent().flat()).toMatchObject(
				[...letters].map((name) => ({ id: idOf(name), metadata: { department: name } })),
			);
		},
	);

	it('says that Resend All sends them where documents are only stored', async () => {
		const lastRunOnlyStored = { afterStoring: 'nothing' };
		await night('a', lastRunOnlyStored);
		await byKey('disable', 'a');
		expect(hintsOf(await byKey('enable', 'a')).join()).toContain(
			'Submit with Resend All sends it.',
		);
		sent();
		await night('a', lastRunOnlyStored);
		expect(sent()).toEqual([]);
		await night('a', { ...lastRunOnlyStored, resendAll: true });
		expect(sent().flat()).toMatchObject([{ id: idOf('a') }]);
	});
});
