import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { SANDBOX_ASSISTANT_ID } from 'sandbox';
import { BY_NAME, column, hintsOf, useIngest } from './support/ingest';
import { byId } from './support/locators';
import { answering, ask, detailsOf, newThreads, says } from './support/runs';

const { fixture, add, sent, documents, submit, storedNames } = useIngest();

const TEXT = { source: 'text', name: '={{ $json.title }}', text: '={{ $json.text }}' };
const FILES = { source: 'files' };
const ADDRESSES = { source: 'addresses', url: '={{ $json.url }}' };
const WAIT = { afterStoring: 'wait' };

const texts = (...list: Array<[title: string, text: string]>): INodeExecutionData[] =>
	list.map(([title, text]) => ({ json: { title, text } }));
const uploads = () => sent('E16');

async function fileItem(name: string, mimeType: string, text: string): Promise<INodeExecutionData> {
	return {
		json: {},
		binary: { data: await fixture.engine.binary(Buffer.from(text), name, mimeType) },
	};
}

describe('files with nothing in them', () => {
	it.each([
		['no bytes', 'a.pdf', 'application/pdf', ''],
		['a byte order mark and blanks', 'a.csv', 'text/csv', '\ufeff \r\n\t '],
	])('are not uploaded: %s in %s', async (_, name, mimeType, text) => {
		const items = [
			await fileItem(name, mimeType, text),
			await fileItem('b.md', 'text/markdown', 'b'),
		];
		const { outputs } = await submit(FILES, { items, onError: 'continueErrorOutput' });
		expect(column(outputs[1], 'error')).toEqual([
			'"Input Binary Field" names "data", whose file "' +
				`${name}" is empty: nothing could be found in it [item 0]`,
		]);
		const description = 'Nothing was sent for this item. Correct the file, or leave it out.';
		expect(column(outputs[1], 'details')).toMatchObject([{ description }]);
		expect(column(outputs[0], 'name')).toEqual(['b.md']);
		expect(uploads()).toHaveLength(1);
	});
});

async function answerTo(question: string): Promise<unknown> {
	const [thread = ''] = await newThreads(fixture.sandbox, 1);
	const assistantId = byId(SANDBOX_ASSISTANT_ID);
	const { items } = await fixture.run(ask({ assistantId }), { items: [says(thread, question)] });
	return items[0]?.json.output;
}

describe('texts', () => {
	it('are uploaded, stored, processed and found', async () => {
		const items = texts(
			['Penguins', 'Penguins live in the south.'],
			['Otters', 'Otters swim well.'],
		);
		const result = await submit({ ...TEXT, ...WAIT }, { items });
		expect(result.error).toBeUndefined();
		expect(result.items.map(({ json }) => json)).toMatchObject([
			{ name: 'Penguins.md', key: 'Penguins', outcome: 'found', processing: 'finish' },
			{ name: 'Otters.md', key: 'Otters', outcome: 'found', processing: 'finish' },
		]);
		expect(documents()).toMatchObject([
			{ type: 'md', mimeType: 'text/markdown', size: 27, storageFileId: expect.any(String) },
			{ name: 'Otters.md', fileUrl: expect.stringContaining('/public/') },
		]);
		expect(await answerTo('Where do penguins live?')).toContain('Penguins live in the south.');
	});

	it.each<[string, INodeParameters, INodeExecutionData[]]>([
		['"Text" is empty: its expression gave only blanks for this item', {}, texts(['Empty', ' '])],
		['"Name" is empty: its expression gave nothing for this item', {}, texts(['', 'A text'])],
		['"Text" holds half of a character', {}, texts(['Name', 'cut \ud83d'])],
		['"Name" holds half of a character', { documentKey: 'k' }, texts(['cut \ud83d', 'A text'])],
		[
			'"Document Key" holds half of a character',
			{ documentKey: '={{ $json.title }}', name: 'A name' },
			texts(['cut \ud83d', 'A text']),
		],
		[
			'"Chunk Size" in "Document Settings" must be a number',
			{ documentSettings: { chunkSize: 'many' } },
			texts(['T', 'A text.']),
		],
		...[
			['"Chunk Size" in "Document Settings" must be more than 0', { chunkSize: 0 }],
			['"Chunk Overlap" in "Document Settings" must be from 0', { chunkOverlap: -5 }],
			['to less than the chunk size (1000)', { chunkOverlap: 1000 }],
			['to less than the chunk size (100)', { chunkSize: 100, chunkOverlap: 100 }],
		].map(([words, documentSettings]): [string, INodeParameters, INodeExecutionData[]] => [
			String(words),
			{ documentSettings },
			texts(['T', 'A text.']),
		]),
	])('are refused before anything is sent: %s', async (message, more, items) => {
		expect((await submit({ ...TEXT, ...more }, { items })).error?.message).toContain(message);
		expect(sent()).toEqual([]);
	});
});

describe('files', () => {
	it('are uploaded under their names and found; a table is sent as text', async () => {
		const items = [
			await fileItem('animals.md', 'text/markdown', '# Animals\n\nLions roar loudly.'),
			await fileItem('table.csv', 'text/csv', 'name,price\nDrum belt,12'),
		];
		const result = await submit({ ...FILES, ...WAIT }, { items });
		expect(column(result.items, 'processing')).toEqual(['finish', 'finish']);
		expect(documents()).toMatchObject([
			{ name: 'animals.md', type: 'md', mimeType: 'text/markdown', size: 29 },
			{ name: 'table.csv', type: 'txt', mimeType: 'text/plain' },
		]);
		expect(await answerTo('What do lions do?')).toContain('Lions roar loudly.');
	});
});

it('a file that is another than its name says is stored as what it is, under the same key', async () => {
	const items = [await fileItem('Contract.docx', 'application/pdf', '%PDF-1.7')];
	const run = async () => (await submit({ ...FILES, mode: 'changed' }, { items })).items[0]?.json;
	const key = 'Contract.docx';
	expect(await run()).toMatchObject({ key, name: 'Contract.docx.pdf', outcome: 'stored' });
	const fields = { name: 'Contract.docx.pdf', type: 'pdf', mimeType: 'application/pdf' };
	expect(documents()).toContainEqual(expect.objectContaining(fields));
	expect(await run()).toMatchObject({ key, outcome: 'unchanged' });
});

it('characters that no server can store are left out, which is said', async () => {
	const result = await submit(TEXT, { items: texts(['A', 'a\0b'], ['B\0', 'b'], ['C', 'c']) });
	expect(uploads().map(({ files: [file] = [] }) => String(file?.content))).toEqual([
		'ab',
		'b',
		'c',
	]);
	expect(hintsOf(result)).toContain(
		'Documents with characters that cannot be stored (U+0000): 2. They were left out.',
	);
});

describe('addresses', () => {
	it('are stored as they are, for the server to fetch', async () => {
		const [file] = texts(['Wolves', 'Wolves howl at night.']);
		await submit(TEXT, { items: file ? [file] : [] });
		const url = String(documents()[0]?.fileUrl);
		fixture.sandbox.requests.clear();
		const { items } = await submit({ ...ADDRESSES, ...WAIT }, { items: [{ json: { url } }] });
		expect(items[0]?.json).toMatchObject({ key: url, processing: 'finish' });
		expect(items[0]?.json.name).toBe(url.split('/').at(-1));
		expect(uploads()).toEqual([]);
	});

	it('are one document, and unchanged, however they are signed, also in a column', async () => {
		const run = async (parameters: INodeParameters, signature: string) => {
			const url = `https://a.example/b.pdf?v=1&X-Amz-Date=${signature}&X-Amz-Signature=${signature}`;
			const changed = { ...parameters, mode: 'changed', sourceName: String(parameters.source) };
			const { items } = await submit(changed, { items: [{ json: { url } }] });
			return items[0]?.json;
		};
		const columns = { ...BY_NAME, source: 'fields', documentKey: 'b' };
		for (const [parameters, key] of [
			[ADDRESSES, 'https://a.example/b.pdf?v=1'] as const,
			[columns, 'b'] as const,
		]) {
			expect(await run(parameters, '1')).toMatchObject({ key, outcome: 'stored' });
			expect(await run(parameters, '2')).toMatchObject({ key, outcome: 'unchanged' });
		}
	});

	it('that the server cannot fetch go to the error output, with what to do', async () => {
		const items = [{ json: { url: 'http://127.0.0.1:9/dead.md' } }];
		const { outputs } = await submit(
			{ ...ADDRESSES, ...WAIT },
			{ items, onError: 'continueErrorOutput' },
		);
		expect(outputs[1]?.[0]?.json.error).toContain('ECONNREFUSED');
		expect(detailsOf(outputs[1]?.[0])).toMatchObject({
			outcome: 'stored',
			processing: 'error',
			description: expect.stringContaining('could not fetch the file'),
		});
	});
});

describe('records with a Text Field', () => {
	it('have their text uploaded and taken out of the record', async () => {
		const lines = [
			{ name: 'One', body: { text: 'Foxes are red.' }, metadata: { n: 1 } },
			{ name: 'Two', body: { text: '' } },
		];
		const file = lines.map((line) => JSON.stringify(line)).join('\n');
		const { outputs } = await submit(
			{ source: 'records', textField: 'body.text', documentKeyField: 'name', ...WAIT },
			{
				items: [await fileItem('rows.ndjson', 'application/x-ndjson', file)],
				onError: 'continueErrorOutput',
			},
		);
		expect(outputs[0]?.[0]?.json).toMatchObject({ name: 'One.md', processing: 'finish' });
		expect(outputs[1]?.[0]?.json.error).toBe(
			'Line 2 of the file: "Text Field" names "body.text", which holds no text here',
		);
		expect(documents()).toMatchObject([{ name: 'One.md', metadata: { n: 1 } }]);
		expect(await answerTo('Which colour are foxes?')).toContain('Foxes are red.');
	});
});

describe('an upload', () => {
	const three = texts(['A', 'Text a.'], ['B', 'Text b.'], ['C', 'Text c.']);

	it.each([
		['uploaded', {}],
		['compared with what an earlier run stored', { mode: 'changed' }],
	])('of a file that n8n no longer has fails that item alone, when it is %s', async (_, more) => {
		const items = await Promise.all(
			['one.md', 'gone.md', 'two.md'].map(
				async (name) => await fileItem(name, 'text/markdown', `This is ${name}.`),
			),
		);
		const [, { binary } = {}] = items;
		if (binary?.data) binary.data.id = 'filesystem-v2:workflows/w/executions/e/binary_data/gone';
		const { outputs } = await submit(
			{ ...FILES, ...WAIT, ...more },
			{ items, onError: 'continueErrorOutput' },
		);
		expect(column(outputs[0], 'name')).toEqual(['one.md', 'two.md']);
		expect(outputs[1]).toMatchObject([
			{
				json: {
					error: expect.stringMatching(/whose file "gone.md" is no longer in n8n .*\[item 1\]/),
					details: { outcome: 'rejected' },
				},
			},
		]);
		expect(storedNames()).toEqual(['one.md', 'two.md']);
	});

	it('on a server without uploads says so, and what to do instead', async () => {
		add(
			answering('E16', 404, { body: { statusCode: 404, message: 'Cannot POST /api/ai/v1/file' } }),
		);
		const { error } = await submit(TEXT, { items: three });
		expect(error?.message).toContain(
			'it has no route for uploads. If the Base URL of the credential is right, set "Documents From" to Fields',
		);
	});
});

it('a file is unchanged as long as its bytes and its settings are, in NFC and in NFD', async () => {
	const run = async (documentSettings = {}, name = '\u00c4.md') => {
		const items = [await fileItem(name, 'text/markdown', 'The same.')];
		const changed = { ...FILES, mode: 'changed', documentSettings };
		return column((await submit(changed, { items })).items, 'outcome');
	};
	expect([await run(), await run({}, 'A\u0308.md'), await run({ chunkSize: 100 })]).toEqual([
		['stored'],
		['unchanged'],
		['stored'],
	]);
	expect(uploads()).toHaveLength(2);
});
