import fc from 'fast-check';

import { cutText } from '../../../../nodes/XpertAi/ingest/textParts';
import type { CutOptions } from '../../../../nodes/XpertAi/ingest/textParts';

const DELIMITERS = '\\n\\n \\n .';
const LONE_SURROGATE = /\p{Surrogate}/u;

const options = fc
	.record({
		chunkSize: fc.integer({ min: 1, max: 40 }),
		chunkOverlap: fc.nat({ max: 50 }),
		delimiter: fc.constantFrom('', DELIMITERS, '. ; ,', '😀', '--- \\t', 'ab b'),
	})
	.map((drawn) => ({ ...drawn, chunkOverlap: drawn.chunkOverlap % drawn.chunkSize }));
const words = fc.array(
	fc.constantFrom('a', 'b', 'word', ' ', '.', '\n', '\n\n', '\t', ';', ',', '---', '😀', '👩‍💻', 'é'),
	{ maxLength: 120 },
);
const texts = fc.oneof(
	words.map((parts) => parts.join('')),
	fc.string({ unit: 'grapheme', maxLength: 150 }),
);

const cut = (text: string, changes: Partial<CutOptions> = {}) =>
	cutText(text, { chunkSize: 10, chunkOverlap: 0, delimiter: DELIMITERS, ...changes });

/** Where each part starts, when every part is looked for behind the start of the one before. */
function joined(parts: string[], overlap: number): string {
	return parts.reduce((text, part) => {
		for (let shared = Math.min(overlap + 1, part.length); shared >= 0; shared--) {
			if (text.endsWith(part.slice(0, shared))) return text + part.slice(shared);
		}
		return text + part;
	}, '');
}

describe('the parts of a text', () => {
	it('without overlap are the text, cut', () => {
		fc.assert(
			fc.property(texts, options, (text, drawn) => {
				const parts = cutText(text, { ...drawn, chunkOverlap: 0 });
				expect(parts.join('')).toBe(text);
				expect(parts).not.toContain('');
			}),
		);
	});

	it('are never longer than the chunk size', () => {
		fc.assert(
			fc.property(texts, options, (text, drawn) => {
				for (const part of cutText(text, drawn)) {
					expect(part.length).toBeGreaterThan(0);
					expect(part.length).toBeLessThanOrEqual(drawn.chunkSize);
				}
			}),
		);
	});

	it('repeat as much of the one before as asked for, and together lose nothing', () => {
		const numbered = Array.from({ length: 300 }, (_, index) => String.fromCharCode(0x4e00 + index));
		fc.assert(
			fc.property(fc.nat({ max: 300 }), options, (length, drawn) => {
				const text = numbered.slice(0, length).join('');
				const parts = cutText(text, drawn);
				expect(joined(parts, drawn.chunkOverlap)).toBe(text);
				for (const [index, part] of parts.slice(1).entries()) {
					const end = (parts[index] ?? '').slice(-drawn.chunkOverlap || Infinity);
					expect(part.slice(0, drawn.chunkOverlap)).toBe(end);
				}
			}),
		);
	});

	it('never tear a character apart where there is room for it', () => {
		fc.assert(
			fc.property(texts, options, (text, drawn) => {
				fc.pre(!LONE_SURROGATE.test(text) && drawn.chunkSize > drawn.chunkOverlap + 1);
				for (const part of cutText(text, drawn)) expect(part).not.toMatch(LONE_SURROGATE);
			}),
		);
	});

	it('come to an end also with an overlap as large as the chunk', () => {
		fc.assert(
			fc.property(texts, fc.integer({ min: 1, max: 9 }), (text, chunkSize) => {
				const parts = cut(text, { chunkSize, chunkOverlap: chunkSize + 5 });
				expect(parts.length).toBeLessThanOrEqual(Math.max(1, text.length));
			}),
		);
	});
});

describe('cutting', () => {
	it('leaves a text that fits whole, and makes nothing of an empty one', () => {
		expect(cut('ten chars.')).toEqual(['ten chars.']);
		expect(cut('')).toEqual([]);
	});

	it('is done behind the last delimiter in reach', () => {
		expect(cut('One. Two. Three.')).toEqual(['One. Two.', ' Three.']);
		expect(cut('a\n\nbbbb\nccccccc.d')).toEqual(['a\n\nbbbb\n', 'ccccccc.d']);
		expect(cut('abc; def; ghi', { delimiter: ';' })).toEqual(['abc; def;', ' ghi']);
	});

	it('is done at the limit when there is no delimiter in reach', () => {
		expect(cut('abcdefghijklmnopqrstuvwxyz')).toEqual(['abcdefghij', 'klmnopqrst', 'uvwxyz']);
		expect(cut('abcdefghijklmn', { delimiter: '' })).toEqual(['abcdefghij', 'klmn']);
	});

	it('repeats the end of each part', () => {
		expect(cut('abcdefghijklmnopqrst', { chunkOverlap: 3 })).toEqual([
			'abcdefghij',
			'hijklmnopq',
			'opqrst',
		]);
	});

	it('does not cut at a delimiter within what is repeated, which would make no headway', () => {
		expect(cut('a.bcdefghijklm', { chunkOverlap: 3 })).toEqual(['a.bcdefghi', 'ghijklm']);
	});

	it('keeps both halves of a character together at the end and at the start of a part', () => {
		expect(cut('abcdefghi😀jkl')).toEqual(['abcdefghi', '😀jkl']);
		const parts = cut('abcdefg😀hijklmnop', { chunkOverlap: 2, delimiter: '' });
		expect(parts.join('')).not.toMatch(LONE_SURROGATE);
		expect(joined(parts, 3)).toBe('abcdefg😀hijklmnop');
	});

	it('of a long text without any delimiter takes a time that grows with its length', () => {
		const started = Date.now();
		const parts = cutText('x'.repeat(1_000_000), {
			chunkSize: 200,
			chunkOverlap: 20,
			delimiter: DELIMITERS,
		});
		expect(parts.length).toBeGreaterThan(5000);
		expect(Date.now() - started).toBeLessThan(10_000);
	});
});
