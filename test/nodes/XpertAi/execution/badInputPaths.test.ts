import fc from 'fast-check';

import { findPath } from '../../../../nodes/XpertAi/execution/badInput';
import type { JsonPath } from '../../../../nodes/XpertAi/execution/badInput';

const mark = Symbol('mark');
const isMark = (part: unknown) => part === mark;

/** JSON with a mark somewhere in it, and where that is. */
const marked = fc.letrec<{ at: { value: unknown; path: JsonPath } }>((tie) => ({
	at: fc.oneof(
		{ maxDepth: 4 },
		fc.constant<{ value: unknown; path: JsonPath }>({ value: mark, path: [] }),
		fc.record({ list: fc.array(fc.jsonValue()), inner: tie('at') }).map(({ list, inner }) => ({
			value: [...list, inner.value],
			path: [list.length, ...inner.path],
		})),
		fc
			.record({
				object: fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), fc.jsonValue()),
				inner: tie('at'),
			})
			.map(({ object, inner }) => ({
				value: { ...object, marked: inner.value },
				path: ['marked', ...inner.path],
			})),
	),
})).at;

describe('the path of a part of a value', () => {
	it('is found wherever it stands', () => {
		fc.assert(
			fc.property(marked, ({ value, path }) => {
				expect(findPath(value, isMark)).toEqual(path);
			}),
		);
	});

	it('is none where nothing is looked for', () => {
		fc.assert(
			fc.property(fc.jsonValue(), (value) => expect(findPath(value, isMark)).toBeUndefined()),
		);
	});

	it('is the first of several, in the order of the JSON', () => {
		expect(findPath({ a: [1, { b: mark }], c: mark }, isMark)).toEqual(['a', 1, 'b']);
	});

	it('is looked for in what is written, not in what a date is made of', () => {
		const date = { inside: mark, toJSON: () => '2026-01-31' };
		expect(findPath({ date }, isMark)).toBeUndefined();
		expect(findPath({ date }, (part) => part === '2026-01-31')).toEqual(['date']);
	});
});
