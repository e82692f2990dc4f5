import { createHash } from 'node:crypto';

import fc from 'fast-check';

import { SourceMemory } from '../../../../../nodes/XpertAi/ingest/memory';
import type { MemoryRoutes } from '../../../../../nodes/XpertAi/ingest/memory';
import { SIZES } from '../../../../../nodes/XpertAi/ingest/memory/sizes';
import { derivedId } from '../../../../../nodes/XpertAi/payloads/derivedId';
import type { Outcome } from '../../../../../nodes/XpertAi/transport/request';
import { virtualTime } from '../../../support/virtualTime';
import { answered, failed } from '../support/outcomes';

const PLACE = { knowledgebaseId: 'kb', source: 'a node', title: 'Nightly' };
const IDS = [...'abcdefghijkl'].map((key) => derivedId('kb', key));

const sizes = { ...SIZES };
beforeAll(() =>
	Object.assign(SIZES, { piece: 3, changes: 2, page: 60, request: 900, answer: 2, pages: 2 }),
);
afterAll(() => Object.assign(SIZES, sizes));

/** Opens it; a run before that has not closed its memory has crashed, and the minute that takes is none. */
const open = async (...[place, routes, more]: Parameters<typeof SourceMemory.open>) =>
	await SourceMemory.open(place, routes, { clock: virtualTime(), ...more });

/** What a run does with a document, and when it ends in the middle of it. */
interface Run {
	steps: Array<{ id: string; content: string | undefined }>;
	/** The request at which everything ends, and whether the server has done it. */
	crash?: { request: number; done: boolean };
	/** The notes that the server refuses in this run. */
	refuses?: string;
}

const step = fc.record({
	id: fc.constantFrom(...IDS),
	content: fc.option(fc.constantFrom('one', 'two', 'three'), { nil: undefined, freq: 4 }),
});
const run: fc.Arbitrary<Run> = fc.record(
	{
		steps: fc.array(step, { maxLength: 12 }),
		crash: fc.record({ request: fc.nat(20), done: fc.boolean() }),
		refuses: fc.constantFrom('has stored', 'has stored, ', 'changes in', 'has stored ('),
	},
	{ requiredKeys: ['steps'] },
);

/** A server that keeps notes, and the truth about the documents that runs have sent it. */
class World {
	readonly notes = new Map<string, { name: string; processMsg: string; version?: number }>();

	readonly documents = new Map<string, string>();

	routes({ crash, refuses }: Omit<Run, 'steps'> = {}): MemoryRoutes {
		let count = 0;
		let gone = false;
		const send = (path: string, body: unknown): Outcome => {
			const isLast = !gone && count++ === crash?.request;
			if (gone || (isLast && !crash?.done)) gone = true;
			if (gone) return failed({ kind: 'network', status: undefined });
			gone = isLast;
			const outcome = typeof body === 'string' ? this.store(body, refuses) : this.status(path);
			return isLast ? failed({ kind: 'network', status: undefined }) : outcome;
		};
		return {
			storePath: '/bulk',
			statusPath: (ids) => ids.join(','),
			send: async ({ path, body }) => await Promise.resolve(send(path, body)),
		};
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
		const rows = JSON.parse(body) as Array<{ id: string; name: string; processMsg: string }>;
		for (const row of rows) {
			if (refuses !== undefined && row.name.includes(refuses)) return answered(413);
			this.notes.set(row.id, { ...row, version: (this.notes.get(row.id)?.version ?? 0) + 1 });
		}
		const answer = rows.map(({ id }) => ({ id, version: this.notes.get(id)?.version }));
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

/** Sends, or takes out of answers, what a run brings. */
async function work(world: World, memory: SourceMemory, { id, content }: Run['steps'][number]) {
	if (await memory.expect([id])) return memory.refused(id);
	if (content === undefined) {
		world.documents.delete(id);
		memory.known.drop(id);
		memory.refused(id);
		return;
	}
	world.documents.set(id, content);
	memory.stored(id, content);
}

async function pass(world: World, one: Run): Promise<void> {
	const memory = await open(PLACE, world.routes(one));
	for (const step of one.steps) await work(world, memory, step);
	await memory.close();
}

/** What is remembered, without a note of that: never a wrong content. */
async function recalled(world: World) {
	const read = await SourceMemory.recall(PLACE, world.routes(), {});
	if ('failure' in read) throw new Error(read.failure.reason);
	const { known } = read;
	const wrong = IDS.filter((id) =>
		['one', 'two', 'three'].some(
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
					const known = await recalled(world);
					for (const id of world.documents.keys()) expect(known.knows(id)).toBe(true);
					if (one.crash ?? one.refuses) continue;
					// What two runs have left, one after the other, is known without its contents.
					if (runs.some(({ crash }) => crash) && runs.some(({ refuses }) => refuses)) continue;
					for (const [id, content] of world.documents) expect(known.has(id, content)).toBe(true);
					if (!runs.some(({ crash }) => crash)) expect(known.size).toBe(world.documents.size);
				}
			}),
		);
	});

	it('the contents of a run that crashed are known but for what was on its way', async () => {
		await fc.assert(
			fc.asyncProperty(run, fc.array(step, { maxLength: 12 }), async (first, steps) => {
				const world = new World();
				await pass(world, { steps: first.steps });
				const memory = await open(PLACE, world.routes());
				for (const step of steps) await work(world, memory, step);
				const last = steps.at(-1)?.id;
				const known = await recalled(world);
				for (const [id, content] of world.documents)
					if (id !== last) expect(known.has(id, content)).toBe(true);
			}),
		);
	});

	it('what the first version has noted is taken over: its memory, and journals beside it', async () => {
		const documents = fc.uniqueArray(
			fc.record({ id: fc.constantFrom(...IDS), where: fc.constantFrom('memory', 'old', 'new') }),
			{ selector: ({ id }) => id },
		);
		await fc.assert(
			fc.asyncProperty(documents, run, async (all, { steps }) => {
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
				await pass(world, { steps });
				const known = await recalled(world);
				expect([...world.notes.values()].some(isOldMemory)).toBe(false);
				for (const { id } of all) if (world.documents.has(id)) expect(known.knows(id)).toBe(true);
			}),
		);
	});

	it('a note that is lost costs its documents, and makes no other content wrong', async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 4 }), async (runs) => {
				const whole = new World();
				for (const one of [...runs, { steps: [] }]) await pass(whole, one);
				for (const { name, world } of whole.withoutOne()) {
					const known = await recalled(world);
					const lost = IDS.filter((id) => whole.documents.has(id) && !known.knows(id));
					if (name.includes('began')) expect(lost).toEqual([]);
					await pass(world, {
						steps: [...world.documents].map(([id, content]) => ({ id, content })),
					});
					const after = await recalled(world);
					for (const [id, content] of world.documents) expect(after.has(id, content)).toBe(true);
				}
			}),
		);
	});

	it('two runs at once leave no content certain that is not there, and know all that is', async () => {
		await fc.assert(
			fc.asyncProperty(
				run,
				fc.array(fc.tuple(fc.boolean(), step), { maxLength: 12 }),
				fc.boolean(),
				// It begins beside the first, or takes that for gone.
				fc.boolean(),
				async (before, steps, firstEndsFirst, evenIfRunning) => {
					const world = new World();
					await pass(world, { steps: before.steps });
					const one = await open(PLACE, world.routes());
					const other = await open(PLACE, world.routes(), { evenIfRunning });
					for (const [isFirst, step] of steps) await work(world, isFirst ? one : other, step);
					for (const memory of firstEndsFirst ? [one, other] : [other, one]) await memory.close();
					const known = await recalled(world);
					for (const id of world.documents.keys()) expect(known.knows(id)).toBe(true);
				},
			),
		);
	});
});
