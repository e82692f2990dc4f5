import fc from 'fast-check';

import { SourceMemory } from '../../../../../nodes/XpertAi/ingest/memory';
import type { DocumentName, MemoryRoutes } from '../../../../../nodes/XpertAi/ingest/memory';
import { SIZES } from '../../../../../nodes/XpertAi/ingest/memory/sizes';
import { derivedId } from '../../../../../nodes/XpertAi/payloads/derivedId';
import type { Outcome } from '../../../../../nodes/XpertAi/transport/request';
import { virtualTime } from '../../../support/virtualTime';
import { journaledBatch } from '../support/journaledBatch';
import { failed } from '../support/outcomes';

const OWNER = derivedId('kb', 'source Nightly');
const PLACE = { knowledgebaseId: 'kb', owner: OWNER, source: 'a node', title: 'Nightly' };
const KEYS = [...'abcdefgh'];
/** Half of the documents have ids that are made of their keys. */
const idOf = (key: string) =>
	key < 'e' ? derivedId(OWNER, key) : derivedId('somewhere else', key);

const sizes = { ...SIZES };
beforeAll(() => Object.assign(SIZES, { names: 60, piece: 3, page: 60, answer: 2 }));
afterAll(() => Object.assign(SIZES, sizes));

/** What a run brings: what each document is called, and whether it has changed. */
interface Run {
	brings: Array<{ key: string; name: string; changed: boolean }>;
	/** The request at which the run breaks off. */
	crash?: number;
	/** A note of names that somebody deletes or has processed before it. */
	harm?: { at: number; text?: string };
}

const run: fc.Arbitrary<Run> = fc.record(
	{
		brings: fc.uniqueArray(
			fc.record({
				key: fc.constantFrom(...KEYS),
				name: fc.oneof(
					fc.constantFrom('one', 'two'),
					fc.string({ unit: 'grapheme', minLength: 1 }),
				),
				changed: fc.boolean(),
			}),
			{ selector: ({ key }) => key },
		),
		crash: fc.nat(20),
		harm: fc.record(
			{ at: fc.nat(3), text: fc.constant('Invalid PDF structure') },
			{ requiredKeys: ['at'] },
		),
	},
	{ requiredKeys: ['brings'] },
);

class World {
	readonly rows = new Map<string, { name: string; processMsg: string }>();

	readonly written: string[] = [];

	/** What each document was ever called. */
	readonly called = new Map<string, Set<string>>();

	routes(crash = Infinity): MemoryRoutes {
		let count = 0;
		const answer = (path: string, body: unknown): Outcome => {
			if (count++ >= crash) return failed({ kind: 'network' });
			if (typeof body !== 'string') {
				const there = path.split(',').flatMap((id) => {
					const row = this.rows.get(id);
					return row ? { id, processMsg: row.processMsg } : [];
				});
				return { ok: true, status: 200, answer: there };
			}
			const rows = JSON.parse(body) as Array<{ id: string; name: string; processMsg: string }>;
			for (const row of rows) this.rows.set(row.id, row);
			this.written.push(...rows.map(({ name }) => name));
			return { ok: true, status: 201, answer: rows.map(({ id }) => ({ id, version: 1 })) };
		};
		return {
			storePath: '/bulk',
			statusPath: (ids) => ids.join(','),
			send: async ({ path, body }) => await Promise.resolve(answer(path, body)),
		};
	}

	async pass({ brings, crash, harm }: Run): Promise<void> {
		const notes = [...this.rows].filter(([, { name }]) => name.includes('calls its documents'));
		const harmed = harm && notes[harm.at];
		if (harmed && harm.text === undefined) this.rows.delete(harmed[0]);
		else if (harmed) Object.assign(harmed[1], { processMsg: harm.text });
		const routes = this.routes(crash);
		const memory = await SourceMemory.open(PLACE, routes, { clock: virtualTime() });
		for (const { key, name, changed } of brings) {
			const id = idOf(key);
			this.called.set(id, new Set([...(this.called.get(id) ?? []), name]));
			const content = changed ? `${name} ${this.written.length}` : name;
			if (memory.known.has(id, content)) memory.unchanged(id, { name, key });
			else await store(memory, routes, { id, content, called: { name, key } });
		}
		await memory.close();
	}

	async names(): Promise<Map<string, DocumentName>> {
		const recalled = await SourceMemory.recall(PLACE, this.routes());
		return 'failure' in recalled ? new Map() : await recalled.namesOf(KEYS.map(idOf));
	}
}

/** Stores a document, as a batch of one. */
async function store(
	memory: SourceMemory,
	routes: MemoryRoutes,
	{ id, content, called }: { id: string; content: string; called: DocumentName },
): Promise<void> {
	const journaled = await journaledBatch(memory, routes, new Map([[id, content]]));
	if (!journaled) return memory.refused(id);
	const { ok } = await journaled.send();
	journaled.ended(ok ? 'done' : 'unclear', !ok);
	if (ok) memory.stored(id, content, called);
}

describe('what documents are called', () => {
	it('is never what they were not called, whatever became of earlier runs and of the notes', async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 6 }), async (runs) => {
				const world = new World();
				for (const one of runs) await world.pass(one);
				for (const [id, { name, key }] of await world.names()) {
					expect(world.called.get(id)).toContain(name);
					if (key !== undefined) expect(idOf(key)).toBe(id);
				}
			}),
		);
	});

	it('is known of all that was brought, as long as no note is lost; keys where ids are made of them', async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 6 }), async (runs) => {
				const world = new World();
				for (const { brings } of runs) await world.pass({ brings });
				const names = await world.names();
				expect(new Set(names.keys())).toEqual(new Set(world.called.keys()));
				for (const key of KEYS.slice(0, 4))
					if (names.has(idOf(key))) expect(names.get(idOf(key))?.key).toBe(key);
			}),
		);
	});

	it('is known after a crash as soon as the documents are brought once more', async () => {
		await fc.assert(
			fc.asyncProperty(run, fc.nat(20), async ({ brings }, crash) => {
				const world = new World();
				await world.pass({ brings, crash });
				await world.pass({ brings });
				expect((await world.names()).size).toBe(brings.length);
			}),
		);
	});

	it('is not written again where nothing is new: neither unchanged documents nor changed ones', async () => {
		const world = new World();
		const brings = KEYS.map((key) => ({ key, name: key, changed: false }));
		await world.pass({ brings });
		world.written.length = 0;
		await world.pass({ brings });
		await world.pass({ brings: brings.map((one) => ({ ...one, changed: true })) });
		expect(world.written.filter((name) => name.includes('calls its documents'))).toEqual([]);
	});
});
