import { FakeClock, scaledClock } from '../../sandbox';

describe('a fake clock', () => {
	it('wakes sleepers in the order of their time, each at its moment', async () => {
		const clock = new FakeClock(0);
		const woken: Array<[string, number]> = [];
		const sleep = async (name: string, ms: number) => {
			await clock.sleep(ms);
			woken.push([name, clock.now()]);
		};
		void sleep('late', 50);
		void sleep('early', 10).then(() => sleep('again', 10));
		void sleep('never', 500);
		await clock.advance(100);
		expect(woken).toEqual([
			['early', 10],
			['again', 20],
			['late', 50],
		]);
		expect([clock.now(), clock.sleeping]).toEqual([100, 1]);
	});

	it('does not put anyone to sleep for nothing', async () => {
		const clock = new FakeClock();
		await clock.sleep(0);
		expect(clock.sleeping).toBe(0);
	});
});

it('a scaled clock runs so many times as fast', async () => {
	const clock = scaledClock(1000);
	const [start, began] = [clock.now(), Date.now()];
	await clock.sleep(60_000);
	expect(Date.now() - began).toBeLessThan(10_000);
	expect(clock.now() - start).toBeGreaterThanOrEqual(59_000);
});
