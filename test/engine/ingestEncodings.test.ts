import type { IBinaryData, INodeExecutionData } from 'n8n-workflow';

import { workbook } from '../sandbox/support/recordedFiles';
import { useFixture } from './support/fixture';
import { column, embedsDocuments, hintsOf, ingestOn } from './support/ingest';

const fixture = useFixture();
const { submit, storedNames } = ingestOn(fixture);
embedsDocuments(fixture);

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
const documents = () => fixture.sandbox.store.documentsOf(fixture.world.knowledgebaseId);
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

describe('a file of text', () => {
	const encodings: Array<[string, string, string, Buffer]> = [
		['UTF-8', 'a.txt', 'text/plain', Buffer.from(TEXT)],
		['UTF-8 with a mark', 'a.csv', 'text/csv', Buffer.from(`\ufeff${TEXT}`)],
		['UTF-16 little endian', 'a.md', 'text/markdown', utf16(TEXT)],
		['UTF-16 big endian', 'a.tsv', 'text/tab-separated-values', utf16(TEXT).swap16()],
		['UTF-16, said to be UTF-8', 'a.json', 'application/json; charset=utf-8', utf16(TEXT)],
		['Windows-1252', 'a.html', 'text/html; charset=windows-1252', CP1252],
		[
			'Windows-1252, in quotes',
			'a.txt',
			'text/plain; format=flowed; charset="Windows-1252"',
			CP1252,
		],
		['an XML of Windows-1252', 'a.xml', 'application/xml;charset=cp1252', CP1252],
		[
			'GB18030',
			'a.txt',
			'text/plain; charset=gb18030',
			Buffer.from('b6ccceb2b0abb4fcca f3'.replace(' ', ''), 'hex'),
		],
	];
	const kept: Kept[] = ['on disk', 'in memory'];

	it.each(kept.flatMap((place) => encodings.map((one) => [...one, place] as const)))(
		'arrives in UTF-8 and is found: %s, %s, %s',
		async (encoding, name, mimeType, content, place) => {
			const items = [await fileItem(name, mimeType, content, place)];
			const result = await submit(FILES, { items });
			expect(result.error).toBeUndefined();
			expect(column(result.items, 'outcome')).toEqual(['found']);
			const text = encoding === 'GB18030' ? '短尾矮袋鼠' : TEXT;
			expect(uploads().map((file) => file.content?.toString())).toEqual([text]);
			expect(passages()).toEqual([text]);
			expect(String(documents()[0]?.mimeType)).not.toContain('charset');
		},
	);

	it('may be large: it arrives whole in UTF-8', async () => {
		const text = `${TEXT}\n`.repeat(60_000);
		const items = [await fileItem('a.txt', 'text/plain', utf16(text))];
		const { items: out } = await submit({ ...FILES, afterStoring: 'nothing' }, { items });
		expect(column(out, 'outcome')).toEqual(['stored']);
		expect(uploads()[0]?.size).toBe(Buffer.byteLength(text));
		expect(uploads()[0]?.content?.equals(Buffer.from(text)) ?? true).toBe(true);
	});

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

	it.each<[string, string, Buffer, string]>([
		['Windows-1252 that nobody names', 'text/plain', CP1252, 'UTF-8'],
		['UTF-16 without a mark', 'text/plain', utf16(TEXT).subarray(2), 'UTF-8'],
		['UTF-16 that is cut off', 'text/plain', utf16(TEXT).subarray(0, 7), 'UTF-16LE'],
		['another encoding than is named', 'text/plain; charset=utf-8', CP1252, 'UTF-8'],
		['an encoding nobody knows', 'text/plain; charset=klingon', CP1252, 'KLINGON'],
	])('is refused by name, with the cure: %s', async (_, mimeType, content, encoding) => {
		const items = [
			await fileItem('bad.txt', mimeType, content),
			await fileItem('good.txt', 'text/plain', Buffer.from('good')),
		];
		const { outputs } = await submit(FILES, { items, onError: 'continueErrorOutput' });
		expect(column(outputs[1], 'error')).toEqual([
			`"Input Binary Field" names "data", whose file "bad.txt" is not text in ${encoding}. Save it as UTF-8, or name its encoding in its MIME type, as in text/plain; charset=windows-1252 [item 0]`,
		]);
		expect(column(outputs[0], 'name')).toEqual(['good.txt']);
		expect(uploads()).toHaveLength(1);
	});
});

describe('a file of no text', () => {
	it('arrives as it is', async () => {
		const content = Buffer.concat([Buffer.from('%PDF-1.4'), CP1252, Buffer.of(0, 1, 2)]);
		const items = [await fileItem('a.pdf', 'application/pdf; charset=utf-16', content)];
		await submit({ ...FILES, afterStoring: 'nothing' }, { items });
		expect(uploads().map((file) => file.content?.equals(content))).toEqual([true]);
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
		[
			'lines in Windows-1252',
			'application/x-ndjson; charset=windows-1252',
			Buffer.concat([
				Buffer.from('{"id": 1161888007138312192, "text": "'),
				CP1252,
				Buffer.from(`"}\n${lines[1] ?? ''}`),
			]),
		],
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

	it('that is no UTF-8 is one item, with the cure', async () => {
		const items = [await fileItem('rows.jsonl', 'application/x-ndjson', CP1252)];
		const { outputs } = await submit(RECORDS, { items, onError: 'continueErrorOutput' });
		expect(column(outputs[1], 'error')).toEqual([
			expect.stringContaining('whose file "rows.jsonl" is not text in UTF-8. Save it as UTF-8'),
		]);
	});

	it('that is one value of 32,004 lines is read, or is one error item', async () => {
		const rows = Array.from({ length: 8000 }, (_, n) => ({ id: n, text: `t${n}` }));
		const run = async (value: unknown, text = JSON.stringify(value, null, 1)) =>
			await submit(
				{ ...RECORDS, afterStoring: 'nothing' },
				{
					items: [await fileItem('rows.json', 'application/json', Buffer.from(text))],
					onError: 'continueErrorOutput',
				},
			);
		const wrapped = await run({ total: 8000, documents: rows });
		expect(column(wrapped.outputs[1], 'error')).toEqual([
			'The file is one object whose list "documents" holds the records. Write that list alone into it',
		]);
		const broken = await run(undefined, JSON.stringify(rows, null, 1).slice(0, -1));
		expect(column(broken.outputs[1], 'error')).toEqual([
			expect.stringMatching(/^The file is neither JSON lines nor one JSON array or object/),
		]);
		expect(uploads()).toEqual([]);
		expect(column((await run(rows.slice(0, 20))).items, 'outcome')).toHaveLength(20);
	});

	it.each([
		['with words', '{"id": "a", "name": "a", "tags": [{}, "x"]}', { source: 'records' }],
		['with a text', '{\n "id": 1,\n "text": "a",\n "comments": [{"by": "b"}]\n}', RECORDS],
		[
			'with an address',
			'{"id": "a", "fileUrl": "https://a.example/b.md", "tags": [{}]}',
			{ source: 'records' },
		],
		[
			'with pages',
			'{"id": "a", "name": "a", "pages": [{"pageContent": "x"}]}',
			{ source: 'records' },
		],
	])('that is one object is one record: %s', async (_, text, parameters) => {
		const items = [await fileItem('one.json', 'application/json', Buffer.from(text))];
		const keyed = { ...parameters, documentKeyField: 'id', afterStoring: 'nothing' };
		const { items: out, error } = await submit(keyed, { items });
		expect(error).toBeUndefined();
		expect(column(out, 'outcome')).toEqual(['stored']);
	});

	it('names the file in records without a name', async () => {
		const items = [
			await fileItem('one.jsonl', 'application/x-ndjson', Buffer.from('{"id": 1, "text": "a"}')),
			await fileItem('two.json', 'application/json', Buffer.from('[{"id": 2, "text": "b"}]')),
		];
		await submit({ ...RECORDS, afterStoring: 'nothing' }, { items });
		expect(storedNames()).toEqual(['one.jsonl, line 1.md', 'two.json, record 1.md']);
	});
});

describe('a whole number that JavaScript would round', () => {
	const IDS = ['1161888007138312192', '1161888007138312193'];

	it('in a JSON body keeps its digits, as key and in metadata', async () => {
		const body = IDS.map(
			(id) => `{"id": ${id}, "name": "a", "metadata": {"row": ${id}, "n": 1.5}}`,
		);
		const parameters = { source: 'json', documentKeyField: 'id', afterStoring: 'nothing' };
		const { items } = await submit({ ...parameters, jsonBody: `[${body.join(',')}]` });
		expect(column(items, 'key')).toEqual(IDS);
		expect(documents().map(({ metadata }) => metadata)).toEqual(
			IDS.map((row) => ({ row, n: 1.5 })),
		);
	});

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

	it.each<[string, string | undefined, { type?: string }]>([
		['prices.xlsx', XLSX, {}],
		['PRICES.XLSX', undefined, {}],
		['prices', XLSX, {}],
		['prices.xlsx', XLSX, { type: 'xlsx' }],
		['prices', 'application/octet-stream', { type: 'xlsx' }],
	])('is found row by row: %s, %s, %j', async (name, mimeType, documentSettings) => {
		const items = [await fileItem(name, mimeType, book, 'in memory')];
		const result = await submit({ ...FILES, documentSettings: { ...documentSettings } }, { items });
		expect(column(result.items, 'outcome')).toEqual(['found']);
		expect(documents()).toMatchObject([{ type: 'txt', name: expect.stringMatching(/\.xlsx$/i) }]);
		expect(passages()).toEqual(['{"Animal":"Quokka","Price":10.5}']);
		expect(hintsOf(result)).toContain('1 table is sent as text: servers cannot read sheets.');
	});

	it.each([
		['broken.xlsx', XLSX, /"data", whose file is no \.xlsx workbook inside/],
		[
			'old.xls',
			'application/vnd.ms-excel',
			/whose file is of the old \.xls format.* Save it as \.xlsx/,
		],
		['old', 'application/vnd.ms-excel', /whose file is of the old \.xls format/],
	])('that nothing could be found in is refused: %s', async (name, mimeType, words) => {
		const items = [
			await fileItem(name, mimeType, Buffer.from('Price, no zip at all')),
			await fileItem('good.xlsx', XLSX, book),
		];
		const { outputs } = await submit(FILES, { items, onError: 'continueErrorOutput' });
		expect(column(outputs[1], 'error')).toEqual([expect.stringMatching(words)]);
		expect(column(outputs[0], 'name')).toEqual(['good.xlsx']);
		expect(uploads()).toHaveLength(1);
	});

	it('gives its name to no text: what is called report.xlsx or .pdf and is text is read as text', async () => {
		const items = ['report.xlsx', 'report.pdf'].map((title) => ({
			json: { title, text: `Of ${title}` },
		}));
		const text = {
			source: 'text',
			name: '={{ $json.title }}',
			text: '={{ $json.text }}',
			afterStoring: 'wait',
		};
		const { items: out } = await submit(text, { items });
		expect(column(out, 'outcome')).toEqual(['found', 'found']);
		expect(column(out, 'key')).toEqual(['report.xlsx', 'report.pdf']);
		expect(passages().sort()).toEqual(['Of report.pdf', 'Of report.xlsx']);
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

	it('and without content is refused in words', async () => {
		const items = [{ json: {}, binary: { data: { fileName: 'a.txt' } as IBinaryData } }];
		const { error } = await fixture.run({ resource: 'file', operation: 'create' }, { items });
		expect(error?.message).toMatch(
			/^"Input Binary Field" names "data", whose file n8n no longer has/,
		);
	});
});

describe('items that hold files', () => {
	it('with Documents From left at Text say so', async () => {
		const items = [await fileItem('a.pdf', 'application/pdf', Buffer.from('%PDF-'))];
		const { error } = await submit(
			{ source: 'text', name: 'a', text: '={{ $json.text }}' },
			{ items },
		);
		expect(error?.message).toContain('The items hold files: set Documents From to Files');
		expect(fixture.sandbox.requests.all).toEqual([]);
	});
});
