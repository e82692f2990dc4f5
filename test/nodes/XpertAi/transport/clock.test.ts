import { getEventListeners } from 'node:events';

import type { Logger } from 'n8n-workflow';

import { longerPause, loggingProgress, systemClock } from 'nodes/XpertAi/transport/clock';
import { node } from '../../support/node';

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

describe('long work', () => {
	let lines: string[];
	const context = {
		getNode: () => node,
		logger: { info: (line: string) => lines.push(line) } as unknown as Logger,
	};

	beforeEach(() => {
		lines = [];
		jest
			.spyOn(systemClock, 'later')
			.mockImplementation((ms, work) => void systemClock.sleep(ms).then(work));
		jest.useFakeTimers();
	});
	afterEach(() => {
		jest.useRealTimers();
		jest.restoreAllMocks();
	});

	it.each([
		['has a result', () => systemClock.sleep(75_000)],
		['fails', async () => await systemClock.sleep(75_000).then(() => Promise.reject(Error('no')))],
	])('logs its progress every half minute until it %s', async (_, work) => {
		const working = loggingProgress(work(), (minutes) => `after ${minutes}`, context);
		const ended = expect(working.then(String, String)).resolves.toMatch(/undefined|Error: no/);
		await jest.advanceTimersByTimeAsync(HOUR);
		await ended;
		expect(lines).toEqual([`${node.name}: after 0.5`, `${node.name}: after 1`]);
		expect(jest.getTimerCount()).toBe(0);
	});

	it('logs nothing as long as there is no progress to describe', async () => {
		const describes = jest.fn((minutes: number) => (minutes > 1 ? 'begun' : undefined));
		const working = loggingProgress(systemClock.sleep(100_000), describes, context);
		await jest.advanceTimersByTimeAsync(HOUR);
		await working;
		expect(lines).toEqual([`${node.name}: begun`]);
		expect(describes).toHaveBeenCalledTimes(3);
	});
});
