import fc from 'fast-check';
import { map, pick } from 'lodash';
import type { IDataObject } from 'n8n-workflow';

import { SIZES } from '../../../../../nodes/XpertAi/ingest/memory/notes';
import { AFTER_DOING, NIGHT_FAULTS } from './nightFaults';
import { KEYS, LOST, NOTES, Nights, UNREMEMBERED, VERSIONS, isWhole } from './nights';
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

/** What somebody does to some documents by hand. */
const hand = { keys: fc.subarray(KEYS, { minLength: 1 }), disabled: fc.boolean() };

export const night: fc.Arbitrary<Night> = fc.oneof(
	fc.record({ source, turns }),
	fc.record({ source, turns, trouble }),
	fc.record({ source, turns, others: fc.array(source, { minLength: 1, maxLength: 2 }) }),
	fc.record({ source, turns, hand: fc.record({ ...hand, at: request }) }),
	fc.record({ source, turns, mostDocuments: fc.constant(1) }),
	fc.record({ source, turns, rebuild: fc.nat(8) }),
	fc.record({ source, turns, brake, trouble: fc.oneof(trouble, refusing) }),
);

/** What somebody does between two nights, and how many of these have passed by then. */
const noon = fc.record({ ...hand, after: fc.nat(5) });

const kinds = Object.keys(NOTES) as Array<keyof typeof NOTES>;

/** A night before which somebody deletes notes of the memory, or has them processed: all of a kind, or one. */
const harmed: fc.Arbitrary<Night> = fc.record({
	source,
	turns,
	harm: fc.record(
		{
			kind: fc.constantFrom(...kinds),
			which: fc.nat(6),
			how: fc.constantFrom('deleted' as const, 'processed' as const),
		},
		{ requiredKeys: ['kind', 'how'] },
	),
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

/** Of runs that begin at the same moment, one works, and the others say which one. */
function expectOneAtWork({ others = [] }: Night, { worked, refused }: Course): void {
	expect([worked.length, refused.length]).toEqual([1, others.length]);
	for (const words of refused)
		expect(words).toMatch(
			/another run of this source is at work, execution \d of "Nights", since 2/,
		);
}

/** A history, and what is known of it. */
class History {
	/** Whether it was said that what had gone may still be found. */
	private isLossSaid = false;
	/** Whether nothing more can be expected of it. */
	isOver = false;

	constructor(
		private readonly nights: Nights,
		private readonly knowledgebaseId: string,
	) {}

	/** Disables documents, or lets them in again; what is disabled is not found. */
	async noon({ keys, disabled }: { keys: string[]; disabled: boolean }): Promise<void> {
		const { nights, knowledgebaseId } = this;
		await nights.found(knowledgebaseId);
		await nights.noon(knowledgebaseId, { keys, disabled });
		if (!disabled) return;
		const found = Object.keys(await nights.found(knowledgebaseId));
		expect(found.filter((key) => keys.includes(key))).toEqual([]);
	}

	/** Lets a night pass. */
	async night(one: Night): Promise<void> {
		const { nights, knowledgebaseId } = this;
		const before = await nights.found(knowledgebaseId);
		const stored = nights.stored(knowledgebaseId);
		const course = await nights.night(knowledgebaseId, one);
		const { wrong, said, writes, worked } = course;
		expect(wrong).toEqual([]);
		if (one.brake) expectAll(one, course);
		if (one.others) expectOneAtWork(one, course);
		if (one.dryRun) {
			expect(writes).toBe(0);
			expect(await nights.found(knowledgebaseId)).toEqual(before);
		}
		// What such a night has stored is known to no later one.
		this.isOver ||= said.some((words) => UNREMEMBERED.test(words));
		// A source none of whose documents is there has nothing to tell it that it had notes.
		const isForgotten = one.harm?.kind === 'every' && one.harm.which === undefined;
		this.isOver ||= isForgotten && !Object.keys(one.source).some((key) => stored.includes(key));
		if (this.isOver) return;
		const isLossSaid = said.some((words) => LOST.test(words));
		if (!isWhole(one)) return;
		if (this.isLossSaid) expect(isLossSaid).toBe(true);
		this.isLossSaid = isLossSaid;
		const found = await nights.found(knowledgebaseId);
		const expected = nights.expected(worked[0] ?? {});
		// What may still be found is said; all else is as it should be.
		expect(isLossSaid ? pick(found, Object.keys(expected)) : found).toEqual(expected);
	}
}

/**
 * Lets so many sequences of nights pass. After each night without trouble, assistants find exactly what its
 * source holds, or it is said that more may be found; no run ever takes a document out of answers that it has brought,
 * one that ends the sending none at all, and a dry run changes nothing. Where a note was lost, what was gone by then may
 * stay, which every later run says.
 */
export async function keepInStep(sequences: number): Promise<void> {
	const nights = await Nights.start();
	const sizes = { ...SIZES };
	// What is remembered of five documents is in pieces, and a journal has pages.
	Object.assign(SIZES, { piece: 2, names: 60, answer: 3, pages: 3 });
	const nightOrLook = fc.oneof(
		{ arbitrary: night, weight: 6 },
		{ arbitrary: harmed, weight: 2 },
		look,
	);
	try {
		await fc.assert(
			fc.asyncProperty(
				fc.array(nightOrLook, { minLength: 1, maxLength: 6 }),
				source,
				setup,
				fc.array(noon, { maxLength: 2 }),
				async (all, last, how, noons) => {
					const knowledgebaseId = await nights.knowledgebase();
					const history = new History(nights, knowledgebaseId);
					const clean = { source: last, turns: [0] };
					for (const [number, one] of [...all, clean, clean].entries()) {
						for (const { after, ...by } of noons) if (after === number) await history.noon(by);
						await history.night({ ...one, ...how });
						if (history.isOver) break;
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
