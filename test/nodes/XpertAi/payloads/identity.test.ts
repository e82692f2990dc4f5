import fc from 'fast-check';

import { canonicalKey, keyRule, missingValueIn } from 'nodes/XpertAi/payloads/identity';

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
		expect(canonicalKey('e\u0301')).toBe('\u00e9');
	});

	const FINE = ['docs/undefined.md', 'null-object.md', 'NaN handling', 'Null', 'nan', '0'];
	it.each(FINE)('may be %s', (key) => expect(keyRule(key)).toBeUndefined());

	const MISSING = ['undefined', 'null', 'NaN', '[object Object]', 'user [object Promise] 1'];
	it.each([...MISSING, 'Invalid Date'])('is none that stands for a missing value: %s', (key) =>
		expect(keyRule(key)).toMatch(/^holds "[^"]+", which stands for a missing value$/),
	);

	it.each([
		['empty', ''],
		['broken', 'a\ud83d'],
	])('is none that is %s', (_, key) => expect(keyRule(key)).toBeDefined());
});

describe('a key that people share', () => {
	const WORDS = ['undefined', 'null', 'NaN'];
	const separator = fc.constantFrom('-', '_', ':', '/', '|', '#', '@', ' ', ' / ');
	const part = fc.stringMatching(/^[a-z0-9]{1,8}$/).filter((text) => !WORDS.includes(text));

	it('holds no missing value between separators, which a document may', () => {
		fc.assert(
			fc.property(part, separator, fc.constantFrom(...WORDS), (one, between, missing) => {
				for (const key of [`${one}${between}${missing}`, `${missing}${between}${one}`]) {
					expect(missingValueIn(key, true)).toBe(missing);
					expect(missingValueIn(key)).toBeUndefined();
				}
				expect(missingValueIn(`${one}${missing}`, true)).toBeUndefined();
			}),
		);
	});

	it('may be the mail address of somebody with that name', () => {
		expect(missingValueIn('john.null@example.com', true)).toBeUndefined();
		expect(missingValueIn('undefined@c.us', true)).toBe('undefined');
	});
});
