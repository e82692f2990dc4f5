import fc from 'fast-check';

import type { DocumentName } from '../../../../../nodes/XpertAi/ingest/memory';
import { SIZES } from '../../../../../nodes/XpertAi/ingest/memory/notes';
import { derivedId } from '../../../../../nodes/XpertAi/payloads/derivedId';
import { journaledBatch } from '../support/journaledBatch';
import { Knowledgebase, open, recall } from '../support/knowledgebase';

const OWNER = derivedId('kb', 'source Nightly');
const PLACE = { knowledgebaseId: 'kb', owner: OWNER, source: 'a node', title: 'Nightly' };
const KEYS = [...'abcdefgh'];
/** Half of the documents have ids that are made of their keys. */
const idOf = (key: string) =>
	key < 'e' ? derivedId(OWNER, key) : derivedId('somewhere else', key);

const sizes = { ...SIZES };
beforeAll(() => Object.assign(SIZES, { names: 60, piece: 3, answer: 2 }));
afterAll(() => Object.assign(SIZES, sizes));

/** What a run brings: what each document is called, and whether it has changed. */
interface Run {
	brings: Array<{ key: string; name: string; changed: boolean }>;
	/** The request at which the run breaks off. */
	crash?: number;
	/** A note of names that somebody deletes or has processed before it. */
	harm?: { at: number; how: 'processes' | 'deletes' };
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
		harm: fc.record({ at: fc.nat(3), how: fc.constantFrom('processes', 'deletes') }),
	},
	{ requiredKeys: ['brings'] },
);

class World {
	readonly server = new Knowledgebase();
	/** What each document was ever called. */
	readonly called = new Map<string, Set<string>>();

	async pass({ brings, crash, harm }: Run): Promise<void> {
		const note = harm && this.server.notes('calls its documents')[harm.at];
		if (note) this.server.harm([note], harm.how);
		const fault = { request: crash ?? 0, ofBatches: false, rows: 0, crash: true, again: false };
		const routes = this.server.routes(crash === undefined ? [] : [fault]);
		const memory = await open(routes, {}, PLACE);
		for (const { key, name, changed } of brings) {
			const id = idOf(key);
			this.called.set(id, new Set([...(this.called.get(id) ?? []), name]));
			const content = changed ? `${name} ${this.server.written.length}` : name;
			if (memory.known.has(id, content)) {
				memory.names.add(id, { name, key });
				continue;
			}
			const journaled = await journaledBatch(memory, routes, new Map([[id, content]]));
			const sent = await journaled?.send();
			journaled?.ended(sent?.ok ? 'done' : 'unclear', !sent?.ok);
			if (sent?.ok) memory.recordStored(id, content, { name, key });
		}
		await memory.close();
	}

	async names(): Promise<Map<string, DocumentName>> {
		return await (await recall(this.server.routes(), PLACE)).names.of(KEYS.map(idOf));
	}
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
		world.server.written.length = 0;
		await world.pass({ brings });
		await world.pass({ brings: brings.map((one) => ({ ...one, changed: true })) });
		expect(world.server.written.filter((name) => name.includes('calls its documents'))).toEqual([]);
	});
});
