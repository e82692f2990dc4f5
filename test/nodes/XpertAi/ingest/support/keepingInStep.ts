import fc from 'fast-check';

import { KEYS, Nights, VERSIONS } from './nights';
import type { Night, Trouble } from './nights';

const version = fc.constantFrom(...VERSIONS);

/** Some of the documents, at least one: an empty source runs no node. */
const source = fc
	.subarray(KEYS, { minLength: 1 })
	.chain((keys) =>
		fc
			.array(version, { minLength: keys.length, maxLength: keys.length })
			.map((versions) => Object.fromEntries(keys.map((key, at) => [key, versions[at] ?? 0]))),
	);

const turns = fc.array(fc.nat(6), { minLength: 1, maxLength: 6 });

const request = fc.nat(16);

const trouble: fc.Arbitrary<Trouble> = fc.oneof(
	fc.record({ request, kind: fc.constantFrom('crash', 'lost'), done: fc.boolean() }),
	// What a server refuses it has not done.
	fc.record({ request, kind: fc.constant('refused'), done: fc.constant(false) }),
);

const night: fc.Arbitrary<Night> = fc.oneof(
	fc.record({ source, turns }),
	fc.record({ source, turns, trouble }),
	fc.record({ source, turns, other: source }),
);

/**
 * Lets so many sequences of nights pass. After each night without trouble, assistants find exactly what its
 * source holds; and no run ever takes a document out of answers that it has brought.
 */
export async function keepInStep(sequences: number): Promise<void> {
	const nights = await Nights.start();
	try {
		await fc.assert(
			fc.asyncProperty(
				fc.array(night, { minLength: 1, maxLength: 6 }),
				source,
				async (all, last) => {
					const knowledgebaseId = await nights.knowledgebase();
					for (const one of [...all, { source: last, turns: [0] }]) {
						expect(await nights.night(knowledgebaseId, one)).toEqual([]);
						if (one.trouble || one.other) continue;
						expect(await nights.found(knowledgebaseId)).toEqual(nights.expected(one.source));
					}
					nights.remove(knowledgebaseId);
				},
			),
			{ numRuns: sequences },
		);
	} finally {
		await nights.close();
	}
}
