import fc from 'fast-check';
import { map, omit, pick } from 'lodash';
import type { IDataObject } from 'n8n-workflow';

import { NOTE_LIMITS } from '../../../../../nodes/XpertAi/ingest/memory/notes';
import { AFTER_DOING, NIGHT_FAULTS } from './nightFaults';
import {
	KEYS,
	LOST,
	NOTES,
	Nights,
	STORED_BEFORE,
	UNREMEMBERED,
	VERSIONS,
	isWhole,
	textOf,
} from './nights';
import type { Course, Lacking, Night, Setup, Trouble } from './nights';

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

const request = fc.nat(30);

const afterDoing = AFTER_DOING.map((name) => NIGHT_FAULTS[name] ?? { status: 504 });

const trouble: fc.Arbitrary<Trouble> = fc.oneof(
	fc.record({ request, answer: fc.constant('crash' as const), done: fc.boolean() }),
	fc.record({ request, answer: fc.constantFrom(...afterDoing), done: fc.constant(true) }),
	// Of each request with documents from then on, nobody knows whether it was done.
	fc.record({
		request,
		answer: fc.constantFrom(...afterDoing),
		done: fc.constant(true),
		ofDocuments: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
	}),
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

const setup: fc.Arbitrary<Setup> = fc.record({
	from: fc.constantFrom('json' as const, 'text' as const),
	afterStoring: fc.constantFrom('process' as const, 'wait' as const),
	retries: fc.boolean(),
	goesOn: fc.boolean(),
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

/** Batches in which a document is refused, or a batch as a whole, until they are sent in halves. */
const refusedIn = fc.record(
	{
		source,
		turns,
		refused: fc.subarray(KEYS, { minLength: 1, maxLength: 2 }),
		batchSize: fc.integer({ min: 1, max: 5 }),
		trouble,
	},
	{ requiredKeys: ['source', 'turns', 'refused', 'batchSize'] },
);

const hand = { keys: fc.subarray(KEYS, { minLength: 1 }), disabled: fc.boolean() };

/** Documents whose items lack what a field reads. */
const lacks = fc.record({
	keys: fc.subarray(KEYS, { minLength: 1, maxLength: 3 }),
	what: fc.constantFrom<Lacking>('documentKey', 'documentVersion', 'sourceName', 'shard'),
});
const from = fc.constant('text' as const);

const night: fc.Arbitrary<Night> = fc.oneof(
	fc.record({ source, turns, versioned: fc.boolean() }),
	fc.record({ source, turns, trouble }),
	fc.record({ source, turns, finds: fc.constant(true) }),
	fc.record({ source, turns, finds: fc.constant(true), trouble }),
	fc.record({ source, turns, mode: fc.constantFrom('all' as const, 'changed' as const) }),
	fc.record({ source, turns, startedBy: fc.constant('retry' as const) }),
	fc.record({ source, turns, beside: fc.constant(true) }),
	fc.record({ source, turns, others: fc.array(source, { minLength: 1, maxLength: 2 }) }),
	fc.record({ source, turns, hand: fc.record({ ...hand, at: request }) }),
	fc.record({ source, turns, mostDocuments: fc.constant(1), batchSize: fc.constantFrom(2, 5) }),
	refusedIn,
	fc.record({ source, turns, lacks, from, finds: fc.boolean() }),
	fc.record({ source, turns, lacks, from, versioned: fc.boolean() }),
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

/** A night before which somebody deletes documents, and has a dry run tell what the run would do. */
const planned = fc.record({ source, turns, lost: fc.subarray(KEYS, { maxLength: 2 }) });

type Planned = Night & { lost?: string[] };

const SENT = ['found', 'stored'];

/** What a run does with a document that the dry run before it has planned so. */
const DONE: Record<string, string[]> = {
	new: SENT,
	changed: SENT,
	back: SENT,
	unchanged: ['unchanged'],
	gone: ['disabled'],
};

/** What is said of each document that came out, in words about it or about its failure. */
const factsOf = ({ items }: Course): IDataObject[] =>
	items
		.map(({ details, ...json }) => ({ ...json, ...(details as IDataObject) }))
		.filter(({ name }: IDataObject) => name !== 'beside.md');

/** Of runs that begin at the same moment, one works, and the others say which one. */
function expectOneAtWork({ others = [] }: Night, { worked, refused }: Course): void {
	expect([worked.length, refused.length]).toEqual([1, others.length]);
	for (const words of refused)
		expect(words).toMatch(
			/another run of this source is at work, execution \d of "Nights", since 2/,
		);
}

/** What a dry run says while another run may be at work. */
const AT_WORK = /^Another run of this source is at work/;

/** A history, and what is known of it. */
class History {
	/** Whether it was said that what had gone may still be found. */
	private isLossSaid = false;
	/** Whether a whole run has noted what it sent. */
	private isRemembered = false;
	/** Whether nothing more can be expected of it. */
	isOver = false;
	/** Whether nothing has gone wrong, and whether no note was harmed. */
	private isCalm = true;
	private isUnharmed = true;
	/** Documents that somebody enabled, or disabled while a run was at work, since a run last sent them. */
	private readonly switched = new Set<string>();

	constructor(
		private readonly nights: Nights,
		private readonly knowledgebaseId: string,
	) {}

	/** Disables documents, or lets them in again; what is disabled is not found. */
	async noon({ keys, disabled }: { keys: string[]; disabled: boolean }): Promise<void> {
		const { nights, knowledgebaseId } = this;
		await nights.found(knowledgebaseId);
		await nights.noon(knowledgebaseId, { keys, disabled });
		for (const key of keys)
			if (disabled) this.switched.delete(key);
			else this.switched.add(key);
		if (!disabled) return;
		const found = Object.keys(await nights.found(knowledgebaseId));
		expect(found.filter((key) => keys.includes(key))).toEqual([]);
	}

	async night(given: Planned): Promise<void> {
		const { nights, knowledgebaseId } = this;
		// What is sent before anything is remembered is known to nobody.
		const one = this.isRemembered ? given : { ...given, mode: undefined };
		this.isRemembered ||= isWhole(one);
		for (const key of one.lost ?? []) nights.lose(knowledgebaseId, key);
		const stored = nights.stored(knowledgebaseId);
		const texts = this.texts();
		const before = await nights.found(knowledgebaseId);
		const check = one.lost && (await this.plan(one));
		const course = await nights.night(knowledgebaseId, one);
		const { wrong, said, worked } = course;
		check?.(course);
		this.isCalm &&= isWhole(one);
		this.isUnharmed &&= !one.harm;
		expect(wrong).toEqual([]);
		if (isLacking(one)) await this.expectRefused(one, course, before);
		else if (one.others === undefined && !course.error) this.expectEachOnce(one, course, texts);
		if (one.others) expectOneAtWork(one, course);
		// What such a night has stored is known to no later one.
		this.isOver ||= said.some((words) => UNREMEMBERED.test(words));
		// A source none of whose documents is there has nothing to tell it that it had notes.
		const isForgotten = one.harm?.kind === 'every' && one.harm.which === undefined;
		this.isOver ||= isForgotten && !Object.keys(one.source).some((key) => stored.includes(key));
		// What has left the source before that is not known, which is said once.
		this.isOver ||= said.some((words) => STORED_BEFORE.test(words));
		if (this.isOver) return;
		const isLossSaid = said.some((words) => LOST.test(words));
		const hasFailed = course.error ?? course.items.find((item) => item.error !== undefined);
		const isSilent = !hasFailed && said.every((words) => COUNTS.test(words));
		// A run that met a fault and says nothing of it has done all the same what it was to do.
		for (const key of this.sentIn(course)) this.switched.delete(key);
		for (const key of one.hand?.keys ?? []) this.switched.add(key);
		if (!isWhole(one) && !(isFaultAlone(one) && isSilent)) return;
		if (this.isLossSaid) expect(isLossSaid).toBe(true);
		this.isLossSaid = isLossSaid;
		const switched = [...this.switched];
		const found: Record<string, string> = omit(await nights.found(knowledgebaseId), switched);
		const expected: Record<string, string> = omit(nights.expected(worked[0] ?? {}), switched);
		const removes = (one.mode ?? 'mirror') === 'mirror';
		// What may still be found is said; all else is as it should be.
		const all = removes && !isLossSaid ? found : pick(found, Object.keys(expected));
		if (!one.startedBy) expect(all).toEqual(expected);
		// A retry removes nothing, and sets back nothing that is known.
		const known = omit({ ...before, ...expected }, switched);
		for (const key of one.startedBy ? Object.keys(known) : [])
			expect([before[key], expected[key]]).toContain(found[key]);
		if (one.beside) expect(await nights.findsBeside(knowledgebaseId)).toBe(true);
	}

	/** Items without a value are refused by name. Their documents stay as they were, and none is disabled. */
	private async expectRefused(
		{ lacks: { keys, what } = { keys: [], what: 'shard' }, source }: Night,
		{ items }: Course,
		before: Record<string, string>,
	): Promise<void> {
		const refused = keys.filter((key) => key in source);
		const errors = items.filter(({ error }) => /gave nothing for this item/.test(String(error)));
		expect(errors).toHaveLength(refused.length);
		for (const { error } of errors) expect(error).toContain(LABELS[what]);
		expect(map(items, 'outcome')).not.toContain('disabled');
		const found = await this.nights.found(this.knowledgebaseId);
		expect(Object.keys(found)).toEqual(expect.arrayContaining(Object.keys(before)));
		expect(pick(found, refused)).toEqual(pick(before, refused));
	}

	private sentIn(course: Course): string[] {
		const facts = factsOf(course).filter(({ outcome }) => SENT.includes(String(outcome)));
		return facts.map(({ name }) => String(name).replace('.md', ''));
	}

	private texts(): Map<string, string | undefined> {
		return new Map(KEYS.map((key) => [key, this.nights.textOn(this.knowledgebaseId, key)]));
	}

	/** Each document comes out once, with an outcome that is true; a run that ends the sending disables none. */
	private expectEachOnce(
		one: Night,
		course: Course,
		before: Map<string, string | undefined>,
	): void {
		const facts = factsOf(course).filter(({ outcome }) => outcome !== undefined);
		const brought = facts.filter(({ outcome }) => outcome !== 'disabled');
		const names = (course.passed ?? Object.keys(one.source)).map((key) => `${key}.md`);
		expect(map(brought, 'name').sort()).toEqual(names);
		if (map(facts, 'outcome').includes('notSent')) expect(brought).toHaveLength(facts.length);
		// What somebody else has stored meanwhile is none of the run's.
		if (one.hand) return;
		const texts = this.texts();
		for (const { name, outcome } of brought) {
			const key = String(name).replace('.md', '');
			const text = textOf(key, one.source[key] ?? 0);
			if (SENT.includes(String(outcome))) expect(texts.get(key)).toBe(text);
			if (outcome === 'unchanged' && !one.trouble) expect(texts.get(key)).toBe(text);
			if (['rejected', 'notSent'].includes(String(outcome)))
				expect(texts.get(key)).toBe(before.get(key));
			const isRefused = one.refused?.includes(key) && one.from === 'json';
			if (isRefused) expect(SENT).not.toContain(outcome);
			else if (isCalmBeside(one) && !one.startedBy)
				expect([...SENT, 'unchanged']).toContain(outcome);
		}
	}

	/** A dry run changes nothing. @returns the check that the run does what that has told of each document */
	private async plan(one: Night): Promise<(course: Course) => void> {
		const { nights, knowledgebaseId, isCalm, isUnharmed } = this;
		const found = await nights.found(knowledgebaseId);
		const stored = nights.stored(knowledgebaseId);
		const { items, writes, said } = await nights.night(knowledgebaseId, { ...one, dryRun: true });
		expect(writes).toBe(0);
		expect(await nights.found(knowledgebaseId)).toEqual(found);
		// What a run may be writing, as one that crashed may, is called no damage.
		if (this.isLossSaid && !said.some((words) => AT_WORK.test(words)))
			expect(said.some((words) => LOST.test(words))).toBe(true);
		const keyOf = ({ id }: IDataObject) => nights.keyOf(knowledgebaseId, id) ?? '';
		return ({ items: done }) => {
			if (!isUnharmed) return;
			const outcomes = new Map(done.map((item) => [keyOf(item), item.outcome]));
			expect(items.map(keyOf).sort()).toEqual([...outcomes.keys()].sort());
			for (const item of items) {
				const key = keyOf(item);
				expect(DONE[String(item.plan)]).toContain(outcomes.get(key));
				expect(item.plan === 'new').toBe(!stored.includes(key));
				// A night that went wrong may leave what is found without a status: servers tell no more.
				if (item.plan === 'back' && isCalm && !this.switched.has(key))
					expect(found).not.toHaveProperty(key);
				if (item.plan === 'changed') expect(stored).toContain(key);
			}
		};
	}
}

/** The names of the fields that may lack a value. */
const LABELS = {
	documentKey: '"Document Key"',
	documentVersion: '"Document Version"',
	sourceName: '"Source Name"',
	shard: '"Shard"',
};

/** Whether items of a night are refused because a value is missing. A missing version refuses none. */
const isLacking = ({
	lacks: { keys, what } = { keys: [], what: 'shard' },
	source,
}: Night): boolean => what !== 'documentVersion' && keys.some((key) => key in source);

/** What is said of every night. */
const COUNTS = /^Documents: |documentNum/;

/** Whether nothing but the documents themselves is in the way of a night. */
const isCalmBeside = ({ refused: _, ...others }: Night): boolean => isWhole(others);

/** Whether a night met one fault, and nothing else that may keep it from its work. */
const isFaultAlone = ({ trouble, ...others }: Night): boolean => !!trouble && isWhole(others);

/**
 * Lets so many sequences of nights pass. After each night without trouble, assistants find exactly what its
 * source holds, or it is said that more may be found; a run that goes on gives each document once, with an outcome that
 * is true; no run ever takes a document out of answers that it has brought,
 * one that ends the sending none at all, and one that says nothing of a fault has suffered none. A dry run changes
 * nothing, and the run after it does what it has told. Where a note was lost, what was gone by then may stay, which every
 * later run says, a dry run too.
 */
export async function keepInStep(sequences: number): Promise<void> {
	const nights = await Nights.start();
	const sizes = { ...NOTE_LIMITS };
	// What is remembered of five documents is in pieces, and a journal has pages.
	Object.assign(NOTE_LIMITS, { piece: 2, names: 60, answer: 3, pages: 3 });
	const anyNight = fc.oneof<Array<fc.WeightedArbitrary<Planned>>>(
		{ arbitrary: night, weight: 6 },
		{ arbitrary: harmed, weight: 2 },
		{ arbitrary: planned, weight: 2 },
	);
	try {
		await fc.assert(
			fc.asyncProperty(
				fc.array(anyNight, { minLength: 1, maxLength: 6 }),
				source,
				setup,
				fc.array(noon, { maxLength: 2 }),
				async (all, last, how, noons) => {
					const knowledgebaseId = await nights.knowledgebase();
					const history = new History(nights, knowledgebaseId);
					const clean: Planned = { source: last, turns: [0] };
					for (const [number, one] of [...all, clean, clean].entries()) {
						for (const { after, ...by } of noons) if (after === number) await history.noon(by);
						// Only the fields of a text are expressions.
						const lacks = how.from === 'text' ? one.lacks : undefined;
						await history.night({ ...one, ...how, lacks });
						if (history.isOver) break;
					}
					nights.remove(knowledgebaseId);
				},
			),
			{ numRuns: sequences },
		);
	} finally {
		Object.assign(NOTE_LIMITS, sizes);
		await nights.close();
	}
}
