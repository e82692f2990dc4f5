import fc from 'fast-check';

import { SeenDocuments } from 'nodes/XpertAi/operations/document/submit/seenDocuments';

const STATES = ['pending', 'stored', 'other'] as const;

/** IDs of which many differ in few digits. */
const id = fc.oneof(
	fc.uuid(),
	fc.nat(200).map((n) => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`),
	fc.nat(200).map((n) => `${n.toString(16).padStart(8, '0')}-0000-1000-8000-00000000000f`),
	fc.constant('00000000-0000-0000-0000-000000000000'),
);
const entry = fc.tuple(id, fc.constantFrom(...STATES));

it('the documents of a run have the state that they were given last, and no other', () => {
	fc.assert(
		fc.property(fc.array(entry, { maxLength: 400, size: 'max' }), id, (entries, other) => {
			const seen = new SeenDocuments(STATES);
			const model = new Map<string, string>();
			for (const [one, state] of entries) {
				seen.set(one, state);
				model.set(one, state);
			}
			expect(seen.size).toBe(model.size);
			for (const [one, state] of model) expect(seen.get(one.toUpperCase())).toBe(state);
			expect([seen.get(other), seen.has(other)]).toEqual([model.get(other), model.has(other)]);
		}),
	);
});

it('a hundred thousand documents of one run are told apart in less time than their requests take', () => {
	const seen = new SeenDocuments(STATES);
	const idAt = (n: number) => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
	for (let n = 0; n < 100_000; n++) seen.set(idAt(n), 'pending');
	expect(seen.size).toBe(100_000);
	expect([seen.has(idAt(99_999)), seen.has(idAt(100_000))]).toEqual([true, false]);
});
