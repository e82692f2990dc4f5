import fc from 'fast-check';
import type { SourceMemory } from 'nodes/XpertAi/ingest/memory';
import { NOTE_LIMITS } from 'nodes/XpertAi/ingest/memory/notes';
import { anySuccessfulAnswer } from 'nodes/XpertAi/transport/answerSchemas';
import { PROPERTY_RUNS } from 'test/support/propertyRuns';

import { journaledBatch } from '../support/journaledBatch';
import { type Fault, idOf, Knowledgebase, open, recall, type Row } from '../support/knowledgebase';

const KEYS = [...'abcdefghijkl'];
const CONTENTS = ['copy #1', 'copy #2', 'copy #3'];
const RUNS = { numRuns: PROPERTY_RUNS };

const sizes = { ...NOTE_LIMITS };
beforeAll(() =>
	Object.assign(NOTE_LIMITS, { piece: 3, names: 60, request: 900, answer: 2, pages: 4 }),
);
afterAll(() => Object.assign(NOTE_LIMITS, sizes));

/** What a run does with a document; without a content, it disables it. */
interface Step {
	key: string;
	content: string | undefined;
}

/** What people do to notes. */
type Harm = { how: 'processes' | 'deletes'; what: 'all' | 'pages' | 'lease' | number };

/** What a run does, some documents in a batch. */
interface Run {
	batches: Step[][];
	/** How many batches are on their way at once, where no document is in two of them. */
	atOnce: number;
	faults: Fault[];
}

const step: fc.Arbitrary<Step> = fc.record({
	key: fc.constantFrom(...KEYS),
	content: fc.option(fc.constantFrom(...CONTENTS), { nil: undefined, freq: 4 }),
});
const batch = fc.uniqueArray(step, { selector: ({ key }) => key, minLength: 1, maxLength: 3 });
const batches = fc.array(batch, { maxLength: 8 });
const fault: fc.Arbitrary<Fault> = fc.record(
	{
		request: fc.nat(14),
		ofBatches: fc.boolean(),
		rows: fc.nat(7),
		late: fc.nat(8),
		crash: fc.boolean(),
		again: fc.boolean(),
		isTooLarge: fc.boolean(),
	},
	{ requiredKeys: ['request', 'ofBatches', 'rows', 'crash', 'again'] },
);
const faults = fc.array(fault, { maxLength: 3 });
const run: fc.Arbitrary<Run> = fc.record({
	batches,
	atOnce: fc.integer({ min: 1, max: 3 }),
	faults,
});
const runs = fc.array(run, { minLength: 1, maxLength: 6 });
const harm: fc.Arbitrary<Harm> = fc.record({
	how: fc.constantFrom('processes', 'deletes'),
	what: fc.oneof(fc.constantFrom('all', 'pages', 'lease'), fc.nat(60)),
});

/** What a document is called. The last ones have IDs of their own, and so no key. */
const called = (key: string) => ({ ...(key < 'k' && { key }), name: `${key} 😀` });

/** A run of the source in a knowledgebase, as its callers have it work. */
class Working {
	private readonly sent = new Set<string>();

	private constructor(
		private readonly server: Knowledgebase,
		readonly memory: SourceMemory,
		private readonly routes: ReturnType<Knowledgebase['routes']>,
		private readonly again: boolean,
	) {}

	static async begin(server: Knowledgebase, faults: Fault[] = []): Promise<Working> {
		const routes = server.routes(faults);
		const memory = await open(routes);
		// Who finds none of its notes looks for its documents; here, it also notes that they may be lost.
		if (memory.isNew && server.found.size > 0) {
			memory.recordUnsaid({ stored: server.found.size, twice: 0 });
			memory.failures.lost = { at: 'once' };
		}
		const again = faults.some((fault) => fault.again);
		return new Working(server, memory, routes, again);
	}

	async work(batch: Step[]): Promise<void> {
		const stored = batch.filter(
			({ key, content }) => content !== undefined && !this.skips(key, content),
		);
		if (stored.length > 0) await this.store(stored);
		for (const { key, content } of batch) if (content === undefined) await this.disable(idOf(key));
	}

	/** What is known with its content is not sent again. */
	private skips(key: string, content = ''): boolean {
		const { known, names } = this.memory;
		if (!known.hasSameContent(idOf(key), content)) return false;
		names.addIfUnnamed(idOf(key), called(key));
		this.sent.add(idOf(key));
		return true;
	}

	private async store(batch: Step[]): Promise<void> {
		const { memory } = this;
		const documents = batch.map(({ key, content = '' }) => ({ id: idOf(key), content }));
		const contents = new Map(documents.map(({ id, content }) => [id, content]));
		for (const { id } of documents) this.sent.add(id);
		const journaled = await journaledBatch(memory, this.routes, contents, documents);
		if (!journaled) return;
		const first = await journaled.send();
		const last = !first.ok && this.again ? await journaled.send() : first;
		const isLate = [first, last].some((one) => !one.ok && one.failure.status !== 413);
		const isNothing = !last.ok && !isLate;
		journaled.ended(last.ok, isLate);
		if (isNothing && batch.length > 1) for (const one of batch) await this.store([one]);
		else if (isNothing) for (const { id } of documents) memory.recordRejected(id);
		else if (last.ok)
			for (const { key, content = '' } of batch)
				memory.recordStored(idOf(key), content, called(key));
	}

	private async disable(id: string): Promise<void> {
		const { memory } = this;
		// What the run has brought is not missing.
		if (
			this.sent.has(id) ||
			!this.server.rows.has(id) ||
			(await memory.journalBeforeDisabling([id]))
		)
			return;
		const body = JSON.stringify([{ id, content: null }]);
		const { ok } = await this.routes.send({
			method: 'POST',
			path: '/bulk',
			body,
			schema: anySuccessfulAnswer,
		});
		if (ok) memory.known.remove(id);
	}
}

/** Batches as they are sent: some at once, unless they hold the same document. */
function sideBySide({ batches: all, atOnce }: Run): Step[][][] {
	const groups: Step[][][] = [];
	for (const batch of all) {
		const last = groups.at(-1) ?? [];
		const keys = last.flat().map(({ key }) => key);
		const fits =
			last.length > 0 && last.length < atOnce && !batch.some(({ key }) => keys.includes(key));
		if (fits) last.push(batch);
		else groups.push([batch]);
	}
	return groups;
}

function harmed(server: Knowledgebase, what: Harm['what']): Row[] {
	const notes = server.notes(
		what === 'pages' ? 'is storing' : what === 'lease' ? 'is at work' : '',
	);
	const one = typeof what === 'number' && notes[what % notes.length];
	return one ? [one] : notes;
}

/** One run; what an earlier one has left on its way arrives before it ends. */
async function pass(
	server: Knowledgebase,
	one: Run,
	check: (memory: SourceMemory, before: Map<string, string>) => void = () => undefined,
): Promise<SourceMemory> {
	const before = server.found;
	const working = await Working.begin(server, one.faults);
	const { memory } = working;
	if (!memory.sendBlockedBy) check(memory, before);
	for (const group of sideBySide(one))
		await Promise.all(group.map(async (batch) => await working.work(batch)));
	server.carryOut(!one.faults.some(({ crash }) => crash));
	await memory.close();
	return memory;
}

/** Documents have no other names than their own. @returns the keys of those that have one */
async function expectNamed({ names }: SourceMemory): Promise<string[]> {
	const found = await names.of(KEYS.map(idOf));
	const keys = KEYS.filter((key) => found.has(idOf(key)));
	for (const key of keys) expect(found.get(idOf(key))).toEqual(called(key));
	return keys;
}

/**
 * What the server has is known, with no other content; else it is said that something is lost.
 *
 * @param before what it had before that was read, if more has come meanwhile
 */
function expectSound(
	server: Knowledgebase,
	{ known, failures, isNew }: SourceMemory,
	before = server.found,
): void {
	for (const id of KEYS.map(idOf))
		for (const content of CONTENTS)
			if (known.hasSameContent(id, content))
				expect([before.get(id), server.found.get(id)]).toContain(content);
	if (failures.lost || isNew) return;
	expect(KEYS.filter((key) => before.has(idOf(key)) && !known.knows(idOf(key)))).toEqual([]);
}

describe('whatever happened to earlier runs', () => {
	it('every stored document is known, no wrong content is, and nothing is reported lost', async () => {
		await fc.assert(
			fc.asyncProperty(runs, async (all) => {
				const server = new Knowledgebase();
				const check = (memory: SourceMemory, before: Map<string, string>) => {
					expectSound(server, memory, before);
					expect(memory.failures.lost).toBeUndefined();
				};
				for (const one of all) {
					await pass(server, one, check);
					const memory = await recall(server.copy().routes());
					check(memory, server.found);
					await expectNamed(memory);
				}
			}),
			RUNS,
		);
	});

	it('after notes are deleted or processed, whatever is no longer known is reported lost', async () => {
		await fc.assert(
			fc.asyncProperty(runs, harm, runs, async (earlier, { how, what }, later) => {
				const server = new Knowledgebase();
				for (const one of earlier) await pass(server, one);
				server.carryOut(true);
				server.harm(harmed(server, what), how);
				expectSound(server, await recall(server.copy().routes()));
				for (const one of later) {
					await pass(server, one, (memory, before) => expectSound(server, memory, before));
					const memory = await recall(server.copy().routes());
					expectSound(server, memory);
					await expectNamed(memory);
				}
			}),
			RUNS,
		);
	});

	it('after a crash, a run with all documents knows their contents and names', async () => {
		const calm = { batches: KEYS.map((key) => [{ key, content: 'copy #1' }]), atOnce: 2 };
		await fc.assert(
			fc.asyncProperty(run, async (before) => {
				const server = new Knowledgebase();
				const faults = before.faults.map((one) => ({ ...one, crash: true, isTooLarge: false }));
				await pass(server, { ...before, faults });
				server.carryOut(true);
				await pass(server, { ...calm, faults: [] });
				const memory = await recall(server.routes());
				expect(KEYS.filter((key) => !memory.known.hasSameContent(idOf(key), 'copy #1'))).toEqual(
					[],
				);
				expect(await expectNamed(memory)).toEqual(KEYS);
			}),
			RUNS,
		);
	});

	it('without faults, exactly the stored documents are known, with their contents', async () => {
		const calm = run.map((one) => ({ ...one, faults: [] }));
		await fc.assert(
			fc.asyncProperty(fc.array(calm, { minLength: 1, maxLength: 6 }), async (all) => {
				const server = new Knowledgebase();
				for (const one of all) await pass(server, one);
				const { known } = await recall(server.routes());
				expect(new Set(known.ids())).toEqual(new Set(server.found.keys()));
				for (const [id, content] of server.found)
					expect(known.hasSameContent(id, content)).toBe(true);
			}),
			RUNS,
		);
	});
});
