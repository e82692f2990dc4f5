import { getEventListeners } from 'node:events';

import { systemClock } from '../../../../nodes/XpertAi/transport/clock';

const HOUR = 3_600_000;

describe('the system clock', () => {
	it('tells the time in milliseconds since the epoch', () => {
		expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1_000);
	});

	it('gives random numbers from 0 up to 1', () => {
		const drawn = Array.from({ length: 1000 }, () => systemClock.random());
		expect(drawn.every((number) => number >= 0 && number < 1)).toBe(true);
		expect(new Set(drawn).size).toBeGreaterThan(900);
	});
});

describe('sleeping', () => {
	beforeEach(() => jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	/** Whether a promise has resolved by now. */
	async function ended(sleeping: Promise<void>): Promise<boolean> {
		let over = false;
		void sleeping.then(() => (over = true));
		await jest.advanceTimersByTimeAsync(0);
		return over;
	}

	it.each([0, 1, 250, 1500, HOUR])('takes %i ms, no less and no more', async (ms) => {
		const sleeping = systemClock.sleep(ms, new AbortController().signal);
		if (ms > 0) {
			await jest.advanceTimersByTimeAsync(ms - 1);
			expect(await ended(sleeping)).toBe(false);
		}
		await jest.advanceTimersByTimeAsync(1);
		expect(await ended(sleeping)).toBe(true);
	});

	it('does not begin when the execution was stopped before', async () => {
		expect(await ended(systemClock.sleep(HOUR, AbortSignal.abort()))).toBe(true);
		expect(jest.getTimerCount()).toBe(0);
	});

	it('ends within a second when the execution is stopped', async () => {
		const stop = new AbortController();
		const sleeping = systemClock.sleep(HOUR, stop.signal);
		await jest.advanceTimersByTimeAsync(10_300);
		stop.abort();
		await jest.advanceTimersByTimeAsync(1000);
		expect(await ended(sleeping)).toBe(true);
	});

	it('leaves nothing behind that keeps the process busy, or listens on', async () => {
		const stop = new AbortController();
		const short = systemClock.sleep(1000, stop.signal);
		await jest.advanceTimersByTimeAsync(1000);
		await short;
		expect(getEventListeners(stop.signal, 'abort')).toEqual([]);

		const long = systemClock.sleep(HOUR, stop.signal);
		await jest.advanceTimersByTimeAsync(1);
		stop.abort();
		await jest.advanceTimersByTimeAsync(1000);
		await long;
		expect(jest.getTimerCount()).toBe(0);
	});
});
