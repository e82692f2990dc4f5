import fc from 'fast-check';

import { missingValueOrObjectText, missingValueWordIn } from 'nodes/XpertAi/payloads/missingValues';

describe('a key that people share', () => {
	const WORDS = ['undefined', 'null', 'NaN'];
	const separator = fc.constantFrom('-', '_', ':', '/', '|', '#', '@', ' ', ' / ');
	const part = fc.stringMatching(/^[a-z0-9]{1,8}$/).filter((text) => !WORDS.includes(text));

	it('holds no missing value between separators, which a document may', () => {
		fc.assert(
			fc.property(part, separator, fc.constantFrom(...WORDS), (one, between, missing) => {
				for (const key of [`${one}${between}${missing}`, `${missing}${between}${one}`]) {
					expect(missingValueWordIn(key)).toBe(missing);
					expect(missingValueOrObjectText(key)).toBeUndefined();
				}
				expect(missingValueWordIn(`${one}${missing}`)).toBeUndefined();
			}),
		);
	});

	it('may be the mail address of somebody with that name', () => {
		expect(missingValueWordIn('john.null@example.com')).toBeUndefined();
		expect(missingValueWordIn('undefined@c.us')).toBe('undefined');
	});
});
