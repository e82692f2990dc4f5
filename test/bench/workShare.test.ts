import fc from 'fast-check';

import { WorkShare, measuredSpeed } from '../../bench/support/workShare';
import type { Speed } from '../../bench/support/workShare';
import { FakeClock } from '../../sandbox';

/** What was done when, in milliseconds, where all came at once. */
async function ends(works: number[], speed: Speed): Promise<number[]> {
	const clock = new FakeClock(0);
	const share = new WorkShare(speed, {
		now: () => clock.now(),
		after: (ms, work) => {
			let isWanted = true;
			void clock.sleep(Math.max(ms, 0.001)).then(() => isWanted && work());
			return () => (isWanted = false);
		},
	});
	const done = works.map(async (ms) => {
		await share.work(ms);
		return clock.now();
	});
	await clock.advance(1e6);
	return await Promise.all(done);
}

describe('work that requests share', () => {
	it('takes its own time alone', async () => {
		expect(await ends([100], () => 1)).toEqual([100]);
	});

	it('takes twice the time beside as much', async () => {
		const [one = 0, other = 0] = await ends([100, 100], () => 1);
		expect(one).toBeCloseTo(200, 0);
		expect(other).toBeCloseTo(200, 0);
	});

	it('is all done as early as a server that is never idle can', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(fc.integer({ min: 5, max: 500 }), { minLength: 1, maxLength: 8 }),
				async (works) => {
					const total = works.reduce((sum, ms) => sum + ms, 0);
					const last = Math.max(...(await ends(works, () => 1)));
					expect(Math.abs(last - total)).toBeLessThanOrEqual(works.length + 1);
				},
			),
			{ numRuns: 30 },
		);
	});
});

describe('the speed of the measured server', () => {
	/** 500 documents and five requests, each of which costs as much as a document. */
	const secondsFor = (requests: number) => (505 * 0.0136) / measuredSpeed(requests);

	it.each([
		[1, 6.8],
		[3, 5.7],
		[5, 4.8],
	])('with %i requests at once takes as long as was measured', (requests, seconds) => {
		expect(secondsFor(requests)).toBeCloseTo(seconds, 0);
	});
});
