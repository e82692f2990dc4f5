import fc from 'fast-check';

import { canonicalKey, keyIssue } from 'nodes/XpertAi/payloads/keys';

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
	it.each(FINE)('may be %s', (key) => expect(keyIssue(key)).toBeUndefined());

	const MISSING = ['undefined', 'null', 'NaN', '[object Object]', 'user [object Promise] 1'];
	it.each([...MISSING, 'Invalid Date'])('is none that stands for a missing value: %s', (key) =>
		expect(keyIssue(key)).toMatch(/^holds "[^"]+", which stands for a missing value$/),
	);

	it.each([
		['empty', ''],
		['broken', 'a\ud83d'],
	])('is none that is %s', (_, key) => expect(keyIssue(key)).toBeDefined());
});
