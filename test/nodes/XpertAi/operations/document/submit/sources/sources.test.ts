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
					parserConfig: { chunkSize: 200, textSplitter: { chunkSize: 200 } },
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
			documentSettings: { documentKey: '7' },
		},
		input: { json: { title: 'a', mood: 'good' } },
		brings: [{ key: '7', record: { name: 'a' }, unusedColumns: ['mood'] }],
	},
	json: {
		parameters: {
			jsonBody: `[{"name":"a"},{"name":${BIG}}]`,
			documentSettings: { documentKeyField: 'name' },
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
		const uploaded = await open?.();
		found.push({ ...rest, ...(uploaded && { text: uploaded.content.toString() }) });
	}
	return found;
}

it.each([...Object.entries(CASES), ...MORE])(
	'an item is read as its documents: %s',
	async (source, one) => expect(await reading(source, one)).toEqual(one.brings),
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
async function readingFile(mimeType: string, file: Buffer | string, source = 'files', more = {}) {
	const input = { binary: { data: { mimeType, fileName: 'a.txt', data: '' } } };
	const parameters = { binaryPropertyName: 'data', ...more };
	return await reading(source, { parameters, input, file });
}

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

	it('is none when it wraps the list of the records', async () => {
		const wrapped = JSON.stringify({ total: 1, documents: [{ name: 'a' }] });
		await expect(readingFile('application/json', wrapped, 'records')).rejects.toThrow(
			'The file is one object whose list "documents" holds the records. Write that list alone into it',
		);
	});
});
