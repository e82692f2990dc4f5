import fc from 'fast-check';

import { parseExactJson, withSortedKeys } from 'nodes/XpertAi/payloads/json';

describe('a value that stands for JSON', () => {
	const day = new Date(0);

	it('stays as it is where it is nested too deeply', () => {
		let deep: unknown = day;
		for (let level = 0; level < 20_000; level++) deep = { deep };
		expect(withSortedKeys(deep)).toBe(deep);
	});

	/** The same value, with the keys of each object in the opposite order. */
	const reversed = (value: unknown): unknown => {
		if (Array.isArray(value)) return value.map(reversed);
		if (typeof value !== 'object' || value === null) return value;
		const entries = Object.entries(value).map(([key, inner]) => [key, reversed(inner)] as const);
		return Object.fromEntries(entries.reverse());
	};

	it('has one text, in whatever order its keys come, and stays the same value', () => {
		fc.assert(
			fc.property(fc.jsonValue(), (value) => {
				const sorted = withSortedKeys(value);
				expect(sorted).toEqual(value);
				expect(JSON.stringify(withSortedKeys(reversed(value)))).toBe(JSON.stringify(sorted));
			}),
		);
	});
});

describe('JSON', () => {
	it('is read as it was written, whatever the value', () => {
		fc.assert(
			fc.property(fc.jsonValue(), (value) => {
				const text = JSON.stringify(value);
				expect(parseExactJson(text)).toEqual(JSON.parse(text));
			}),
		);
	});

	it('keeps each digit of an integer, as text where JavaScript would round it', () => {
		fc.assert(
			fc.property(fc.bigInt(), (integer) => {
				const isExact =
					BigInt(Number(integer)) === integer && String(Number(integer)) === `${integer}`;
				const expected = isExact ? Number(integer) : `${integer}`;
				expect(parseExactJson(`{"id":${integer}}`)).toEqual({ id: expected });
			}),
		);
	});

	it.each([
		['in a text', '["-12345678901234567891"]', ['-12345678901234567891']],
		['behind a quote in a text', '["\\"12345678901234567891"]', ['"12345678901234567891']],
		['of a fraction', '[0.1234567890123456789]', [Number('0.1234567890123456789')]],
		[
			'of a number with an exponent',
			'[1234567890123456789e-3]',
			[Number('1234567890123456789e-3')],
		],
		['that JavaScript does not round', '[9007199254740992]', [9007199254740992]],
	])('leaves many digits alone %s', (_place, text, value) => {
		expect(parseExactJson(text)).toEqual(value);
	});
});
