import path from 'node:path';

import { type Night, runNight } from 'bench/support/nights';
import { exponent } from 'bench/report';
import { startBareServer } from 'bench/support/bareServer';
import type { Arrived } from 'bench/support/server';
import { type NodeEngine, createNodeEngine } from './support/nodeEngine';

/** Small batches: what each of them adds shows. */
const SHAPE = { source: 'records', processes: false, textLength: 100, batchSize: 10 } as const;

/** Nights of one source, one after another. The second one learns that the server has processed everything. */
const NIGHTS: Array<Omit<Night, 'documents'>> = [
	{ ...SHAPE, mode: 'changed' },
	{ ...SHAPE, mode: 'changed' },
	{ ...SHAPE, mode: 'changed' },
	{ ...SHAPE, mode: 'mirror', changedIn: 100 },
];
const UNCHANGED = 2;

/** What arrives at a server in each night of a source with so many documents. */
async function arrivedOf(engine: NodeEngine, documents: number): Promise<Arrived[]> {
	const { target, answers, close } = await startBareServer();
	const arrived: Arrived[] = [];
	for (const night of NIGHTS) {
		answers.clear();
		await runNight(engine, target, { documents, ...night });
		arrived.push(answers.arrived());
	}
	close();
	return arrived;
}

describe('what Submit sends of a source', () => {
	const SIZES: [number, number] = [200, 1600];
	let small: Arrived[];
	let large: Arrived[];
	beforeAll(async () => {
		const engine = await createNodeEngine(path.resolve(__dirname, '../..'));
		small = await arrivedOf(engine, SIZES[0]);
		large = await arrivedOf(engine, SIZES[1]);
	});

	it.each(['requests', 'bytes', 'noteBytes'] as const)(
		'grows no faster than the source: %s',
		(cost) => {
			const exponents = NIGHTS.map((_, night) =>
				exponent(SIZES, [small[night]?.[cost] ?? NaN, large[night]?.[cost] ?? NaN]),
			);
			expect(Math.max(...exponents)).toBeLessThan(1.02);
		},
	);

	it('is at most 1.3 kB of notes in an unchanged night', () => {
		expect(large[UNCHANGED]?.noteBytes).toBeLessThan(1300);
	});
});
