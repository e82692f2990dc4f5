import { withTextSplitter } from 'nodes/XpertAi/operations/document/submit/sources/readyRecord';
import type { DocumentRecord } from 'nodes/XpertAi/payloads/document';

type Config = NonNullable<DocumentRecord['parserConfig']>;

it.each<[string, Config, object]>([
	[
		'all three settings',
		{ chunkSize: 200, chunkOverlap: 20, delimiter: '; .' },
		{ chunkSize: 200, chunkOverlap: 20, separators: ';,.' },
	],
	[
		'a small size, with the usual overlap',
		{ chunkSize: 104 },
		{ chunkSize: 104, chunkOverlap: 20 },
	],
	[
		'a large size, with its usual overlap',
		{ chunkSize: 5000 },
		{ chunkSize: 5000, chunkOverlap: 200 },
	],
	[
		'an overlap of zero, without what is empty',
		{ chunkOverlap: 0, chunkSize: null, delimiter: '' },
		{ chunkOverlap: 0 },
	],
	['delimiters that are escaped', { delimiter: '\\n\\n \\n .' }, { separators: '\\n\\n,\\n,.' }],
	['a line break', { delimiter: '\n ;' }, { separators: '\\n,;' }],
	['a tab', { delimiter: '\t' }, { separators: '\\t' }],
	// A comma parts separators.
	['delimiters with a comma', { delimiter: '; , .' }, { separators: ';,.' }],
	['one long delimiter', { delimiter: '###' }, { separators: '###' }],
])('a file is cut on Xpert too by %s', (_, parserConfig, textSplitter) => {
	const document = withTextSplitter({ name: 'a', parserConfig });
	expect(document).toEqual({ name: 'a', parserConfig: { ...parserConfig, textSplitter } });
});

it.each<[string, DocumentRecord]>([
	['without settings', {}],
	['where its settings are null', { parserConfig: null }],
	['where its settings are empty', { parserConfig: {} }],
	['with other settings', { parserConfig: { a: 1 } }],
	['with a comma as delimiter', { parserConfig: { delimiter: ',' } }],
	[
		'with settings of its own for Xpert',
		{ parserConfig: { chunkSize: 200, textSplitter: { chunkSize: 50 } } },
	],
])('a document stays as it is %s', (_, document) => {
	expect(withTextSplitter(document)).toBe(document);
});
