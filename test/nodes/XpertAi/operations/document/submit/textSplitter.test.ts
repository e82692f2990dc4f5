import { withTextSplitter } from 'nodes/XpertAi/operations/document/submit/sources';
import type { DocumentRecord } from 'nodes/XpertAi/payloads/document';

type Config = NonNullable<DocumentRecord['parserConfig']>;

it.each<[Config, object]>([
	[
		{ chunkSize: 200, chunkOverlap: 20, delimiter: '; .' },
		{ chunkSize: 200, chunkOverlap: 20, separators: ';,.' },
	],
	[{ chunkSize: 104 }, { chunkSize: 104, chunkOverlap: 20 }],
	[{ chunkSize: 5000 }, { chunkSize: 5000, chunkOverlap: 200 }],
	[{ chunkOverlap: 0, chunkSize: null, delimiter: '' }, { chunkOverlap: 0 }],
	[{ delimiter: '\\n\\n \\n .' }, { separators: '\\n\\n,\\n,.' }],
	[{ delimiter: '\n ;' }, { separators: '\\n,;' }],
	[{ delimiter: '\t' }, { separators: '\\t' }],
	// A comma parts separators.
	[{ delimiter: '; , .' }, { separators: ';,.' }],
	[{ delimiter: '###' }, { separators: '###' }],
])('a file is cut as %j says also on Xpert, which reads %j', (parserConfig, textSplitter) => {
	const document = withTextSplitter({ name: 'a', parserConfig });
	expect(document).toEqual({ name: 'a', parserConfig: { ...parserConfig, textSplitter } });
});

it.each<DocumentRecord>([
	{},
	{ parserConfig: null },
	{ parserConfig: {} },
	{ parserConfig: { a: 1 } },
	{ parserConfig: { delimiter: ',' } },
	{ parserConfig: { chunkSize: 200, textSplitter: { chunkSize: 50 } } },
])('a document that says nothing of that, or has its own, stays as it is: %j', (document) => {
	expect(withTextSplitter(document)).toBe(document);
});
