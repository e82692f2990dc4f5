import { DateTime } from 'luxon';
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { keyIfGiven } from 'nodes/XpertAi/execution/identityFields';
import { Item } from 'nodes/XpertAi/execution/item';
import { type DocumentsFrom, submitFields } from 'nodes/XpertAi/operations/document/submit/fields';
import { mapColumns } from 'nodes/XpertAi/operations/document/submit/sources/columns';
import type { InputDocument } from 'nodes/XpertAi/operations/document/submit/sources/inputDocument';
import { readDocuments } from 'nodes/XpertAi/operations/document/submit/sources/readDocuments';
import { derivedId } from 'nodes/XpertAi/payloads/ids';
import type { DocumentRecord } from 'nodes/XpertAi/payloads/document';
import { itemOf, unconnected } from 'test/nodes/support/context';
import { node } from 'test/nodes/support/node';
import { thrownBy } from 'test/nodes/support/thrown';

/** A mapping that leaves out what is empty. */
interface Mapped {
	fields?: IDataObject;
	textColumn?: string;
	unused?: string[];
}

describe('columns', () => {
	it.each<[string, IDataObject, Mapped]>([
		[
			'with names of the contract are its fields, null included, empty ones left out',
			{ name: 'a', folder: null, size: '12', type: '', filePath: '/a.md' },
			{ fields: { name: 'a', folder: null, size: '12', filePath: '/a.md' } },
		],
		[
			'with names of the contract come before all others, whatever their order',
			{ title: 'T', url: 'https://a.example/1', name: 'N', fileUrl: 'https://b.example' },
			{ fields: { name: 'N', fileUrl: 'https://b.example' }, unused: ['title', 'url'] },
		],
		[
			'with usual names are taken best first; the others match nothing',
			{ path: '/a/b.md', title: 'B', body: 'x', text: 'y' },
			{ fields: { name: 'B' }, textColumn: 'text', unused: ['path', 'body'] },
		],
		[
			// Servers look for a file path on their own disk.
			'called path are the name, never the file path',
			{ path: '/a/b.md' },
			{ fields: { name: '/a/b.md' } },
		],
		['that are empty are no matter', { mood: ' ', score: null, title: null }, {}],
		['give way where they are null', { name: null, title: 'T' }, { fields: { name: 'T' } }],
		[
			'give way where they are blank',
			{ name: '  ', title: 'T', fileUrl: ' ', url: 'http://a', text: '\n', body: 'x' },
			{ fields: { name: 'T', fileUrl: 'http://a' }, textColumn: 'body' },
		],
		[
			'give way where they do not fit',
			{ Title: null, title: 'T', address: '5 High Street', link: 'http://a', bytes: '1 kB' },
			{ fields: { name: 'T', fileUrl: 'http://a' }, unused: ['address', 'bytes'] },
		],
	])('%s', (_, given, { fields = {}, textColumn, unused = [] }) => {
		const mapped = mapColumns(given);
		expect(mapped).toStrictEqual({ columns: given, fields, textColumn, unused });
	});

	it.each<[string, string, unknown]>([
		['Title', 'name', 'a'],
		['file_name', 'name', 'a.md'],
		['URL', 'fileUrl', 'https://a.example/1'],
		['link', 'fileUrl', 'http://a.example/1'],
		['file_url', 'fileUrl', 'https://a.example/1'],
		['File Path', 'filePath', '/a.md'],
		['storage_file_id', 'storageFileId', '2f78e81b-096f-42ff-8ac0-8403fd81392d'],
		['Mime-Type', 'mimeType', 'text/plain'],
		['content type', 'mimeType', 'text/plain'],
		['Type', 'type', 'md'],
		['file_size', 'size', 5],
		['bytes', 'size', '5'],
		['Meta', 'metadata', { a: 1 }],
	])('called %s are %s', (name, field, column) => {
		const mapped = mapColumns({ [name]: column } as IDataObject);
		expect(mapped).toMatchObject({ fields: { [field]: column }, unused: [] });
	});

	it.each(['Text', 'content', 'body', 'markdown', 'page_content'])(
		'called %s are the text',
		(name) => {
			const mapped = mapColumns({ [name]: 'hello' });
			expect(mapped).toMatchObject({ fields: {}, unused: [], textColumn: name });
		},
	);

	it.each<[string, string, unknown]>([
		['an address of a house', 'address', '5 High Street'],
		['an address that is a number', 'url', 5],
		['a file that is an object', 'file', { a: 1 }],
		['a text that is a list', 'body', ['x']],
		['a size with its unit', 'bytes', '12 kB'],
		['metadata that are a text', 'Metadata', 'abc'],
		['a file ID that is no UUID', 'storage_file_id', 'abc'],
		// These may be the row's own.
		...['ID', 'created_at', 'updatedat', 'Status', 'mood', 'constructor'].map(
			(name): [string, string, unknown] => [name, name, 'x'],
		),
	])('match nothing: %s', (_, name, column) => {
		const mapped = mapColumns({ [name]: column } as IDataObject);
		expect(mapped).toMatchObject({ fields: {}, unused: [name] });
	});
});

const KNOWLEDGEBASE = '7b0e6c1a-3f52-4f7e-9a44-1d2c3b4a5f60';
const ID = '2f78e81b-096f-42ff-8ac0-8403fd81392d';

/** Identifies a document on a node with these parameters; expressions are given as typed as well. */
function identify(
	document: DocumentRecord,
	parameters: Record<string, unknown>,
	fromFields = false,
	asTyped: Record<string, unknown> = {},
): DocumentRecord {
	const typed = { ...parameters, ...asTyped } as INodeParameters;
	const getNode = () => ({ ...node, parameters: typed });
	const source = { source: 'json', jsonBody: document };
	const item = itemOf({ ...parameters, ...source }, { fields: submitFields, methods: { getNode } });
	const documents = fromFields ? [] : (readDocuments(item) as InputDocument[]);
	const key = fromFields ? keyIfGiven(item, 'documentKey') : documents[0]?.key;
	return key === undefined ? document : { ...document, id: derivedId(KNOWLEDGEBASE, key) };
}

describe('ids derived from a key', () => {
	const withKeyField = (documentKeyField: string) => ({ documentKeyField });

	it('may come from a field within the document, and from a number', () => {
		const document = { metadata: { source: { row: 7 } } };
		expect(identify(document, withKeyField('metadata.source.row')).id).toBe(
			derivedId(KNOWLEDGEBASE, '7'),
		);
	});

	it.each([
		['no value', undefined],
		['an empty text', ''],
		['blanks', ' '],
		['an empty expression', '='],
	])('need a key: documents keep their own id with %s', (_, key) => {
		const parameters = { documentKeyField: key, documentKey: key };
		expect(identify({ id: ID }, parameters)).toEqual({ id: ID });
		expect(identify({ name: 'a' }, parameters, true)).toEqual({ name: 'a' });
	});

	it('take a number for the ID that they replace, and for no other', () => {
		const document = { id: 7, path: 'a' } as unknown as DocumentRecord;
		expect(identify(document, withKeyField('path')).id).toBe(derivedId(KNOWLEDGEBASE, 'a'));
		expect(thrownBy(() => identify(document, {})).message).toBe(
			'"JSON Body" at id must be text, but is 7',
		);
	});

	it.each([
		['no value', undefined],
		['null', null],
		['an empty text', ''],
		['blanks', '  '],
		['an object', {}],
		['a boolean', true],
	])('are not made of %s', (_, path) => {
		const document = { path } as DocumentRecord;
		expect(thrownBy(() => identify(document, withKeyField('path'))).message).toBe(
			'JSON Body: "Key Field" names "path", which this document does not have',
		);
	});

	it.each(['constructor.name', 'toString.name', '__proto__'])(
		'are not made of what every object inherits: %s',
		(path) => {
			expect(thrownBy(() => identify({ name: 'a' }, withKeyField(path))).message).toBe(
				`JSON Body: "Key Field" names "${path}", which this document does not have`,
			);
		},
	);

	it('may come from a date, and say so of what is no text', () => {
		const withKey = (key: unknown) => {
			const parameters = { documentKey: '={{ $json.key }}' };
			const json = { key } as IDataObject;
			return keyIfGiven(itemOf(parameters, { fields: submitFields, json }), 'documentKey');
		};
		const date = DateTime.fromISO('2026-01-31T08:00:00Z', { zone: 'utc' });
		expect(withKey(date)).toBe('2026-01-31T08:00:00.000Z');
		expect(thrownBy(() => withKey({ a: 1 })).message).toBe(
			'"Document Key" must be text, but is {"a":1}',
		);
	});

	it('are not made of an expression that came out empty', () => {
		const empty = { documentKey: '' };
		const typed = { documentKey: '={{ $json.path }}' };
		expect(thrownBy(() => identify({ name: 'a' }, empty, true, typed)).message).toBe(
			'"Document Key" is empty: its expression gave nothing for this item',
		);
	});
});

/** The item of a node with these parameters. */
function itemWith(parameters: Record<string, unknown>, json: IDataObject = {}): Item {
	const getInputData = () => [{ json }];
	const getNode = () => ({ ...node, parameters: parameters as INodeParameters });
	const fields = { fields: submitFields, methods: { getInputData, getNode } };
	return itemOf({ source: 'fields', ...parameters }, fields);
}

const documentFromFields = (item: Item) => (readDocuments(item) as InputDocument[])[0]?.record;
const byHand = (value: unknown) =>
	documentFromFields(itemWith({ documentFields: { mappingMode: 'defineBelow', value } }));
const byColumn = (json: IDataObject) =>
	documentFromFields(itemWith({ documentFields: { mappingMode: 'autoMapInputData' } }, json));

describe('documents mapped by hand', () => {
	it('hold what was filled in, and nothing that was left empty', () => {
		expect(byHand({ name: 'a', type: '', size: null, disabled: false, tokenNum: 0 })).toEqual({
			name: 'a',
			disabled: false,
			tokenNum: 0,
		});
	});

	it.each([
		['null', null],
		['no value', undefined],
		['an object', {}],
	])('may not be empty: %s', (_, value) =>
		expect(thrownBy(() => byHand(value)).message).toBe(
			'"Document Fields" must give the document a name, a text, a page, a chunk, a file ID or an address',
		),
	);

	it('may say only that a stored document is disabled, where they name it', () => {
		const value = { disabled: true };
		const documentFields = { mappingMode: 'defineBelow', value };
		const keyed = itemWith({ documentFields, documentKey: 'a' });
		expect(documentFromFields(keyed)).toEqual({ disabled: true });
		expect(byHand({ ...value, id: ID })).toEqual({ disabled: true, id: ID });
		expect(thrownBy(() => byHand(value)).message).toMatch(/^"Document Fields" must give/);
	});

	it('take objects and lists as JSON text too', () => {
		const document = { metadata: '{"k":1}', pages: '[{"pageContent":"x"}]', parserConfig: {} };
		expect(byHand(document)).toEqual({
			metadata: { k: 1 },
			pages: [{ pageContent: 'x' }],
			parserConfig: {},
		});
	});

	it('may have the usual names, with their own values, where the editor did not write them', () => {
		expect(byHand({ title: 'a', content: 'hello' })).toEqual({
			name: 'a',
			pages: [{ pageContent: 'hello' }],
		});
	});
});

describe('documents mapped from columns', () => {
	it('hold a text once: pages and chunks come before a column', () => {
		const pages = [{ pageContent: 'p' }];
		const json = { pages, content: 'hello', mood: 'good', disabled: true };
		const parameters = { documentFields: { mappingMode: 'autoMapInputData' } };
		const [found] = readDocuments(itemWith(parameters, json)) as InputDocument[];
		expect(found?.record).toEqual({ pages });
		expect(found?.unusedColumns).toEqual(['mood', 'disabled', 'content']);
	});

	it('take the dates of a database as ISO 8601', () => {
		// Database nodes emit Date objects, which the type of an item does not show.
		const createdAt = new Date('2026-01-31T08:00:00Z') as unknown as string;
		expect(byColumn({ name: 'a', createdAt })).toEqual({
			name: 'a',
			createdAt: '2026-01-31T08:00:00.000Z',
		});
	});

	it('take numbers and switches a file holds as text, and codes a table holds as numbers', () => {
		const row = {
			name: 2024,
			size: '12',
			disabled: 'true',
			processDuation: ' 1.5 ',
			folder: '',
			type: '',
		};
		expect(byColumn(row)).toEqual({
			name: '2024',
			size: 12,
			processDuation: 1.5,
			// It is in none, and taken out of the one it was in.
			folder: '',
		});
	});

	it('are never guessed to hold an ID', () => {
		expect(thrownBy(() => byColumn({ id: 5 })).message).toBe('"ID (UUID)" must be text, but is 5');
	});

	it('name a column that is wrong', () => {
		expect(thrownBy(() => byColumn({ size: '5 MB' })).message).toBe(
			'"Size" must be a number, but is "5 MB"',
		);
		expect(thrownBy(() => byColumn({ metadata: '{' })).message).toMatch(/^"Metadata" must be JSON/);
	});
});

describe('the mapper', () => {
	/** What is asked of n8n for one item. */
	function asked(documentFields: unknown): string[] {
		const item = itemWith({ documentFields }, { name: 'a' });
		const names: string[] = [];
		const resolve = item.context.getNodeParameter.bind(item.context) as (name: string) => unknown;
		const getNodeParameter = ((name: string) => {
			names.push(name);
			return resolve(name);
		}) as typeof item.context.getNodeParameter;
		const context = Object.create(item.context, { getNodeParameter: { value: getNodeParameter } });
		documentFromFields(new Item(context as typeof item.context, 0, submitFields, unconnected));
		return names.filter((name) => name.startsWith('documentFields'));
	}

	it('is asked for its values alone, and for nothing where columns are mapped by their names', () => {
		const schema = [{ id: 'name' }];
		const value = { name: 'a' };
		expect(asked({ mappingMode: 'defineBelow', value, schema })).toEqual(['documentFields.value']);
		expect(asked({ mappingMode: 'autoMapInputData', value, schema })).toEqual([]);
	});
});

/** An item of a source, and what it brings. */
interface Case {
	parameters: INodeParameters;
	input?: Partial<INodeExecutionData>;
	/** What is in its binary field. */
	file?: Buffer | string;
	/** Its documents, with the text of those that have a file. */
	brings: Array<Omit<InputDocument, 'readFile'> & { text?: string }>;
}

const BINARY = { mimeType: 'text/markdown', fileName: 'a.md', directory: '/manuals' };

/** A whole number that JavaScript would round. */
const BIG = '90071992547409931';

/** A case a source. */
const CASES: Record<DocumentsFrom, Case> = {
	text: {
		parameters: { name: 'a.pdf', documentSettings: { chunkSize: 200 }, text: 'hello' },
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
		parameters: { binaryPropertyName: 'data', name: 'Bears' },
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
		brings: [{ key: '7', record: { name: 'a' } }],
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
	brings: [{ record: { pages: [{ pageContent: 'hello' }] } }],
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
	const documents = readDocuments(item);
	for await (const group of Array.isArray(documents) ? [documents] : documents)
		for (const document of group) {
			if (document instanceof Error) throw document;
			const { readFile: open, ...rest } = document;
			const { content, recordFields, hadNul } = (await open?.()) ?? {};
			found.push({
				hadNul,
				...rest,
				...(content && { text: content.toString(), fields: recordFields }),
			});
		}
	return found;
}

it.each([2 ** 18, 2 ** 18 + 1])('a text file of %i bytes is uploaded whole', async (size) => {
	const methods = {
		getInputData: () => [{ json: {}, binary: { data: { ...BINARY, data: '' } } }],
		helpers: { getBinaryDataBuffer: async () => Buffer.alloc(size, 'a') } as never,
	};
	const item = itemOf(
		{ source: 'files', binaryPropertyName: 'data' },
		{ fields: submitFields, methods },
	);
	const [found] = readDocuments(item) as InputDocument[];
	const { content = Buffer.alloc(0) } = (await found?.readFile?.()) ?? {};
	const pieces: Uint8Array[] = [];
	for await (const piece of Buffer.isBuffer(content) ? [content] : content.open())
		pieces.push(piece);
	expect([Buffer.isBuffer(content), Buffer.concat(pieces).length]).toEqual([
		size === 2 ** 18,
		size,
	]);
});

it.each(['text/plain;charset=utf-8', 'text/plain; Charset=x'])(
	'a type such as %s is sent without its charset',
	async (mimeType) => {
		const parameters = { name: 'a.txt', documentSettings: { mimeType }, text: 'hello' };
		const [found] = await reading('text', { parameters });
		expect(found).toMatchObject({ record: { mimeType: 'text/plain' } });
	},
);

it.each([...Object.entries(CASES), ...MORE])(
	'an item is read as its documents: %s',
	async (source, one) => expect(await reading(source, one)).toMatchObject(one.brings),
);

it('documents of JSON have the dates of other nodes as text: in fields, keys and versions', async () => {
	// Database nodes emit Date objects, which the type of an item does not show.
	const [createdAt, updatedAt, day] = [0, 1, 2].map((at) => new Date(at) as unknown as string);
	const jsonBody = [{ name: 'a', createdAt, metadata: { updatedAt }, pages: [{ createdAt: day }] }];
	const documentSettings = { documentVersionField: 'metadata.updatedAt' };
	const parameters = { jsonBody, documentKeyField: 'createdAt', documentSettings };
	const [found] = await reading('json', { parameters: parameters as unknown as INodeParameters });
	expect(found).toMatchObject({
		key: '1970-01-01T00:00:00.000Z',
		version: '1970-01-01T00:00:00.001Z',
		record: {
			createdAt: '1970-01-01T00:00:00.000Z',
			pages: [{ createdAt: '1970-01-01T00:00:00.002Z' }],
		},
	});
});

it('columns of lists and objects have their dates as text', () => {
	const pages = [{ pageContent: 'a', createdAt: new Date(0) }] as unknown as IDataObject[];
	expect(byColumn({ pages })).toEqual({
		pages: [{ pageContent: 'a', createdAt: '1970-01-01T00:00:00.000Z' }],
	});
});

it.each<[string, string, INodeParameters, string]>([
	[
		'a binary field that every object inherits',
		'files',
		{ binaryPropertyName: 'constructor' },
		'"Input Binary Field" names "constructor"',
	],
	[
		'a binary field called as a prototype',
		'files',
		{ binaryPropertyName: '__proto__' },
		'"Input Binary Field" names "__proto__"',
	],
	[
		'a text that every object inherits',
		'records',
		{ binaryPropertyName: 'data', textField: 'constructor.name' },
		'"Text Field" names "constructor.name", which holds no text here',
	],
	[
		'a binary field',
		'files',
		{ binaryPropertyName: 'other' },
		'"Input Binary Field" names "other"',
	],
	['an empty address', 'addresses', { url: ' ' }, '"Address" must be a web address'],
	[
		'an address that is a name',
		'addresses',
		{ url: 'manual.pdf' },
		'"Address" must be a web address',
	],
	[
		'an address of another scheme',
		'addresses',
		{ url: 'ftp://example.com/a' },
		'"Address" must be a web address',
	],
])('what an item does not have is refused: %s', async (_, source, parameters, words) => {
	const { input } = CASES.files;
	const file = '{"name":"a"}';
	await expect(reading(source, { parameters, input, file })).rejects.toThrow(words);
});

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

	it.each<[string, string, string, Buffer | string, string | undefined, object]>([
		['Contract.docx', PDF, 'Contract.docx.pdf', '%PDF-1.7', 'pdf', {}],
		['Contract.docx', DOCX, 'Contract.docx.pdf', `${' '.repeat(1018)}%PDF-1.7`, 'pdf', {}],
		['Contract.docx', DOCX, 'Contract.docx', `${' '.repeat(1022)}%PDF-1.7`, 'docx', {}],
		['Plan 2.md', 'text/markdown', 'Plan 2.md.pdf', BINARY_PDF, 'pdf', {}],
		['about.md', 'text/markdown', 'about.md', 'It begins with %PDF-', 'md', {}],
		['a.PDF', PDF, 'a.PDF', '%PDF-1.7', 'pdf', {}],
		['a.docx', DOCX, 'a.docx', '%PDF-1.7', 'docx', { type: 'docx' }],
		['a.docx', DOCX, 'a.docx', '%PDF-1.7', 'docx', { mimeType: DOCX }],
		['prices.xls', XLS, 'prices.xls.txt', 'name\tprice', 'txt', {}],
		['page.DOC', DOC, 'page.DOC.html', '<html>', 'html', {}],
		['a.bin', DOC, 'a.bin', 'text', undefined, {}],
		['prices.XLS', XLS, 'prices.XLS.xlsx', 'PK\x03\x04', 'txt', {}],
		['Plan.md', DOCX, 'Plan.md.docx', 'PK\x03\x04', 'docx', {}],
		['a.pptx', DOCX, 'a.pptx', 'PK\x03\x04', 'pptx', {}],
		['a.odt', 'application/vnd.oasis.opendocument.text', 'a.odt', 'PK\x03\x04', undefined, {}],
		['a.doc', DOC, 'a.doc', OLD, 'doc', { type: 'doc' }],
	])(
		'of %s with the type %s make it %s',
		async (fileName, mimeType, name, file, type, documentSettings) => {
			const more = { fileName, documentSettings } as INodeParameters;
			const [read] = await readingFile(mimeType, file, 'files', more);
			expect(read).toMatchObject({ key: fileName, fields: { name, type } });
		},
	);

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
			{ text: 'a\0b', name: 'n\0', documentSettings: { metadata: { 'k\0': ['v\0\0'] } } },
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
		await expect(inFile).rejects.toThrow(`"Line 1 of the file" ${words}`);
		const inJson = reading('json', { parameters: { jsonBody: wrapped } });
		await expect(inJson).rejects.toThrow(`"JSON Body" ${words}`);
	});

	it.each([
		['an ID', { id: 'a' }],
		['a name', { name: 'a' }],
	])('is one document of JSON with %s beside its list', async (_, own) => {
		const jsonBody = JSON.stringify({ list: [{}], ...own });
		expect(await reading('json', { parameters: { jsonBody } })).toHaveLength(1);
	});
});
