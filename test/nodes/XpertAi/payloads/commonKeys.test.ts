import fc from 'fast-check';

import { canonicalKey, keyDemand, missingValueIn } from '../../../../nodes/XpertAi/payloads/common';

const WORDS = ['undefined', 'null', 'NaN'];
const separator = fc.constantFrom('-', '_', ':', '/', '|', '#', '@', ' ', ' / ');
const word = fc.constantFrom(...WORDS);
const part = fc.stringMatching(/^[a-z0-9]{1,8}$/).filter((text) => !WORDS.includes(text));

describe('a key', () => {
	it('is the same in NFC and NFD, and with blanks around it', () => {
		const text = fc.string({ unit: 'grapheme' });
		fc.assert(
			fc.property(text, fc.constantFrom('', ' ', '\n', '\t '), (key, blanks) => {
				const spelled = [key, key.normalize('NFC'), key.normalize('NFD')];
				const read = spelled.map((one) => canonicalKey(`${blanks}${one}${blanks}`));
				expect(new Set(read).size).toBe(1);
				expect(canonicalKey(read[0] ?? '')).toBe(read[0]);
			}),
		);
	});

	it('stays what it is where it is one', () => {
		for (const key of ['docs/undefined.md', 'null-object.md', 'NaN handling', 'Null', 'nan', '0'])
			expect(keyDemand(key)).toBeUndefined();
	});

	it.each([
		'undefined',
		'null',
		'NaN',
		'[object Object]',
		'user [object Promise] 1',
		'Invalid Date',
	])('is none that stands for a missing value: %s', (key) =>
		expect(keyDemand(key)).toMatch(/^holds "[^"]+", which stands for a missing value$/),
	);

	it.each(['', 'a\ud83d'])('is none that says nothing, or is broken: %j', (key) =>
		expect(keyDemand(key)).toBeDefined(),
	);
});

describe('a key that people share', () => {
	it('holds no missing value between separators, which a document may', () => {
		fc.assert(
			fc.property(part, separator, word, (one, between, missing) => {
				for (const key of [`${one}${between}${missing}`, `${missing}${between}${one}`]) {
					expect(missingValueIn(key, true)).toBe(missing);
					expect(missingValueIn(key)).toBeUndefined();
				}
			}),
		);
	});

	it('may hold such a word within another one', () => {
		fc.assert(
			fc.property(part, word, (one, missing) => {
				expect(missingValueIn(`${one}${missing}`, true)).toBeUndefined();
			}),
		);
	});

	it('may be the mail address of somebody with that name', () => {
		expect(missingValueIn('john.null@example.com', true)).toBeUndefined();
		expect(missingValueIn('undefined@c.us', true)).toBe('undefined');
	});
});
