import { createHash } from 'node:crypto';

import fc from 'fast-check';

import { SourceMemory } from '../../../../../nodes/XpertAi/ingest/memory';
import type { MemoryRoutes } from '../../../../../nodes/XpertAi/ingest/memory';
import { SIZES } from '../../../../../nodes/XpertAi/ingest/memory/sizes';
import { derivedId } from '../../../../../nodes/XpertAi/payloads/derivedId';
import type { Outcome } from '../../../../../nodes/XpertAi/transport/request';
import { virtualTime } from '../../../support/virtualTime';
import { journaledBatch } from '../support/journaledBatch';
import { answered, failed } from '../support/outcomes';
import { PROPERTY_RUNS } from '../../../../support/propertyRuns';

const PLACE = { knowledgebaseId: 'kb', source: 'a node', title: 'Nightly' };
const IDS = [...'abcdefghijkl'].map((key) => derivedId('kb', key));

const RUNS = { numRuns: PROPERTY_RUNS };
/** Where each note in turn is lost, in two ways. */
const EACH_NOTE = { numRuns: Math.ceil(PROPERTY_RUNS / 3) };

const sizes = { ...SIZES };
beforeAll(() =>
	Object.assign(SIZES, { piece: 3, changes: 2, page: 60, request: 900, answer: 2, pages: 2 }),
);
afterAll(() => Object.assign(SIZES, sizes));

/** Opens it; a run before that has not closed its memory has crashed, and the minute that takes is none. */
const open = async (...[place, routes, more]: Parameters<typeof SourceMemory.open>) =>
	await SourceMemory.open(place, routes, { clock: virtualTime(), ...more });

/** What is sent of a document; without a content it is taken out of answers. */
interface Step {
	id: string;
	content: string | undefined;
}

/** A request that is not answered: how many of its rows the server has stored by then, and when the others. */
interface Fault {
	request: number;
	/** Whether it is refused as too large instead: nothing of it is done. */
	isTooLarge?: boolean;
	/** Whether only requests count that store or disable documents. */
	ofBatches: boolean;
	rows: number;
	/** After so many further requests, or never. */
	late?: number;
	/** Whether everything ends with it; else it is tried again, or given up. */
	crash: boolean;
	again: boolean;
}

/** What a run does, some documents in a batch. */
interface Run {
	batches: Step[][];
	/** How many batches are on their way at once, where no document is in two of them. */
	atOnce?: number;
	faults?: Fault[];
	/** The notes that the server refuses in this run. */
	refuses?: string;
}

const step: fc.Arbitrary<Step> = fc.record({
	id: fc.constantFrom(...IDS),
	content: fc.option(fc.constantFrom('one', 'two', 'three'), { nil: undefined, freq: 4 }),
});
const batch = fc.uniqueArray(step, { selector: ({ id }) => id, minLength: 1, maxLength: 3 });
const batches = fc.array(batch, { maxLength: 6 });
const fault: fc.Arbitrary<Fault> = fc.record(
	{
		request: fc.nat(10),
		ofBatches: fc.boolean(),
		rows: fc.nat(6),
		late: fc.nat(6),
		crash: fc.boolean(),
		again: fc.boolean(),
		isTooLarge: fc.boolean(),
	},
	{ requiredKeys: ['request', 'ofBatches', 'rows', 'crash', 'again'] },
);
const run: fc.Arbitrary<Run> = fc.record(
	{
		batches,
		atOnce: fc.integer({ min: 1, max: 3 }),
		faults: fc.array(fault, { minLength: 1, maxLength: 3 }),
		refuses: fc.constantFrom('has stored', 'has stored, ', 'changes in', 'has stored ('),
	},
	{ requiredKeys: ['batches'] },
);

/** A note, or a document with its content. */
interface Row {
	id: string;
	name?: string;
	processMsg?: string;
	content?: string | null;
}

/** A server that stores rows in order, also when nobody waits any more, and the truth about the documents in it. */
class World {
	readonly notes = new Map<string, { name: string; processMsg: string; version?: number }>();

	readonly documents = new Map<string, string>();

	/** Documents of which a run did not learn what became of them. */
	readonly unanswered = new Set<string>();

	private late: Array<{ after: number; rows: Row[] }> = [];

	routes({ faults = [], refuses }: Omit<Run, 'batches'> = {}): MemoryRoutes {
		const count = { ofAll: 0, ofBatches: 0 };
		let gone = false;
		const send = (path: string, body: unknown): Outcome => {
			if (gone) return failed({ kind: 'network', status: undefined });
			this.carryOut();
			const isBatch = typeof body === 'string' && body.includes('"content"');
			const numbers = { ofAll: count.ofAll++, ofBatches: isBatch ? count.ofBatches++ : -1 };
			const trouble = faults.find(
				({ request, ofBatches }) => numbers[ofBatches ? 'ofBatches' : 'ofAll'] === request,
			);
			if (!trouble) return typeof body === 'string' ? this.store(body, refuses) : this.status(path);
			if (trouble.isTooLarge) return answered(413);
			gone = trouble.crash;
			if (typeof body === 'string') this.storePartly(body, trouble);
			return failed({ kind: 'network', status: undefined });
		};
		return {
			storePath: '/bulk',
			statusPath: (ids) => ids.join(','),
			send: async ({ path, body }) => {
				for (let turns = count.ofAll % 4; turns > 0; turns--) await Promise.resolve();
				return send(path, body);
			},
		};
	}

	/** What nobody waits for is carried out, as far as its time has come. */
	carryOut(all = false): void {
		for (const one of this.late) one.after -= 1;
		const isDue = ({ after }: { after: number }) => all || after < 0;
		for (const { rows } of this.late.filter(isDue)) for (const row of rows) this.put(row);
		this.late = this.late.filter((one) => !isDue(one));
	}

	private storePartly(body: string, { rows: done, late }: Fault): void {
		const rows = JSON.parse(body) as Row[];
		for (const row of rows.slice(0, done)) this.put(row);
		// A run stores nothing more once it takes documents out of answers.
		const isStored = !rows.some(({ content }) => content === null);
		if (late !== undefined && isStored) this.late.push({ after: late, rows: rows.slice(done) });
	}

	private put({ id, name = '', processMsg, content }: Row): number {
		const version = (this.notes.get(id)?.version ?? 0) + 1;
		if (processMsg !== undefined) this.notes.set(id, { name, processMsg, version });
		else if (typeof content === 'string') this.documents.set(id, content);
		else this.documents.delete(id);
		return version;
	}

	/** Each note in turn is overwritten or deleted, the others as they are. */
	*withoutOne(): Generator<{ name: string; world: World }> {
		for (const [id, { name }] of this.notes)
			for (const processMsg of ['Cannot read properties of undefined', undefined]) {
				const world = new World();
				for (const [one, note] of this.notes) world.notes.set(one, note);
				if (processMsg === undefined) world.notes.delete(id);
				else world.notes.set(id, { name, processMsg });
				for (const [one, content] of this.documents) world.documents.set(one, content);
				yield { name, world };
			}
	}

	/** A note as the first version wrote it. */
	putOld(
		name: string,
		facts: object,
		stored: Array<{ id: string }>,
		unknown: Array<{ id: string }>,
	) {
		const counts = [stored.length, 0, unknown.length];
		const bytes = (id: string) => Buffer.from(id.replace(/-/g, ''), 'hex');
		const hash = createHash('sha1').update('one').digest().subarray(0, 8);
		const body = [
			...stored.flatMap(({ id }) => [bytes(id), hash]),
			...unknown.map((one) => bytes(one.id)),
		];
		const head = JSON.stringify({ source: PLACE.source, ...facts, counts });
		const rest = `${Buffer.from(head).toString('base64')}:${Buffer.concat(body).toString('base64')}`;
		const sum = createHash('sha256').update(rest).digest('hex').slice(0, 32);
		const id = derivedId(PLACE.knowledgebaseId, `n8n ${name} of ${PLACE.source}`);
		this.notes.set(id, { name, processMsg: `n8n-memory-1:${sum}:${rest}` });
		for (const one of [...stored, ...unknown]) this.documents.set(one.id, 'one');
	}

	private store(body: string, refuses?: string): Outcome {
		const answer: object[] = [];
		for (const row of JSON.parse(body) as Row[]) {
			if (refuses !== undefined && row.name?.includes(refuses)) return answered(413);
			answer.push({ id: row.id, version: this.put(row) });
		}
		return { ok: true, status: 201, answer };
	}

	private status(path: string): Outcome {
		const answer = path.split(',').flatMap((id) => {
			const note = this.notes.get(id);
			return note ? { id, processMsg: note.processMsg } : [];
		});
		return { ok: true, status: 200, answer };
	}
}

const isOldMemory = ({ name, processMsg }: { name: string; processMsg: string }) =>
	name === 'memory' && processMsg.startsWith('n8n-memory-1:');

/** What a run does in a world. */
class Working {
	constructor(
		private readonly world: World,
		private readonly memory: SourceMemory,
		private readonly routes = world.routes(),
		private readonly again = false,
	) {}

	async work(batch: Step[]): Promise<void> {
		const stored = batch.filter((one) => one.content !== undefined);
		if (stored.length > 0) await this.store(stored);
		for (const { id } of batch.filter((one) => one.content === undefined)) await this.disable(id);
	}

	private async store(batch: Step[]): Promise<void> {
		const { memory } = this;
		const contents = new Map(batch.map(({ id, content = '' }) => [id, content]));
		const journaled = await journaledBatch(memory, this.routes, contents, batch);
		if (!journaled) return batch.forEach(({ id }) => this.refuse(id));
		const first = await journaled.send();
		const last = !first.ok && this.again ? await journaled.send() : first;
		const isLate = [first, last].some((one) => !one.ok && one.failure.status !== 413);
		const isNothing = !last.ok && !isLate;
		journaled.ended(last.ok ? 'done' : isNothing ? 'nothing' : 'unclear', isLate);
		if (isNothing && batch.length === 1) return batch.forEach(({ id }) => this.refuse(id));
		if (isNothing) for (const one of batch) await this.store([one]);
		if (isNothing) return;
		for (const [id, content] of contents)
			if (!last.ok) this.world.unanswered.add(id);
			else memory.stored(id, content);
	}

	private async disable(id: string): Promise<void> {
		const { memory } = this;
		if (await memory.expect([id])) return this.refuse(id);
		const body = JSON.stringify([{ id, content: null }]);
		const { ok } = await this.routes.send({ method: 'POST', path: '/bulk', body });
		if (ok) memory.gone(id);
		else this.world.unanswered.add(id);
	}

	private refuse(id: string): void {
		this.memory.refused(id);
		this.world.unanswered.add(id);
	}
}

async function pass(world: World, one: Run): Promise<void> {
	const routes = world.routes(one);
	const memory = await open(PLACE, routes);
	const again = one.faults?.some((fault) => fault.again);
	const working = new Working(world, memory, routes, again);
	for (const batches of sideBySide(one))
		await Promise.all(batches.map((batch) => working.work(batch)));
	await memory.close();
}

/** Batches as they are sent: some at once, unless they hold the same document. */
function sideBySide({ batches: all, atOnce = 1 }: Run): Step[][][] {
	const groups: Step[][][] = [];
	for (const batch of all) {
		const last = groups.at(-1) ?? [];
		const ids = last.flat().map(({ id }) => id);
		const fits =
			last.length > 0 && last.length < atOnce && !batch.some(({ id }) => ids.includes(id));
		if (fits) last.push(batch);
		else groups.push([batch]);
	}
	return groups;
}

/** What is remembered, without a note of that: never a wrong content. */
async function recalled(world: World) {
	const read = await SourceMemory.recall(PLACE, world.routes(), {});
	if ('failure' in read) throw new Error(read.failure.reason);
	const { known } = read;
	const wrong = IDS.filter((id) =>
		['one', 'two', 'three', 'four'].some(
			(content) => known.has(id, content) && world.documents.get(id) !== content,
		),
	);
	expect(wrong).toEqual([]);
	return known;
}

describe('whatever happened to earlier runs', () => {
	it('no content is remembered that is not there, and every document that may be there is known', async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 6 }), async (runs) => {
				const world = new World();
				for (const one of runs) {
					await pass(world, one);
					// The minute until the next run may begin.
					world.carryOut(true);
					const known = await recalled(world);
					for (const id of world.documents.keys()) expect(known.knows(id)).toBe(true);
					if (one.faults ?? one.refuses) continue;
					// What two runs have left, one after the other, is known without its contents.
					if (runs.filter(({ faults, refuses }) => faults ?? refuses).length > 1) continue;
					for (const [id, content] of world.documents)
						if (!world.unanswered.has(id)) expect(known.has(id, content)).toBe(true);
					if (!runs.some(({ faults, refuses }) => faults ?? refuses))
						expect(known.size).toBe(world.documents.size);
				}
			}),
			RUNS,
		);
	});

	it('every document is known however late the rows arrive of a run that has crashed', async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 5 }), async (runs) => {
				const world = new World();
				const isStored = ({ content }: Step) => content !== undefined;
				for (const { batches: all, ...one } of runs)
					await pass(world, { ...one, batches: all.map((batch) => batch.filter(isStored)) });
				world.carryOut(true);
				const { known } = (await SourceMemory.recall(PLACE, world.routes())) as {
					known: SourceMemory['known'];
				};
				for (const id of world.documents.keys()) expect(known.knows(id)).toBe(true);
			}),
			RUNS,
		);
	});

	it('the contents of a run that crashed are known, but for what was on its way', async () => {
		await fc.assert(
			fc.asyncProperty(run, batches, fc.nat(5), async (first, after, rows) => {
				const world = new World();
				await pass(world, { batches: first.batches });
				const memory = await open(PLACE, world.routes());
				const working = new Working(world, memory);
				for (const batch of after) await working.work(batch);
				const crash = { request: 0, ofBatches: true, rows, crash: true, again: false };
				const last = new Working(world, memory, world.routes({ faults: [crash] }));
				const onItsWay = { id: IDS[0] ?? '', content: 'four' };
				await last.work([onItsWay]);
				const known = await recalled(world);
				for (const [id, content] of world.documents)
					if (id !== onItsWay.id || rows > 2) expect(known.has(id, content)).toBe(true);
			}),
			RUNS,
		);
	});

	it('what the first version has noted is taken over: its memory, and journals beside it', async () => {
		const documents = fc.uniqueArray(
			fc.record({ id: fc.constantFrom(...IDS), where: fc.constantFrom('memory', 'old', 'new') }),
			{ selector: ({ id }) => id },
		);
		await fc.assert(
			fc.asyncProperty(documents, run, async (all, one) => {
				const world = new World();
				const of = (...where: string[]) => all.filter((one) => where.includes(one.where));
				world.putOld('memory', { mark: 'm', includes: ['j0'] }, of('memory', 'old'), []);
				world.putOld('journal 0', { mark: 'j0' }, [], of('old'));
				world.putOld('journal 1', { mark: 'j1' }, [], of('new'));
				const first = await recalled(world);
				for (const { id, where } of all) {
					expect(first.knows(id)).toBe(true);
					expect(first.has(id, 'one')).toBe(where !== 'new');
				}
				await pass(world, { batches: one.batches });
				const known = await recalled(world);
				expect([...world.notes.values()].some(isOldMemory)).toBe(false);
				for (const { id } of all) if (world.documents.has(id)) expect(known.knows(id)).toBe(true);
			}),
			RUNS,
		);
	});

	it('a note that is lost costs its documents, and makes no other content wrong', async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 4 }), async (runs) => {
				const whole = new World();
				for (const one of [...runs, { batches: [] }]) await pass(whole, one);
				whole.carryOut(true);
				for (const { name, world } of whole.withoutOne()) {
					const known = await recalled(world);
					const lost = IDS.filter((id) => whole.documents.has(id) && !known.knows(id));
					if (name.includes('began')) expect(lost).toEqual([]);
					await pass(world, {
						batches: [[...world.documents].map(([id, content]) => ({ id, content }))],
					});
					const after = await recalled(world);
					for (const [id, content] of world.documents) expect(after.has(id, content)).toBe(true);
				}
			}),
			EACH_NOTE,
		);
	});

	it('a note that is deleted or overwritten after a run that has crashed makes no content wrong', async () => {
		// A server that carries out a part of a request leaves what only its page tells.
		const whole = run.map(({ faults = [], ...one }) => ({
			...one,
			faults: faults.map((fault) => ({ ...fault, rows: fault.rows % 2 === 0 ? 0 : Infinity })),
		}));
		await fc.assert(
			fc.asyncProperty(
				fc.array(whole, { minLength: 1, maxLength: 4 }),
				batches,
				async (all, last) => {
					const before = new World();
					for (const one of all) await pass(before, one);
					const crash = { request: 8, ofBatches: false, rows: 0, crash: true, again: false };
					await pass(before, { batches: last, faults: [crash] });
					before.carryOut(true);
					for (const { world } of before.withoutOne()) {
						await recalled(world);
						await pass(world, { batches: [] });
						await recalled(world);
					}
				},
			),
			EACH_NOTE,
		);
	});

	it('two runs at once leave no content certain that is not there, and know all that is', async () => {
		await fc.assert(
			fc.asyncProperty(
				run,
				fc.array(fc.tuple(fc.boolean(), batch), { maxLength: 8 }),
				fc.boolean(),
				// It begins beside the first, or takes that for gone.
				fc.boolean(),
				async (before, brought, firstEndsFirst, evenIfRunning) => {
					const world = new World();
					await pass(world, { batches: before.batches });
					const one = await open(PLACE, world.routes());
					const other = await open(PLACE, world.routes(), { evenIfRunning });
					const [first, second] = [one, other].map((memory) => new Working(world, memory));
					for (const [isFirst, batch] of brought) await (isFirst ? first : second)?.work(batch);
					for (const memory of firstEndsFirst ? [one, other] : [other, one]) await memory.close();
					const known = await recalled(world);
					for (const id of world.documents.keys()) expect(known.knows(id)).toBe(true);
				},
			),
		);
	});
});
