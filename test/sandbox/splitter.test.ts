import { cutOf, split } from '../../sandbox/processing/splitter';

const TEXT = Array.from({ length: 160 }, (_, i) => `word-${1000 + i} `).join('');

/** How a text is cut with a document's parserConfig. */
const cut = (text: string, textSplitter?: object, others: object = {}) =>
	split(text, cutOf({ ...others, ...(textSplitter && { textSplitter }) }));

describe('cutting a text', () => {
	it('makes chunks of 1000 characters that overlap by 200, unless told otherwise', () => {
		const chunks = cut(TEXT);
		expect(chunks).toHaveLength(2);
		expect(chunks.every(({ length }) => length <= 1000)).toBe(true);
		const [first = '', second = ''] = chunks;
		expect(first).toContain(second.slice(0, 190));
		expect(first).not.toContain(second.slice(0, 201));
	});

	it('heeds textSplitter', () => {
		const chunks = cut(TEXT, { chunkSize: 200, chunkOverlap: 20 });
		expect(chunks.length).toBeGreaterThan(7);
		expect(chunks.every(({ length }) => length <= 200)).toBe(true);
	});

	it('does not heed the three fields of the contract', () => {
		const contract = { chunkSize: 200, chunkOverlap: 20, delimiter: '. ' };
		expect(cut(TEXT, undefined, contract)).toEqual(cut(TEXT));
	});

	it('cuts at the first separator that fits, written with a backslash', () => {
		const options = { chunkSize: 8, chunkOverlap: 0, separators: '\\n,;' };
		expect(cut('one;two\nthree;four', options)).toEqual(['one;two', 'three;', 'four']);
	});

	it('cuts by characters where no separator is', () => {
		expect(cut('abcdefgh', { chunkSize: 3, chunkOverlap: 0 })).toEqual(['abc', 'def', 'gh']);
	});

	it('keeps a short text whole and makes nothing of an empty one', () => {
		expect(cut('short')).toEqual(['short']);
		expect(cut(' \n ')).toEqual([]);
	});
});
