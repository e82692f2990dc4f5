import fc from 'fast-check';

import { findPlace } from '../../../../nodes/XpertAi/execution/badInput';
import type { Place } from '../../../../nodes/XpertAi/execution/badInput';

const mark = Symbol('mark');
const isMark = (part: unknown) => part === mark;

/** JSON with a mark somewhere in it, and where that is. */
const marked = fc.letrec<{ at: { value: unknown; place: Place } }>((tie) => ({
	at: fc.oneof(
		{ maxDepth: 4 },
		fc.constant<{ value: unknown; place: Place }>({ value: mark, place: [] }),
		fc.record({ list: fc.array(fc.jsonValue()), inner: tie('at') }).map(({ list, inner }) => ({
			value: [...list, inner.value],
			place: [list.length, ...inner.place],
		})),
		fc
			.record({
				object: fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), fc.jsonValue()),
				inner: tie('at'),
			})
			.map(({ object, inner }) => ({
				value: { ...object, marked: inner.value },
				place: ['marked', ...inner.place],
			})),
	),
})).at;

describe('the place of a part of a value', () => {
	it('is found wherever it stands', () => {
		fc.assert(
			fc.property(marked, ({ value, place }) => {
				expect(findPlace(value, isMark)).toEqual(place);
			}),
		);
	});

	it('is none where nothing is looked for', () => {
		fc.assert(
			fc.property(fc.jsonValue(), (value) => expect(findPlace(value, isMark)).toBeUndefined()),
		);
	});

	it('is the first of several, in the order of the JSON', () => {
		expect(findPlace({ a: [1, { b: mark }], c: mark }, isMark)).toEqual(['a', 1, 'b']);
	});

	it('is looked for in what is written, not in what a date is made of', () => {
		const date = { inside: mark, toJSON: () => '2026-01-31' };
		expect(findPlace({ date }, isMark)).toBeUndefined();
		expect(findPlace({ date }, (part) => part === '2026-01-31')).toEqual(['date']);
	});
});
