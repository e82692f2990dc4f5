import type { Entry, Plan } from '../../bench/run/part';
import { scheduled, secondsLeft } from '../../bench/run/schedule';

const entry = (name: string, rounds?: number): Entry => ({
	name,
	seconds: 2,
	...(rounds === undefined ? {} : { rounds }),
	measure: async () => ({}),
	say: () => '',
});

const plan = (rounds: number, entries: Entry[], together = false): Plan => ({
	sizes: {},
	rounds,
	entries,
	together,
});

const names = (parts: Parameters<typeof scheduled>[0]) =>
	scheduled(parts).map((step) => `${step.part} ${step.entry.name}${step.round}`);

describe('the order of measurements', () => {
	it('goes round by round through all parts, every second one backwards', () => {
		const parts = [
			{ name: 'one', plan: plan(2, [entry('a'), entry('b')]) },
			{ name: 'two', plan: plan(2, [entry('c')]) },
		];
		expect(names(parts)).toEqual(['one a1', 'one b1', 'two c1', 'one b2', 'one a2', 'two c2']);
	});

	it('keeps the rounds of a part together where it asks for that', () => {
		const parts = [
			{ name: 'one', plan: plan(2, [entry('a')], true) },
			{ name: 'two', plan: plan(2, [entry('c')]) },
		];
		expect(names(parts)).toEqual(['one a1', 'one a2', 'two c1', 'two c2']);
	});

	it('measures an entry no more often than it wants', () => {
		expect(names([{ name: 'one', plan: plan(2, [entry('a', 1), entry('b')]) }])).toEqual([
			'one a1',
			'one b1',
			'one b2',
		]);
	});

	it('knows the last step of each part', () => {
		const parts = [
			{ name: 'one', plan: plan(2, [entry('a')]) },
			{ name: 'two', plan: plan(1, [entry('c')]) },
		];
		expect(scheduled(parts).map(({ part, isLast }) => [part, isLast])).toEqual([
			['one', false],
			['two', true],
			['one', true],
		]);
	});
});

describe('the time that is left', () => {
	const steps = scheduled([{ name: 'one', plan: plan(3, [entry('a')]) }]);

	it('is what was expected, before anything is done', () => {
		expect(secondsLeft(steps, { expected: 0, real: 0 })).toBe(6);
	});

	it('grows when what is done took longer than expected', () => {
		expect(secondsLeft(steps.slice(1), { expected: 2, real: 4 })).toBe(8);
	});
});
