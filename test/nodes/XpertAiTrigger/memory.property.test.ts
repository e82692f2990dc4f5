import fc from 'fast-check';

import {
	OVERLAP_MS,
	beginning,
	floorOf,
	newChanges,
	remembering,
} from '../../../nodes/XpertAiTrigger/memory';
import type { Memory } from '../../../nodes/XpertAiTrigger/memory';
import { readChanges } from '../../../nodes/XpertAiTrigger/reading';
import { ChangingServer, named } from './support/changingServer';
import type { Ignored } from './support/changingServer';

const NUM_RUNS = Number(process.env.PROPERTY_RUNS ?? 200);
const PAGE = 3;

const id = fc.integer({ min: 1, max: 9 }).map((n) => `conversation-${n}`);
const ids = fc.uniqueArray(id, { minLength: 1, maxLength: 8 });

const change = fc.record({
	kind: fc.constant('change' as const),
	ids,
	late: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: OVERLAP_MS })),
});
const wait = fc.record({
	kind: fc.constant('wait' as const),
	ms: fc.oneof(fc.integer({ min: 1, max: 60_000 }), fc.integer({ min: 1, max: 3 * OVERLAP_MS })),
});
const poll = fc.record({
	kind: fc.constant('poll' as const),
	/** How many conversations it gives at most. */
	most: fc.integer({ min: 1, max: 5 }),
	/** The page that does not come. */
	lost: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
	/** How many threads can be read. */
	threads: fc.oneof(fc.constant(Infinity), fc.integer({ min: 0, max: 2 })),
	/** What changes before each page. */
	meanwhile: fc.array(ids, { maxLength: 3 }),
});

type Poll = typeof poll extends fc.Arbitrary<infer T> ? T : never;

/** The trigger, without n8n: it reads, gives and remembers as `poll.ts` does. */
class Trigger {
	readonly given: string[] = [];

	private constructor(
		private readonly server: ChangingServer,
		private memory: Memory,
	) {}

	static async activate(server: ChangingServer): Promise<Trigger> {
		const [last] = await server.fetch({ order: 'DESC', limit: 1, offset: 0 });
		const from = floorOf(last?.at ?? 0);
		const { changes, upTo } = await readChanges(server.fetch, from, { pageSize: PAGE });
		return new Trigger(server, beginning('', { wanted: changes, upTo, now: server.now }));
	}

	get remembered(): Memory {
		return this.memory;
	}

	async poll({ most, lost, threads, meanwhile }: Omit<Poll, 'kind'>): Promise<void> {
		const { server, memory } = this;
		let pages = 0;
		server.beforePage = () => {
			pages += 1;
			const changing = meanwhile[pages - 1];
			if (changing) server.change(changing);
			if (pages === lost) throw new Error('the page did not come');
		};
		const isEnough = (changes: Parameters<typeof newChanges>[1]) =>
			newChanges(memory, changes).length >= most;
		const manner = { isEnough, pageSize: PAGE };
		const { changes, upTo } = await readChanges(server.fetch, floorOf(memory.since), manner);
		server.beforePage = () => undefined;
		const handled = newChanges(memory, changes).slice(0, Math.min(most, threads));
		this.given.push(...handled.map(named));
		this.memory = remembering(memory, { wanted: changes, upTo, handled, now: server.now });
	}
}

const wholly = { most: Infinity, lost: undefined, threads: Infinity, meanwhile: [] };

describe.each<Ignored[][]>([
	[[]],
	[['where']],
	[['order']],
	[['limit']],
	[['where', 'order', 'limit']],
])('a server that ignores %j', (ignored) => {
	it('has each of its changes given once, whatever the order of changes, polls and faults', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(ids, { maxLength: 4 }),
				fc.array(fc.oneof(change, wait, poll), { maxLength: 40 }),
				async (before, steps) => {
					const server = new ChangingServer(ignored);
					for (const changing of before) server.change(changing);
					const old = server.visible.map(named);
					const trigger = await Trigger.activate(server);

					for (const step of steps) {
						if (step.kind === 'change') server.change(step.ids, step.late);
						else if (step.kind === 'wait') server.now += step.ms;
						else await trigger.poll(step);
					}
					server.now += OVERLAP_MS;
					await trigger.poll(wholly);

					// Nothing twice, nothing that was there before, and nothing lost.
					expect(new Set(trigger.given).size).toBe(trigger.given.length);
					const fresh = server.visible.map(named).filter((one) => !old.includes(one));
					expect(trigger.given).toEqual(expect.arrayContaining(fresh));
					expect(trigger.given.filter((one) => old.includes(one))).toEqual([]);
					// And no more remembered than the overlap needs.
					const { since, known } = trigger.remembered;
					const ages = known.map(([, at]) => since - Date.parse(at));
					expect(ages.filter((age) => age > OVERLAP_MS)).toEqual([]);
				},
			),
			{ numRuns: NUM_RUNS },
		);
	});
});
