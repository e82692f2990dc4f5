import { judged, withSpread } from '../../bench/page/words';

const aim = { what: 'throughput', against: 'axios', aim: '≥ 0.9' };

describe('an aim', () => {
	it('is judged by the whole spread of its rounds, which it shows', () => {
		expect(judged(aim, [0.91, 0.95, 0.9], (ratio) => ratio >= 0.9)).toEqual({
			...aim,
			measured: '0.91 (0.90 to 0.95) in 3 rounds',
			met: true,
		});
	});

	it('is missed when one round has missed it', () => {
		expect(judged(aim, [0.95, 0.89, 0.95], (ratio) => ratio >= 0.9).met).toBe(false);
	});

	it('says so when it was measured once', () => {
		expect(judged(aim, [0.95], (ratio) => ratio >= 0.9).measured).toBe('0.95 in one round');
	});

	it.each([[[]], [[Number.NaN]]])('is neither met nor missed by %p', (values) => {
		const result = judged(aim, values, () => true);
		expect(result).toEqual({ ...aim, measured: 'not measured' });
	});
});

describe('a measured value', () => {
	it('has no spread after one round', () => {
		expect(withSpread([1234.5], 1, ' ms')).toBe('1,234.5 ms');
	});

	it('is the mean of the two in the middle after an even number of rounds', () => {
		expect(withSpread([1, 2, 4, 8], 0)).toBe('3 (1 to 8)');
	});
});
