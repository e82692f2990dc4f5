import { getEventListeners } from 'node:events';

import { longerPause, systemClock } from '../../../../nodes/XpertAi/transport/clock';

const HOUR = 3_600_000;

describe('the system clock', () => {
	beforeEach(() => jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	/** How long a sleep takes, looked at each millisecond around its end. */
	async function endOf(sleeping: Promise<void>, from: number): Promise<number> {
		let end = Infinity;
		const began = Date.now();
		void sleeping.then(() => (end = Date.now() - began));
		await jest.advanceTimersByTimeAsync(from);
		return end;
	}

	it('tells the time in milliseconds since the epoch, and random numbers below 1', () => {
		jest.setSystemTime(HOUR);
		expect(systemClock.now()).toBe(HOUR);
		const drawn = Array.from({ length: 1000 }, () => systemClock.random());
		expect(drawn.every((number) => number >= 0 && number < 1)).toBe(true);
		expect(new Set(drawn).size).toBeGreaterThan(900);
	});

	it.each([0, 1, 250, 1500, HOUR])('sleeps %i ms, no less and no more', async (ms) => {
		expect(await endOf(systemClock.sleep(ms, new AbortController().signal), ms + 500)).toBe(ms);
	});

	it('does not begin a sleep in a stopped execution', async () => {
		expect(await endOf(systemClock.sleep(HOUR, AbortSignal.abort()), 0)).toBe(0);
		expect(jest.getTimerCount()).toBe(0);
	});

	it('ends a sleep within half a second, and leaves no timer and no listener', async () => {
		const stop = new AbortController();
		setTimeout(() => stop.abort(), 10_300);
		expect(await endOf(systemClock.sleep(HOUR, stop.signal), 11_000)).toBe(10_500);
		expect(jest.getTimerCount()).toBe(0);
		expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
	});
});

it('pauses half as long again each time, up to 15 seconds', () => {
	expect([2_000, 9_000, 12_000].map(longerPause)).toEqual([3_000, 13_500, 15_000]);
});
