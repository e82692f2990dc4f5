import { withTextSplitter } from '../../../../nodes/XpertAi/operations/document/submit/sources/sourceDocument';
import type { DocumentRecord } from '../../../../nodes/XpertAi/payloads/document';

const configOf = (parserConfig: DocumentRecord['parserConfig']) =>
	withTextSplitter({ name: 'a', parserConfig }).parserConfig;

describe('how a file is cut', () => {
	it("is said in the contract's form and in the one that counts on Xpert", () => {
		const given = { chunkSize: 200, chunkOverlap: 20, delimiter: '; .' };
		expect(configOf(given)).toEqual({
			...given,
			textSplitter: { chunkSize: 200, chunkOverlap: 20, separators: ';,.' },
		});
	});

	it('is said as far as it is given', () => {
		expect(configOf({ chunkSize: 200 })).toEqual({
			chunkSize: 200,
			textSplitter: { chunkSize: 200 },
		});
		expect(configOf({ chunkOverlap: 0, chunkSize: null, delimiter: '' })).toEqual({
			chunkOverlap: 0,
			chunkSize: null,
			delimiter: '',
			textSplitter: { chunkOverlap: 0 },
		});
	});

	it.each([
		['\\n\\n \\n .', '\\n\\n,\\n,.'],
		['\n ;', '\\n,;'],
		['\t', '\\t'],
		['; , .', ';,.'],
		['###', '###'],
	])('has its delimiters %j as separators %j', (delimiter, separators) => {
		expect(configOf({ delimiter })).toEqual({ delimiter, textSplitter: { separators } });
	});

	it('leaves a delimiter out that holds a comma, which parts separators', () => {
		expect(configOf({ delimiter: ',' })).toEqual({ delimiter: ',' });
	});

	it('is left to a textSplitter of its own', () => {
		const given = { chunkSize: 200, textSplitter: { chunkSize: 50 } };
		expect(configOf(given)).toBe(given);
	});

	it.each<DocumentRecord>([
		{},
		{ parserConfig: null },
		{ parserConfig: {} },
		{ parserConfig: { a: 1 } },
	])('is not said where nothing is given: %j', (document) =>
		expect(withTextSplitter(document)).toBe(document),
	);
});
