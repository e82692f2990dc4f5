import fc from 'fast-check';

import { document } from '../../../../nodes/XpertAi/payloads/document';
import { isDocument } from '../../../../nodes/XpertAi/payloads/isDocument';
import { jsonOf } from '../../../../nodes/XpertAi/execution/badInput';
import { isPlainJson } from '../../../../nodes/XpertAi/payloads/plainly';

/** What columns and records may hold, and what only code could put there. */
const anything = fc.oneof(
	{ weight: 3, arbitrary: fc.constantFrom('a', '', 1, 1.5, true, null, undefined, {}, []) },
	fc.anything({ withDate: true, withMap: true, withBigInt: true, withNullPrototype: true }),
	fc.constantFrom<unknown>(
		NaN,
		Infinity,
		new Date(0),
		{ then: () => 1, catch: () => 1 },
		'7b0e6c1a-3f52-4f7e-9a44-1d2c3b4a5f60',
		'2026-01-31T08:00:00Z',
		[{ pageContent: 'x', metadata: { a: [1] } }],
		[{ pageContent: 1 }],
		{ chunkSize: 100, delimiter: null },
		{ chunkSize: 1.5 },
	),
);

const field = fc.constantFrom(...Object.keys(document.shape));

it('a document is one exactly where the schema says so', () => {
	const record = fc.dictionary(fc.oneof(field, fc.string()), anything, { maxKeys: 5 });
	fc.assert(
		fc.property(record, (value) => {
			expect(isDocument(value)).toBe(document.safeParse(value).success);
		}),
		{ numRuns: 1000 },
	);
});

describe('a value that plainly has a JSON text', () => {
	it('has one that says all of it', () => {
		fc.assert(
			fc.property(fc.oneof(anything, fc.jsonValue(), fc.object()), (value) => {
				fc.pre(value !== undefined && isPlainJson(value));
				expect(jsonOf(value, {})).toEqual({ text: JSON.stringify(value) });
			}),
			{ numRuns: 1000 },
		);
	});

	it('may hold whole characters of any kind', () => {
		expect(isPlainJson({ a: 'ä 漢 😀' })).toBe(true);
	});

	it('is any that came from JSON, unless it is deep or large', () => {
		fc.assert(fc.property(fc.jsonValue({ maxDepth: 10 }), (value) => isPlainJson(value)));
	});

	it.each<[string, unknown]>([
		['a number that JSON has not', { a: [NaN] }],
		['something that writes itself', { at: new Date(0) }],
		['what says how it is written', { toJSON: () => 1 }],
		['a whole number without limits', { a: 1n }],
		['a function', { a: () => 1 }],
		['half a character', { a: ['cut \ud83d'] }],
		['half a character in a name', { a: [{ 'cut \ud83d': 1 }] }],
		['something deep', JSON.parse(`${'['.repeat(30)}${']'.repeat(30)}`)],
		['something large', ['x'.repeat(600_000), 'x'.repeat(600_000)]],
	])('is not %s', (_, value) => expect(isPlainJson(value)).toBe(false));
});
