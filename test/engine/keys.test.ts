import type { INodeParameters } from 'n8n-workflow';

import { TEXTS, column, useIngest, isNote } from './support/ingest';

const { fixture, documents, submit, file, storedNames, sent } = useIngest();

const NFC = '\u00dcbersicht.txt';
const NFD = NFC.normalize('NFD');
const NOTHING = 'is empty: its expression gave nothing for this item';

/** How many documents of the world's knowledgebase assistants find. */
const found = () =>
	documents().filter(
		(document) => !isNote(document) && fixture.sandbox.store.findable(String(document.id)),
	).length;

/** The ways in which documents get a key; the item's column `key` is the key. */
const WAYS: Array<[string, INodeParameters]> = [
	['Text', { ...TEXTS, documentKey: '={{ $json.key }}' }],
	['Text, by its name', { ...TEXTS, name: '={{ $json.key }}' }],
	[
		'Fields',
		{
			source: 'fields',
			documentFields: { mappingMode: 'defineBelow', value: { name: '={{ $json.name }}' } },
			documentKey: '={{ $json.key }}',
		},
	],
	['JSON', { source: 'json', jsonBody: '={{ [$json] }}', documentKeyField: 'key' }],
];

const item = (key: unknown, name = 'a') => ({ json: { key: key as string, name, text: 'A text' } });

describe.each(WAYS)('the key of a document from %s', (_, parameters) => {
	it('is one in NFC, NFD and with blanks around it: the second night replaces the first', async () => {
		const first = await submit(parameters, { items: [item(NFC)] });
		for (const key of [NFD, `  ${NFC}\n`]) {
			const { items } = await submit(parameters, { items: [item(key)] });
			expect(column(items, 'id')).toEqual(column(first.items, 'id'));
			expect(column(items, 'key')).toEqual([NFC]);
		}
		expect(storedNames()).toHaveLength(1);
	});

	it.each(['undefined', 'null', 'NaN', '[object Object]', 'docs/[object Object].md'])(
		'is none that stands for a missing value: %s',
		async (key) => {
			const { error } = await submit(parameters, { items: [item(key)] });
			expect(error?.message).toMatch(/holds ".*", which stands for a missing value/);
			expect(sent()).toEqual([]);
		},
	);

	it('may be the path of a document about such a word', async () => {
		const { items, error } = await submit(parameters, { items: [item('docs/undefined.md')] });
		expect(error).toBeUndefined();
		expect(column(items, 'key')).toEqual(['docs/undefined.md']);
	});
});

describe('the key of a document', () => {
	it('from Files and a file of records is read in the same way', async () => {
		const { engine } = fixture;
		const binary = async (name: string) => ({
			json: {},
			binary: { data: await engine.binary(Buffer.from('A text'), name, 'text/plain') },
		});
		for (const name of [NFC, NFD])
			await submit({ source: 'files' }, { items: [await binary(name)] });
		expect(storedNames()).toEqual([NFD]);
		const record = (path: string) => JSON.stringify({ path, name: 'record' });
		const text = [`/${NFC}`, `/${NFD}`, ` /${NFC} `, 'null'].map(record).join('\n');
		const { outputs } = await submit(
			{ source: 'records', documentKeyField: 'path' },
			{ items: [await file(text)], onError: 'continueErrorOutput' },
		);
		expect(storedNames()).toEqual([NFD, 'record']);
		expect(column(outputs[1], 'error')).toContain(
			'Line 4 of the file: "Key Field" holds "null", which stands for a missing value',
		);
	});

	it('finds the document again in Disable and Enable, however it is spelled', async () => {
		await submit(WAYS[0]?.[1] ?? {}, { items: [item(` ${NFD} `)] });
		expect(found()).toBe(1);
		const by = async (operation: string, documentKey: string) =>
			await fixture.run({
				resource: 'document',
				operation,
				documentKey,
				knowledgebaseId: fixture.world.knowledgebaseId,
			});
		expect(column((await by('disable', NFC)).items, 'outcome')).toEqual(['disabled']);
		expect(found()).toBe(0);
		expect(column((await by('enable', `${NFD} `)).items, 'outcome')).toEqual(['enabled']);
		expect(found()).toBe(1);
		expect((await by('disable', 'undefined')).error?.message).toBe(
			'"Document Key" holds "undefined", which stands for a missing value',
		);
	});

	it('belongs to the same source in NFC and NFD', async () => {
		const night = async (sourceName: string) =>
			await submit({ ...TEXTS, mode: 'changed', sourceName }, { items: [item('a')] });
		await night(NFC);
		expect(column((await night(` ${NFD}`)).items, 'outcome')).toEqual(['unchanged']);
	});

	it.each([
		[
			'={{ "s" + $json.nope }}',
			'"Source Name" lacks a part: {{ $json.nope }} gave nothing for this item',
		],
		[
			'={{ String($json.nope) }}',
			'"Source Name" holds "undefined", which stands for a missing value',
		],
		['={{ $json.nope }}', `"Source Name" ${NOTHING}`],
	])('belongs to no source by a name that is none: %s', async (sourceName, words) => {
		const parameters = { ...TEXTS, mode: 'mirror', sourceName };
		const { error } = await submit(parameters, { items: [item('a')] });
		expect(error?.message).toBe(`${words}. Documents: 1 rejected`);
		expect(sent()).toEqual([]);
	});
});
