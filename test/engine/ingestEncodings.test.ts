import type { IBinaryData, INodeExecutionData } from 'n8n-workflow';

import { workbook } from '../sandbox/support/recordedFiles';
import { column, useIngest } from './support/ingest';

const { fixture, documents, submit } = useIngest();

const FILES = { source: 'files', afterStoring: 'wait' };
const TEXT = 'Größe: 10 € – café naïve';
const CP1252 = Buffer.from([
	...Buffer.from('Größe: 10 ', 'latin1'),
	0x80,
	0x20,
	0x96,
	...Buffer.from(' café naïve', 'latin1'),
]);
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');

const uploads = () => fixture.sandbox.requests.of('E16').flatMap(({ files = [] }) => files);
const chunksOf = (id: unknown) => fixture.sandbox.store.findable(String(id))?.chunks;
const passages = () => documents().flatMap(({ id }) => chunksOf(id) ?? []);

type Kept = 'on disk' | 'in memory';

/** An item with a file, which n8n keeps on disk, or which a Code node made. */
async function fileItem(
	name: string,
	mimeType: string | undefined,
	content: Buffer,
	kept: Kept = 'on disk',
): Promise<INodeExecutionData> {
	const data =
		kept === 'on disk'
			? await fixture.engine.binary(content, name, mimeType ?? '')
			: { data: content.toString('base64'), fileName: name, mimeType };
	return { json: {}, binary: { data: data as IBinaryData } };
}

// Which encodings are read, and which are refused: see submit/sources.test.ts.
describe('a file of text', () => {
	it('arrives in UTF-8 and is found', async () => {
		const items = [await fileItem('a.txt', 'text/markdown', utf16(TEXT))];
		const result = await submit(FILES, { items });
		expect(column(result.items, 'outcome')).toEqual(['found']);
		expect(uploads().map((file) => file.content?.toString())).toEqual([TEXT]);
		expect(passages()).toEqual([TEXT]);
	});

	it.each(['us-ascii', 'klingon'])(
		'in UTF-8 is found, though said to be in %s',
		async (charset) => {
			const type = `text/plain; charset=${charset}`;
			const items = [await fileItem('a.txt', type, Buffer.from(TEXT))];
			const result = await submit(FILES, { items });
			expect(column(result.items, 'outcome')).toEqual(['found']);
			expect(passages()).toEqual([TEXT]);
		},
	);

	it('is decoded as Document Settings say, also on the next night', async () => {
		const documentSettings = { mimeType: 'text/plain; charset=windows-1252' };
		const items = [await fileItem('a.txt', 'text/plain', CP1252)];
		const run = async () =>
			await submit({ ...FILES, mode: 'changed', documentSettings }, { items });
		expect(column((await run()).items, 'outcome')).toEqual(['found']);
		expect(passages()).toContain(TEXT);
		expect(documents()).toContainEqual(
			expect.objectContaining({ name: 'a.txt', mimeType: 'text/plain' }),
		);
		expect((await run()).error).toBeUndefined();
		expect(uploads()).toHaveLength(1);
	});
});

describe('a file of records', () => {
	const RECORDS = { source: 'records', textField: 'text', documentKeyField: 'id' };
	const lines = [
		`{"id": 1161888007138312192, "text": "${TEXT}"}`,
		'{"id": 1161888007138312193, "text": "b"}',
	];

	it.each<[string, string, Buffer]>([
		['UTF-16 lines', 'application/x-ndjson', utf16(lines.join('\n'))],
		['an array', 'application/json', Buffer.from(`[${lines.join(',\n')}]`)],
	])(
		'is read in its encoding, and large IDs are two documents: %s',
		async (_, mimeType, content) => {
			const items = [await fileItem('rows.jsonl', mimeType, content)];
			const result = await submit({ ...RECORDS, afterStoring: 'wait' }, { items });
			expect(result.error).toBeUndefined();
			expect(column(result.items, 'key')).toEqual(['1161888007138312192', '1161888007138312193']);
			expect(column(result.items, 'outcome')).toEqual(['found', 'found']);
			expect(passages().sort()).toEqual([TEXT, 'b'].sort());
		},
	);
});

describe('a whole number that JavaScript would round', () => {
	const IDS = ['1161888007138312192', '1161888007138312193'];

	it('has lost digits where n8n gives it as a key, which is refused', async () => {
		const items = IDS.map((id) => ({ json: { id: Number(id), row: 7 } }));
		const text = { source: 'text', name: 'a', text: 'b', afterStoring: 'nothing' };
		const { error } = await submit({ ...text, documentKey: '={{ $json.id }}' }, { items });
		expect(error?.message).toContain(
			'"Document Key" must be text, as so large a number has lost its last digits, but is 1161888007138312200 [item 0]',
		);
		const { items: out } = await submit({ ...text, documentKey: '={{ $json.row }}' }, { items });
		expect(column(out, 'key')).toEqual(['7', '7']);
	});
});

describe('a workbook', () => {
	const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
	const book = workbook([
		['Animal', 'Price'],
		['Quokka', 10.5],
	]);

	it.each<[string, string, string | undefined, { type?: string }]>([
		['by its name in capitals', 'PRICES.XLSX', undefined, {}],
		['by its MIME type', 'prices', XLSX, {}],
		['by the type that is given', 'prices', 'application/octet-stream', { type: 'xlsx' }],
	])('is found row by row, %s', async (_, name, mimeType, documentSettings) => {
		const items = [await fileItem(name, mimeType, book, 'in memory')];
		const result = await submit({ ...FILES, documentSettings: { ...documentSettings } }, { items });
		expect(column(result.items, 'outcome')).toEqual(['found']);
		expect(documents()).toMatchObject([{ type: 'txt', name: expect.stringMatching(/\.xlsx$/i) }]);
		expect(passages()).toEqual(['{"Animal":"Quokka","Price":10.5}']);
	});

	it('that nothing could be found in is refused', async () => {
		const items = [
			await fileItem('broken.xlsx', XLSX, Buffer.from('Price, no zip at all')),
			await fileItem('good.xlsx', XLSX, book),
		];
		const { outputs } = await submit(FILES, { items, onError: 'continueErrorOutput' });
		expect(column(outputs[1], 'error')).toEqual([
			expect.stringContaining('file "broken.xlsx" is no .xlsx workbook inside'),
		]);
		expect(column(outputs[0], 'name')).toEqual(['good.xlsx']);
		expect(uploads()).toHaveLength(1);
	});
});

describe('a file without a MIME type, as Code nodes make it', () => {
	it.each([
		['a.txt', 'text/plain'],
		['a.png', 'image/png'],
		['a.unknown', 'application/octet-stream'],
	])('is sent with the one of its name: %s', async (name, type) => {
		const items = [await fileItem(name, undefined, Buffer.from('hello'), 'in memory')];
		const operations = [
			{ resource: 'file', operation: 'create' },
			{ resource: 'fileContext', operation: 'create' },
		];
		for (const operation of operations)
			expect((await fixture.run(operation, { items })).error).toBeUndefined();
		expect((await submit({ ...FILES, afterStoring: 'nothing' }, { items })).error).toBeUndefined();
		const sent = [
			...uploads(),
			...fixture.sandbox.requests.of('E12').flatMap(({ files = [] }) => files),
		];
		expect(sent.map(({ mimetype }) => mimetype)).toEqual([type, type, type]);
	});
});

it('items that hold files say so with Documents From left at Text', async () => {
	const items = [await fileItem('a.pdf', 'application/pdf', Buffer.from('%PDF-'))];
	const text = { source: 'text', name: 'a', text: '={{ $json.text }}' };
	const { error } = await submit(text, { items });
	expect(error?.message).toContain(
		'if the file of the item is meant, set "Documents From" to Files',
	);
	expect(fixture.sandbox.requests.all).toEqual([]);
});
