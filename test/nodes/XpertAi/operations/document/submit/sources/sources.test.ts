import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { submitFields } from '../../../../../../../nodes/XpertAi/operations/document/submit/fields';
import type { SourceValue } from '../../../../../../../nodes/XpertAi/operations/document/submit/sources';
import type { FoundDocument } from '../../../../../../../nodes/XpertAi/operations/document/submit/sources/sourceDocument';
import { readDocuments } from '../../../../../../../nodes/XpertAi/operations/document/submit/sources/readers';
import { itemOf } from '../../../../../support/context';
import { node } from '../../../../../support/node';

/** An item of a source, and what it brings. */
interface Case {
	parameters: INodeParameters;
	input?: Partial<INodeExecutionData>;
	/** What is in its binary field. */
	file?: Buffer | string;
	/** Its documents, with the text of those that have a file. */
	brings: Array<Omit<FoundDocument, 'file'> & { text?: string }>;
}

const BINARY = { mimeType: 'text/markdown', fileName: 'a.md', directory: '/manuals' };

/** A whole number that JavaScript would round. */
const BIG = '90071992547409931';

/** A case a source. */
const CASES: Record<SourceValue, Case> = {
	text: {
		parameters: { documentSettings: { name: 'a.pdf', chunkSize: 200 }, text: 'hello' },
		brings: [
			{
				key: 'a.pdf',
				record: {
					name: 'a.pdf.md',
					type: 'md',
					mimeType: 'text/markdown',
					size: 5,
					parserConfig: { chunkSize: 200, textSplitter: { chunkSize: 200, chunkOverlap: 40 } },
				},
				text: 'hello',
			},
		],
	},
	files: {
		parameters: { binaryPropertyName: 'data', documentSettings: { name: 'Bears' } },
		input: { binary: { data: { ...BINARY, data: '' } } },
		file: 'of the binary field',
		brings: [
			{
				key: '/manuals/a.md',
				record: { name: 'Bears.md', type: 'md', mimeType: 'text/markdown' },
				text: 'of the binary field',
			},
		],
	},
	addresses: {
		parameters: { url: 'https://example.com/files/a%20b.pdf' },
		brings: [
			{
				key: 'https://example.com/files/a%20b.pdf',
				record: { name: 'a b.pdf', fileUrl: 'https://example.com/files/a%20b.pdf' },
			},
		],
	},
	fields: {
		parameters: {
			documentFields: { mappingMode: 'autoMapInputData' },
			documentKey: '7',
		},
		input: { json: { title: 'a', mood: 'good' } },
		brings: [{ key: '7', record: { name: 'a' }, unusedColumns: ['mood'] }],
	},
	json: {
		parameters: {
			jsonBody: `[{"name":"a"},{"name":${BIG}}]`,
			documentKeyField: 'name',
		},
		brings: [
			{ key: 'a', record: { name: 'a' } },
			{ key: BIG, record: { name: BIG } },
		],
	},
	records: {
		parameters: { binaryPropertyName: 'data', textField: 'body' },
		input: { binary: { data: { ...BINARY, data: '' } } },
		file: '{"body":"hello"}\n',
		brings: [
			{
				record: { name: 'a.md, line 1.md', type: 'md', mimeType: 'text/markdown', size: 5 },
				text: 'hello',
			},
		],
	},
};

const TEXT: Case = {
	parameters: { documentFields: { mappingMode: 'autoMapInputData' } },
	input: { json: { text: 'hello' } },
	brings: [{ record: { pages: [{ pageContent: 'hello' }] }, unusedColumns: [] }],
};
const url = 'https://example.com/';
const record = { name: 'example.com', fileUrl: url };
const MORE: Array<[string, Case]> = [
	['addresses', { parameters: { url }, brings: [{ key: url, record }] }],
	['fields', TEXT],
];

/** What an item with these parameters brings, and the first flaw of its documents. */
async function reading(source: string, { parameters, input, file = '' }: Omit<Case, 'brings'>) {
	const methods = {
		getNode: () => ({ ...node, parameters }),
		getInputData: () => [{ json: {}, ...input }],
		helpers: { getBinaryDataBuffer: async () => Buffer.from(file) } as never,
	};
	const item = itemOf({ ...parameters, source }, { fields: submitFields, methods });
	const found: object[] = [];
	for await (const document of readDocuments(item)) {
		if (document instanceof Error) throw document;
		const { file: open, ...rest } = document;
		const { content, fields, hadNul } = (await open?.()) ?? {};
		found.push({ hadNul, ...rest, ...(content && { text: content.toString(), fields }) });
	}
	return found;
}

it.each([...Object.entries(CASES), ...MORE])(
	'an item is read as its documents: %s',
	async (source, one) => expect(await reading(source, one)).toMatchObject(one.brings),
);

it.each<[string, INodeParameters, string]>([
	['files', { binaryPropertyName: 'constructor' }, '"Input Binary Field" names "constructor"'],
	['files', { binaryPropertyName: '__proto__' }, '"Input Binary Field" names "__proto__"'],
	[
		'records',
		{ binaryPropertyName: 'data', textField: 'constructor.name' },
		'"Text Field" names "constructor.name", which holds no text here',
	],
	['files', { binaryPropertyName: 'other' }, '"Input Binary Field" names "other"'],
	['addresses', { url: ' ' }, '"Address" must be a web address'],
	['addresses', { url: 'manual.pdf' }, '"Address" must be a web address'],
	['addresses', { url: 'ftp://example.com/a' }, '"Address" must be a web address'],
])(
	'what is none of the %s of an item is refused, also what every object inherits: %j',
	async (source, parameters, words) => {
		const { input } = CASES.files;
		const file = '{"name":"a"}';
		await expect(reading(source, { parameters, input, file })).rejects.toThrow(words);
	},
);

/** A file of this type that an item holds in its memory. */
async function readingFile(
	mimeType: string,
	file: Buffer | string,
	source = 'files',
	{ fileName = 'a.txt', ...more }: { fileName?: string } & INodeParameters = {},
) {
	const input = { binary: { data: { mimeType, fileName, data: '' } } };
	const parameters = { binaryPropertyName: 'data', ...more };
	return await reading(source, { parameters, input, file });
}

describe('the first bytes of a file', () => {
	const PDF = 'application/pdf';
	const DOC = 'application/msword';
	const XLS = 'application/vnd.ms-excel';
	const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
	const OLD = Buffer.from('d0cf11e0a1b11ae1', 'hex');
	const BINARY_PDF = Buffer.from('mail \n%PDF-1.7\n%\xe2\xe3', 'latin1');

	it.each<[string, string, Buffer | string, string, string | undefined, object]>([
		['Contract.docx', PDF, '%PDF-1.7', 'Contract.docx.pdf', 'pdf', {}],
		['Contract.docx', DOCX, `${' '.repeat(1018)}%PDF-1.7`, 'Contract.docx.pdf', 'pdf', {}],
		['Contract.docx', DOCX, `${' '.repeat(1022)}%PDF-1.7`, 'Contract.docx', 'docx', {}],
		['Plan 2.md', 'text/markdown', BINARY_PDF, 'Plan 2.md.pdf', 'pdf', {}],
		['about.md', 'text/markdown', 'It begins with %PDF-', 'about.md', 'md', {}],
		['a.PDF', PDF, '%PDF-1.7', 'a.PDF', 'pdf', {}],
		['a.docx', DOCX, '%PDF-1.7', 'a.docx', 'docx', { type: 'docx' }],
		['a.docx', DOCX, '%PDF-1.7', 'a.docx', 'docx', { mimeType: DOCX }],
		['prices.xls', XLS, 'name\tprice', 'prices.xls.txt', 'txt', {}],
		['page.DOC', DOC, '<html>', 'page.DOC.html', 'html', {}],
		['a.bin', DOC, 'text', 'a.bin', undefined, {}],
		['prices.XLS', XLS, 'PK\x03\x04', 'prices.XLS.xlsx', 'txt', {}],
		['Plan.md', DOCX, 'PK\x03\x04', 'Plan.md.docx', 'docx', {}],
		['a.pptx', DOCX, 'PK\x03\x04', 'a.pptx', 'pptx', {}],
		['a.odt', 'application/vnd.oasis.opendocument.text', 'PK\x03\x04', 'a.odt', undefined, {}],
		['a.doc', DOC, OLD, 'a.doc', 'doc', { type: 'doc' }],
	])('of %s, %s, %s make it %s', async (fileName, mimeType, file, name, type, documentSettings) => {
		const more = { fileName, documentSettings } as INodeParameters;
		const [read] = await readingFile(mimeType, file, 'files', more);
		expect(read).toMatchObject({ key: fileName, fields: { name, type } });
	});

	it.each([
		['old.doc', DOC],
		['locked.docx', DOCX],
		['prices.csv', 'text/csv'],
	])('of an old Office format refuse it by name: %s', async (fileName, mimeType) => {
		const words = `whose file "${fileName}" is of an old Office format, or locked with a password`;
		await expect(readingFile(mimeType, OLD, 'files', { fileName })).rejects.toThrow(words);
	});
});

describe('U+0000', () => {
	it('is left out of a file in which it is rare, and refused elsewhere', async () => {
		const rare = `${'x'.repeat(1000)}\0`;
		expect(await readingFile('text/plain', rare)).toMatchObject([
			{ text: 'x'.repeat(1000), hadNul: true },
		]);
		await expect(readingFile('text/plain', rare.slice(1))).rejects.toThrow('is not text in UTF-8');
	});

	it.each<[string, INodeParameters, object]>([
		[
			'text',
			{ text: 'a\0b', documentSettings: { name: 'n\0', metadata: { 'k\0': ['v\0\0'] } } },
			{ key: 'n', text: 'ab', record: { name: 'n.md', size: 2, metadata: { k: ['v'] } } },
		],
		[
			'json',
			{
				jsonBody: '[{"name":"a\\u0000\\\\u0000"}]',
				documentKeyField: 'name',
			},
			{ key: 'a\\u0000', record: { name: 'a\\u0000' } },
		],
	])('is left out of a document of %s', async (source, parameters, expected) => {
		expect(await reading(source, { parameters })).toMatchObject([{ ...expected, hadNul: true }]);
	});
});

it('a file of text is read in the encoding of its MIME type, or refused by name', async () => {
	const latin = Buffer.from('Größe', 'latin1');
	const named = 'text/html; charset=windows-1252';
	expect(await readingFile(named, latin)).toMatchObject([{ text: 'Größe' }]);
	await expect(readingFile('text/plain', latin)).rejects.toThrow(
		'"Input Binary Field" names "data", whose file "a.txt" is not text in UTF-8. Save it as UTF-8, or',
	);
});

describe('a file that is one object', () => {
	const fileUrl = 'https://a.example/b.md';

	it.each([
		['with words', { name: 'a', tags: [{}, 'x'] }, {}],
		['with a text', { text: 'a', comments: [{ by: 'b' }] }, { textField: 'text' }],
		['with an address', { fileUrl, tags: [{}] }, {}],
		['with pages', { name: 'a', pages: [{ pageContent: 'x' }] }, {}],
	])('is one record: %s', async (_, value, more) => {
		const read = await readingFile('application/json', JSON.stringify(value), 'records', more);
		expect(read).toHaveLength(1);
	});

	it('is none when it wraps the list of the records, as in JSON', async () => {
		const wrapped = JSON.stringify({ total: 1, documents: [{ name: 'a' }] });
		const words = 'is one object whose list "documents" holds the documents: give that list alone';
		const inFile = readingFile('application/json', wrapped, 'records');
		await expect(inFile).rejects.toThrow(`The file ${words}`);
		const inJson = reading('json', { parameters: { jsonBody: wrapped } });
		await expect(inJson).rejects.toThrow(`"JSON Body" ${words}`);
	});

	it.each([{ id: 'a' }, { name: 'a' }, { documents: [{}] }, { x: [{}] }])(
		'is one document of JSON with %j beside its list',
		async (own) => {
			const jsonBody = JSON.stringify({ list: [{}], ...own });
			expect(await reading('json', { parameters: { jsonBody } })).toHaveLength(1);
		},
	);
});
