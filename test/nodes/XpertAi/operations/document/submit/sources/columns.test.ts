import { mapColumns } from '../../../../../../../nodes/XpertAi/operations/document/submit/sources/mapping';

const fieldsOf = (columns: Parameters<typeof mapColumns>[0]) => mapColumns(columns).fields;

describe('columns with the names of the contract', () => {
	it('are the fields of the document, null included, empty ones left out', () => {
		const columns = { name: 'a', folder: null, size: '12', type: '', filePath: '/a.md' };
		expect(mapColumns(columns)).toEqual({
			fields: { name: 'a', folder: null, size: '12', filePath: '/a.md' },
			unused: [],
		});
	});

	it('come before all others, whatever their order', () => {
		const columns = {
			title: 'T',
			url: 'https://a.example/1',
			name: 'N',
			fileUrl: 'https://b.example',
		};
		expect(mapColumns(columns)).toEqual({
			fields: { name: 'N', fileUrl: 'https://b.example' },
			unused: ['title', 'url'],
		});
	});
});

describe('columns with usual names', () => {
	it.each([
		['Title', 'a', { name: 'a' }],
		['file_name', 'a.md', { name: 'a.md' }],
		['URL', 'https://a.example/1', { fileUrl: 'https://a.example/1' }],
		['link', 'http://a.example/1', { fileUrl: 'http://a.example/1' }],
		['Mime-Type', 'text/plain', { mimeType: 'text/plain' }],
		['file_size', 5, { size: 5 }],
		['file_url', 'https://a.example/1', { fileUrl: 'https://a.example/1' }],
		['Meta', { a: 1 }, { metadata: { a: 1 } }],
		[
			'storage_file_id',
			'2f78e81b-096f-42ff-8ac0-8403fd81392d',
			{ storageFileId: '2f78e81b-096f-42ff-8ac0-8403fd81392d' },
		],
	])('%s is mapped', (name, column, fields) => {
		expect(mapColumns({ [name]: column })).toEqual({ fields, unused: [] });
	});

	it.each(['Text', 'content', 'body', 'markdown', 'page_content'])('%s is the text', (name) => {
		expect(mapColumns({ [name]: 'hello' })).toEqual({
			fields: {},
			unused: [],
			text: name,
		});
	});

	it('are taken best first; the others match nothing', () => {
		expect(mapColumns({ path: '/a/b.md', title: 'B', body: 'x', text: 'y' })).toEqual({
			fields: { name: 'B' },
			unused: ['path', 'body'],
			text: 'text',
		});
	});

	it('make a path the name, never the file path, which servers look for on their own disk', () => {
		expect(fieldsOf({ path: '/a/b.md' })).toEqual({ name: '/a/b.md' });
	});

	it.each([
		['address', '5 High Street'],
		['url', 5],
		['file', { a: 1 }],
		['body', ['x']],
		['bytes', '12 kB'],
		['Metadata', 'abc'],
	])('match nothing where they hold something else: %s %j', (name, column) => {
		expect(mapColumns({ [name]: column })).toEqual({ fields: {}, unused: [name] });
	});

	it.each(['ID', 'created_at', 'updatedat', 'Status', 'mood', 'constructor'])(
		'do not include %s: it may be the row’s own',
		(name) => expect(mapColumns({ [name]: 'x' })).toEqual({ fields: {}, unused: [name] }),
	);
});

it('empty columns are no matter', () => {
	expect(mapColumns({ mood: '', score: null, title: null })).toEqual({ fields: {}, unused: [] });
});
