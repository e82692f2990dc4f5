import { inChild } from './support/hostileChild';
import type { InChild } from './support/hostileChild';
import type { Load, LoadReport, LoadTarget } from './support/hostileLoad';

const MEGABYTE = 1024 * 1024;

let server: InChild<LoadTarget>;

/** Runs a load in a process with a heap of 1 GB; it ends with a failure where that is not enough. */
async function load(size: Pick<Load, 'executions' | 'items'>): Promise<LoadReport[]> {
	const target = await server.result;
	const flags = ['--max-old-space-size=1024', '--expose-gc'];
	const { child, result } = inChild<LoadReport[]>(
		'hostileLoad.ts',
		'runLoad',
		{ ...size, target },
		{ flags },
	);
	try {
		return await result;
	} finally {
		child.kill();
	}
}

/** On a busy machine, which does other proofs meanwhile. */
jest.setTimeout(600_000);

describe('Document: Submit in an n8n with a heap of 1 GB', () => {
	beforeAll(() => {
		server = inChild<LoadTarget>('hostileLoad.ts', 'serveSandbox', null);
	});

	afterAll(() => void server.child.kill());

	it('stores 100,000 items of 1 KB', async () => {
		const reports = await load({ executions: 1, items: 100_000 });
		if (process.env.LEAK_REPORT) console.log(reports);
		expect(reports.map(({ stored }) => stored)).toEqual([100_000]);
	});

	it('keeps nothing of an execution that has ended', async () => {
		const reports = await load({ executions: 20, items: 2000 });
		const heaps = reports.map(({ liveHeap }) => liveHeap / MEGABYTE);
		if (process.env.LEAK_REPORT) console.log(heaps);
		expect(reports.map(({ stored }) => stored)).toEqual(Array(20).fill(2000));
		// One execution alone has 2 MB of items: ten of them kept would be 20 MB. The least of many: what is
		// collected a few executions later is no leak, and takes up to 13 MB meanwhile.
		const least = (some: number[]) => Math.min(...some);
		expect(least(heaps.slice(10)) - least(heaps.slice(0, 5))).toBeLessThan(10);
	});
});
