import { cutOf, split } from '../../sandbox/processing/splitter';

const TEXT = Array.from({ length: 160 }, (_, i) => `word-${1000 + i} `).join('');

describe('cutting a text', () => {
	it('makes chunks of 1000 characters that overlap by 200, whatever the three fields of the contract are', () => {
		const contract = { chunkSize: 200, chunkOverlap: 20, delimiter: '. ' };
		const [first = '', second = '', ...others] = split(TEXT, cutOf(contract));
		expect([first.length <= 1000, others]).toEqual([true, []]);
		expect(first).toContain(second.slice(0, 190));
		expect(first).not.toContain(second.slice(0, 201));
	});

	it.each([
		[{ chunkSize: 8, separators: '\\n,;' }, 'one;two\nthree;four', ['one;two', 'three;', 'four']],
		[{ chunkSize: 3 }, 'abcdefgh', ['abc', 'def', 'gh']],
		[{ chunkSize: 9 }, ' \n ', []],
	])('heeds textSplitter: %j', (textSplitter, text, chunks) => {
		const cut = cutOf({ textSplitter: { chunkOverlap: 0, ...textSplitter } });
		expect(split(text, cut)).toEqual(chunks);
	});
});
