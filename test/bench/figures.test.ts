import { exponent } from '../../bench/run/figures';

describe('an exponent', () => {
	it.each([
		[8, 1],
		[64, 2],
		[1, 0],
	])('of what is %i times as much for 8 times as many is %i', (last, power) => {
		expect(exponent([1000, 8000], [3, 3 * last])).toBeCloseTo(power);
	});
});
