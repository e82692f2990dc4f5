import fc from 'fast-check';
import type { MemoryRoutes } from 'nodes/XpertAi/ingest/memory/notes';
import { PROPERTY_RUNS } from 'test/support/propertyRuns';

import { calling } from '../../../support/send';
import { Timeline } from '../../../support/timeline';
import { Knowledgebase, open } from '../support/knowledgebase';
import { failed } from '../support/outcomes';

const RUNS = { numRuns: PROPERTY_RUNS };
const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** One run of the source: when it begins, how long it works, how its requests travel, and what becomes of it. */
interface Run {
	begins: number;
	works: number;
	/** How long each request is on its way, and its answer; over and over. */
	ways: Array<[number, number]>;
	/** When its process ends without a word, after it began to work. */
	crashes?: number;
	ahead: number;
}

const way = fc.oneof(fc.nat(50), fc.nat(3 * SECOND));
const run = (begins: fc.Arbitrary<number>): fc.Arbitrary<Run> =>
	fc.record(
		{
			begins,
			works: fc.oneof(fc.nat(10 * SECOND), fc.nat(5 * MINUTE)),
			ways: fc.array(fc.tuple(way, way), { minLength: 1, maxLength: 7 }),
			crashes: fc.nat(2 * MINUTE),
			ahead: fc.integer({ min: -MINUTE, max: MINUTE }),
		},
		{ requiredKeys: ['begins', 'works', 'ways', 'ahead'] },
	);

/** A stretch of time in which a run took itself for the only one. */
interface Work {
	name: string;
	from: number;
	until: number;
	crashed: boolean;
}

interface Left {
	name: string;
	by: string;
	at: number;
}

/** Runs of one source, each in a process of its own, on one server. */
class Scene {
	readonly time = new Timeline();

	private readonly server = new Knowledgebase();

	readonly works: Work[] = [];

	/** The runs that left because of another. */
	readonly left: Left[] = [];

	async play(runs: Run[]): Promise<void> {
		const all = runs.map(async (one, index) => await this.run(one, `run ${index + 1}`));
		await this.time.run(30 * MINUTE);
		await Promise.all(all);
	}

	private async run(one: Run, name: string): Promise<void> {
		const { time } = this;
		let isAlive = true;
		await time.wait(one.begins);
		const routes = this.routes(one, () => isAlive);
		const memory = await open(routes, { clock: time.clock(one.ahead), runDescription: name });
		if (memory.holder) {
			this.left.push({ name, by: memory.holder.by, at: time.now });
			return;
		}
		expect(memory.sendBlockedBy).toBeUndefined();
		const work: Work = { name, from: time.now, until: time.now, crashed: false };
		this.works.push(work);
		const crash = one.crashes !== undefined && one.crashes < one.works;
		await time.wait(crash ? (one.crashes ?? 0) : one.works);
		expect(memory.sendBlockedBy).toBeUndefined();
		Object.assign(work, { until: time.now, crashed: crash });
		isAlive = !crash;
		if (isAlive) {
			expect(await memory.renewLeaseIfOverdue()).toBeUndefined();
			await memory.close();
		}
	}

	/** The routes of one process; once it is gone, nothing of it arrives and nothing goes on. */
	private routes({ ways }: Run, isAlive: () => boolean): MemoryRoutes {
		const { send, ...paths } = this.server.routes();
		let count = 0;
		return {
			...paths,
			send: calling(async (request) => {
				const [there, back] = ways[count++ % ways.length] ?? [0, 0];
				await this.time.wait(there);
				const outcome = isAlive() ? await send(request) : failed({ kind: 'network' });
				await this.time.wait(back);
				return outcome;
			}),
		};
	}
}

const together = ({ works }: Scene) =>
	works.flatMap((one, index) =>
		works.slice(index + 1).filter(({ from, until }) => from < one.until && one.from < until),
	);

describe('runs of one source, whenever they start and however long their requests take', () => {
	it('work one at a time; a run that leaves names the one at work', async () => {
		const runs = fc.array(run(fc.nat(4 * MINUTE)), { minLength: 2, maxLength: 4 });
		await fc.assert(
			fc.asyncProperty(runs, async (all) => {
				const scene = new Scene();
				await scene.play(all);
				expect(together(scene)).toEqual([]);
				expect(scene.works.length + scene.left.length).toBe(all.length);
				expect(scene.works.length).toBeGreaterThan(0);
				for (const { name, by } of scene.left) expect(by).not.toBe(name);
			}),
			RUNS,
		);
	});

	it('that start at the same moment: exactly one works', async () => {
		const atOnce = run(fc.nat(2 * SECOND)).map((one) => ({ ...one, works: 5 * MINUTE }));
		await fc.assert(
			fc.asyncProperty(fc.array(atOnce, { minLength: 2, maxLength: 3 }), async (all) => {
				const scene = new Scene();
				await scene.play(all.map((one) => ({ ...one, crashes: undefined })));
				expect(scene.works).toHaveLength(1);
				expect(scene.left).toHaveLength(all.length - 1);
				// Of three, one may have seen the lease of another that then left.
				for (const { name, by } of scene.left)
					expect(by).toEqual(
						all.length === 2 ? scene.works[0]?.name : expect.not.stringContaining(name),
					);
			}),
			RUNS,
		);
	});

	it('wait three minutes at most for one that has crashed, however slow the server', async () => {
		const crashed = run(fc.constant(0)).map((one) => ({ ...one, works: MINUTE, crashes: 1 }));
		await fc.assert(
			fc.asyncProperty(crashed, run(fc.constant(MINUTE)), async (first, second) => {
				const scene = new Scene();
				await scene.play([first, second]);
				expect(scene.works).toHaveLength(2);
				expect((scene.works[1]?.from ?? Infinity) - second.begins).toBeLessThan(3 * MINUTE);
			}),
			RUNS,
		);
	});
});
