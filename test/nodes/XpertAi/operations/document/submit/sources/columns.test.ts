import type { IDataObject } from 'n8n-workflow';

import { mapColumns } from '../../../../../../../nodes/XpertAi/operations/document/submit/sources/mapping';

const FILE_ID = '2f78e81b-096f-42ff-8ac0-8403fd81392d';

/** A mapping that leaves out what is empty. */
interface Expected {
	fields?: IDataObject;
	text?: string;
	unused?: string[];
}

it.each<[string, IDataObject, Expected]>([
	[
		'names of the contract are its fields, null included, empty ones left out',
		{ name: 'a', folder: null, size: '12', type: '', filePath: '/a.md' },
		{ fields: { name: 'a', folder: null, size: '12', filePath: '/a.md' } },
	],
	[
		'names of the contract come before all others, whatever their order',
		{ title: 'T', url: 'https://a.example/1', name: 'N', fileUrl: 'https://b.example' },
		{ fields: { name: 'N', fileUrl: 'https://b.example' }, unused: ['title', 'url'] },
	],
	[
		'usual names are taken best first; the others match nothing',
		{ path: '/a/b.md', title: 'B', body: 'x', text: 'y' },
		{ fields: { name: 'B' }, text: 'text', unused: ['path', 'body'] },
	],
	[
		// Servers look for a file path on their own disk.
		'a path is the name, never the file path',
		{ path: '/a/b.md' },
		{ fields: { name: '/a/b.md' } },
	],
	['empty columns are no matter', { mood: ' ', score: null, title: null }, {}],
	['a name that is null gives way', { name: null, title: 'T' }, { fields: { name: 'T' } }],
	[
		'what is blank gives way',
		{ name: '  ', title: 'T', fileUrl: ' ', url: 'http://a', text: '\n', body: 'x' },
		{ fields: { name: 'T', fileUrl: 'http://a' }, text: 'body' },
	],
])('%s', (_, columns, { fields = {}, text, unused = [] }) => {
	expect(mapColumns(columns)).toStrictEqual({ fields, text, unused });
});

it.each<[string, unknown, string]>([
	['Title', 'a', 'name'],
	['file_name', 'a.md', 'name'],
	['URL', 'https://a.example/1', 'fileUrl'],
	['link', 'http://a.example/1', 'fileUrl'],
	['file_url', 'https://a.example/1', 'fileUrl'],
	['Mime-Type', 'text/plain', 'mimeType'],
	['file_size', 5, 'size'],
	['File Path', '/a.md', 'filePath'],
	['Meta', { a: 1 }, 'metadata'],
	['storage_file_id', FILE_ID, 'storageFileId'],
])('a column called %s with %j is %s', (name, column, field) => {
	const columns = { [name]: column } as IDataObject;
	expect(mapColumns(columns)).toEqual({ fields: { [field]: column }, unused: [] });
});

it.each(['Text', 'content', 'body', 'markdown', 'page_content'])(
	'a column called %s is the text',
	(name) => expect(mapColumns({ [name]: 'hello' })).toEqual({ fields: {}, unused: [], text: name }),
);

it.each<[string, unknown]>([
	['address', '5 High Street'],
	['url', 5],
	['file', { a: 1 }],
	['body', ['x']],
	['bytes', '12 kB'],
	['Metadata', 'abc'],
	// These may be the row's own.
	...['ID', 'created_at', 'updatedat', 'Status', 'mood', 'constructor'].map(
		(name): [string, unknown] => [name, 'x'],
	),
])('a column called %s with %j matches nothing', (name, column) => {
	const columns = { [name]: column } as IDataObject;
	expect(mapColumns(columns)).toEqual({ fields: {}, unused: [name] });
});
