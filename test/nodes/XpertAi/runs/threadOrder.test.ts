import fc from 'fast-check';

import { inThreadOrder } from '../../../../nodes/XpertAi/runs/threadOrder';
import type { ThreadWork } from '../../../../nodes/XpertAi/runs/threadOrder';

/** Work that takes so many turns of the event loop, on a thread or on its own. */
interface Piece {
	thread?: string;
	turns: number;
}

/** What was observed of the pieces. */
interface Observed {
	results: Array<number | undefined>;
	started: number[];
	mostAtOnce: number;
	/** Pairs of pieces of one thread that were under way at the same time. */
	overlaps: number;
}

async function observe(
	pieces: Piece[],
	concurrency: number,
	goOn: (started: number[]) => boolean = () => true,
): Promise<Observed> {
	const started: number[] = [];
	const underWay = new Set<number>();
	let [mostAtOnce, overlaps] = [0, 0];
	const work = pieces.map(
		({ thread, turns }, index): ThreadWork<number> => ({
			threadId: thread,
			run: async () => {
				const beside = [...underWay].filter((other) => pieces[other]?.thread === thread);
				if (thread !== undefined) overlaps += beside.length;
				started.push(index);
				underWay.add(index);
				mostAtOnce = Math.max(mostAtOnce, underWay.size);
				for (let turn = 0; turn < turns; turn++) await Promise.resolve();
				underWay.delete(index);
				return index;
			},
		}),
	);
	const results = await inThreadOrder(work, concurrency, () => goOn(started));
	return { results, started, mostAtOnce, overlaps };
}

const anyPieces = fc.array(
	fc.record({
		thread: fc.option(fc.constantFrom('a', 'b', 'c', 'new 0', '__proto__'), { nil: undefined }),
		turns: fc.nat(20),
	}),
	{ maxLength: 25 },
);
const anyConcurrency = fc.integer({ min: 1, max: 8 });

it('work on one thread runs in order and never overlaps', async () => {
	await fc.assert(
		fc.asyncProperty(anyPieces, anyConcurrency, async (pieces, concurrency) => {
			const { started, overlaps } = await observe(pieces, concurrency);
			expect(overlaps).toBe(0);
			for (const thread of ['a', 'b', 'c', 'new 0', '__proto__']) {
				const order = started.filter((index) => pieces[index]?.thread === thread);
				expect(order).toEqual([...order].sort((a, b) => a - b));
			}
		}),
	);
});

it('all work is done once, and its results keep the order of the work', async () => {
	await fc.assert(
		fc.asyncProperty(anyPieces, anyConcurrency, async (pieces, concurrency) => {
			const { results, started } = await observe(pieces, concurrency);
			expect(results).toEqual(pieces.map((_, index) => index));
			expect(started).toHaveLength(pieces.length);
		}),
	);
});

it('no more threads run at once than asked for, and as many as that', async () => {
	await fc.assert(
		fc.asyncProperty(fc.integer({ min: 1, max: 20 }), anyConcurrency, async (threads, limit) => {
			const pieces = Array.from({ length: threads }, (_, n) => ({ thread: `t${n}`, turns: 5 }));
			const { mostAtOnce } = await observe(pieces, limit);
			expect(mostAtOnce).toBe(Math.min(threads, limit));
		}),
	);
});

it('work without a thread is on its own', async () => {
	const { mostAtOnce } = await observe(
		Array.from({ length: 4 }, () => ({ turns: 3 })),
		4,
	);
	expect(mostAtOnce).toBe(4);
});

it('a thread that waits for its turn does not hold up the others', async () => {
	const pieces = [
		{ thread: 'a', turns: 50 },
		{ thread: 'a', turns: 1 },
		{ thread: 'b', turns: 1 },
		{ thread: 'b', turns: 1 },
	];
	const { started } = await observe(pieces, 2);
	expect(started).toEqual([0, 2, 3, 1]);
});

it('nothing more is started once the work is not to go on', async () => {
	const pieces = ['a', 'b', 'a', 'c', 'd'].map((thread) => ({ thread, turns: 2 }));
	const { results, started } = await observe(pieces, 2, (so) => so.length < 3);
	expect(started).toHaveLength(3);
	expect(results.filter((result) => result !== undefined).sort()).toEqual([...started].sort());
	expect(results).toHaveLength(5);
});

it('no work at all is done at once', async () => {
	expect(await observe([], 5)).toMatchObject({ results: [], started: [] });
});
