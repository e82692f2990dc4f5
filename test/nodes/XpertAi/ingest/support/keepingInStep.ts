import fc from 'fast-check';
import { map, pick } from 'lodash';
import type { IDataObject } from 'n8n-workflow';

import { SIZES } from '../../../../../nodes/XpertAi/ingest/memory/sizes';
import { AFTER_DOING, NIGHT_FAULTS } from './nightFaults';
import { HARMS, KEYS, Nights, UNREMEMBERED, VERSIONS, isWhole } from './nights';
import type { Course, Night, Setup, Trouble } from './nights';

const version = fc.constantFrom(...VERSIONS);

/** Some of the documents, at least one: an empty source runs no node. */
export const source = fc
	.subarray(KEYS, { minLength: 1 })
	.chain((keys) =>
		fc
			.array(version, { minLength: keys.length, maxLength: keys.length })
			.map((versions) => Object.fromEntries(keys.map((key, at) => [key, versions[at] ?? 0]))),
	);

const turns = fc.array(fc.nat(6), { minLength: 1, maxLength: 6 });

const request = fc.nat(30);

const afterDoing = AFTER_DOING.map((name) => NIGHT_FAULTS[name] ?? { status: 504 });

const trouble: fc.Arbitrary<Trouble> = fc.oneof(
	fc.record({ request, answer: fc.constant('crash' as const), done: fc.boolean() }),
	fc.record({ request, answer: fc.constantFrom(...afterDoing), done: fc.constant(true) }),
	// The server carries it out when nobody waits for it any more.
	fc.record({
		request,
		answer: fc.constant({ code: 'ECONNABORTED' }),
		done: fc.constant(false),
		late: fc.nat(5),
	}),
	// What a server refuses it has not done.
	fc.record({
		request,
		answer: fc.constantFrom(...Object.values(NIGHT_FAULTS)),
		done: fc.constant(false),
		stays: fc.boolean(),
	}),
);

export const setup: fc.Arbitrary<Setup> = fc.record({
	from: fc.constantFrom('json' as const, 'text' as const),
	afterStoring: fc.constantFrom('process' as const, 'wait' as const),
	retries: fc.boolean(),
});

/** A small number: a night brings five documents at most. */
const brake = fc.integer({ min: 1, max: 3 });

/** From some request on, the server refuses all that are like it. */
const refusing: fc.Arbitrary<Trouble> = fc.record({
	request: fc.integer({ min: 2, max: 12 }),
	answer: fc.constantFrom({ status: 400 }, { status: 403 }, { status: 413 }),
	done: fc.constant(false),
	stays: fc.constant(true),
});

export const night: fc.Arbitrary<Night> = fc.oneof(
	fc.record({ source, turns }),
	fc.record({ source, turns, trouble }),
	fc.record({ source, turns, other: source, beside: fc.boolean() }),
	fc.record({ source, turns, rebuild: fc.nat(8) }),
	fc.record({ source, turns, brake, trouble: fc.oneof(trouble, refusing) }),
);

/** What somebody does to some documents between two nights, and how many of these have passed by then. */
const noon = fc.record({
	after: fc.nat(5),
	keys: fc.subarray(KEYS, { minLength: 1 }),
	disabled: fc.boolean(),
});

/** A night before which somebody deletes a note of the memory, or has it processed. */
const harmed: fc.Arbitrary<Night> = fc.record({
	source,
	turns,
	harm: fc.record({ note: fc.nat(12), how: fc.constantFrom(...HARMS) }),
});

/** A night in which somebody only looks what the next one would do. */
const look: fc.Arbitrary<Night> = fc.record({ source, turns, dryRun: fc.constant(true) });

/** A run that ends the sending gives each document, and takes none out of answers. */
function expectAll({ source: brought }: Night, { items, error }: Course): void {
	if (error) return;
	const facts = items.map(({ details, ...json }) => ({ ...json, ...(details as IDataObject) }));
	const names = Object.keys(brought).map((key) => `${key}.md`);
	expect(map(facts, 'name')).toEqual(expect.arrayContaining(names));
	const outcomes = map(facts, 'outcome');
	if (outcomes.includes('notSent')) expect(outcomes).not.toContain('disabled');
}

/**
 * Lets so many sequences of nights pass. After each night without trouble, assistants find exactly what its
 * source holds; no run ever takes a document out of answers that it has brought, one that ends the sending none at all,
 * and a dry run changes nothing. Where a note was lost, what was gone by then may stay; a history ends where one is lost
 * after two runs at once, before another has put things right.
 */
export async function keepInStep(sequences: number): Promise<void> {
	const nights = await Nights.start();
	const sizes = { ...SIZES };
	// What is remembered of five documents is in pieces, and a journal has pages.
	Object.assign(SIZES, { piece: 2, changes: 2, page: 50, answer: 3, pages: 3 });
	try {
		await fc.assert(
			fc.asyncProperty(
				fc.array(
					fc.oneof({ arbitrary: night, weight: 6 }, { arbitrary: harmed, weight: 2 }, look),
					{
						minLength: 1,
						maxLength: 6,
					},
				),
				source,
				setup,
				fc.array(noon, { maxLength: 2 }),
				async (all, last, how, noons) => {
					const knowledgebaseId = await nights.knowledgebase();
					let isHarmed = false;
					let haveMet = false;
					for (const [number, one] of [...all, { source: last, turns: [0] }].entries()) {
						isHarmed ||= one.harm !== undefined;
						// Which of two runs at once has stored a document last only the notes of both tell.
						if (one.harm && haveMet) break;
						haveMet ||= one.other !== undefined;
						for (const { after, keys, disabled } of noons) {
							if (after !== number) continue;
							await nights.found(knowledgebaseId);
							await nights.noon(knowledgebaseId, keys, disabled);
							if (!disabled) continue;
							const found = Object.keys(await nights.found(knowledgebaseId));
							expect(found.filter((key) => keys.includes(key))).toEqual([]);
						}
						const before = one.dryRun && (await nights.found(knowledgebaseId));
						const course = await nights.night(knowledgebaseId, { ...one, ...how });
						const { wrong, said, writes } = course;
						expect(wrong).toEqual([]);
						if (one.brake) expectAll(one, course);
						if (before) expect(writes).toBe(0);
						if (before) expect(await nights.found(knowledgebaseId)).toEqual(before);
						// What such a night has stored is known to no later one.
						if (said.some((words) => UNREMEMBERED.test(words))) break;
						if (!isWhole({ ...one, ...how })) continue;
						haveMet = false;
						const found = await nights.found(knowledgebaseId);
						const expected = nights.expected(one.source);
						// What was gone when a note was lost may be found for ever; all else is as it should be.
						expect(isHarmed ? pick(found, Object.keys(expected)) : found).toEqual(expected);
					}
					nights.remove(knowledgebaseId);
				},
			),
			{ numRuns: sequences },
		);
	} finally {
		Object.assign(SIZES, sizes);
		await nights.close();
	}
}
