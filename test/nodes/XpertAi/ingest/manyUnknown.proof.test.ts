import fc from 'fast-check';
import range from 'lodash/range';

import { AFTER_DOING, NIGHT_FAULTS } from './support/nightFaults';
import { Nights } from './support/nights';
import type { Source } from './support/nights';

const KEYS = range(60).map((at) => `d${at}`);
const sourceOf = (keys: string[], version = 0): Source =>
	Object.fromEntries(keys.map((key) => [key, version]));

/** How many requests with two documents each are answered so that nobody knows what was done. */
const REQUESTS = KEYS.length / 2;

const done = fc.array(fc.boolean(), { minLength: 1, maxLength: 7 });
const answer = fc.constantFrom(...AFTER_DOING.map((name) => NIGHT_FAULTS[name] ?? { status: 504 }));

it(`after a night of ${REQUESTS} requests with an unknown outcome, two clean ones end with exactly the source`, async () => {
	const nights = await Nights.start(KEYS);
	try {
		await fc.assert(
			fc.asyncProperty(
				done,
				answer,
				fc.constantFrom(1, 20),
				fc.subarray(KEYS, { minLength: 1 }),
				async (ofDocuments, said, concurrency, kept) => {
					const knowledgebaseId = await nights.knowledgebase();
					const trouble = { request: 0, answer: said, done: true, ofDocuments };
					const lost = { source: sourceOf(KEYS), turns: [0, 3, 1], brake: 1000, concurrency };
					const { requests } = await nights.night(knowledgebaseId, { ...lost, trouble });
					expect(requests).toBeGreaterThan(REQUESTS);
					for (const night of [1, 2]) {
						const source = sourceOf(kept, night);
						const course = await nights.night(knowledgebaseId, { source, turns: [0] });
						expect(course.wrong).toEqual([]);
						expect(course.said.join()).not.toContain(
							'may still be found although they left the source',
						);
						expect(await nights.found(knowledgebaseId)).toEqual(nights.expected(source));
					}
					nights.remove(knowledgebaseId);
				},
			),
			{ numRuns: 5 },
		);
	} finally {
		await nights.close();
	}
}, 180_000);
