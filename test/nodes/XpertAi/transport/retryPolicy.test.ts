import fc from 'fast-check';

import { parseRetryAfter, retryDelayMs } from '../../../../nodes/XpertAi/transport/retryPolicy';

describe('the delay before the next try', () => {
	const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
	const attempt = fc.integer({ min: 1, max: 5000 });

	it.each([
		[1, 500],
		[2, 1000],
		[3, 2000],
		[4, 4000],
		[6, 16_000],
		[7, 30_000],
		[50, 30_000],
	])('is up to the doubled delay after try %i: %i ms', (tries, ceiling) => {
		expect(retryDelayMs(tries, 0, 0)).toBe(0);
		expect(retryDelayMs(tries, 0, 0.5)).toBe(ceiling / 2);
		expect(retryDelayMs(tries, 0, 1 - Number.EPSILON)).toBe(ceiling);
	});

	it('stays within bounds for every try', () => {
		fc.assert(
			fc.property(attempt, random, (tries, part) => {
				const delay = retryDelayMs(tries, 0, part);
				expect(Number.isInteger(delay)).toBe(true);
				expect(delay).toBeGreaterThanOrEqual(0);
				expect(delay).toBeLessThanOrEqual(Math.min(30_000, 500 * 2 ** (tries - 1)));
			}),
		);
	});

	it('is never less than the least that is asked for, and not longer than that without need', () => {
		fc.assert(
			fc.property(attempt, fc.nat(), random, (tries, asked, part) => {
				expect(retryDelayMs(tries, asked, part)).toBe(
					Math.max(asked, retryDelayMs(tries, 0, part)),
				);
			}),
		);
	});
});

describe('Retry-After', () => {
	const now = Date.UTC(2026, 0, 31, 8, 0, 0);

	it.each([
		['0', 0],
		['120', 120_000],
		['1.25', 1250],
	])('%j is in seconds', (header, ms) => expect(parseRetryAfter(header, now)).toBe(ms));

	it.each([
		['Sat, 31 Jan 2026 08:01:00 GMT', 60_000],
		['Saturday, 31-Jan-26 08:01:00 GMT', 60_000],
		['Sat Jan 31 08:01:00 2026', 60_000],
		['Sat, 31 Jan 2026 07:00:00 GMT', 0],
	])('%j is a date', (header, ms) => expect(parseRetryAfter(header, now)).toBe(ms));

	it.each([
		'',
		' ',
		'soon',
		'-5',
		'1e3',
		'0x10',
		'5 s',
		'5.',
		'2026-01-31',
		undefined,
		null,
		5,
		['5'],
	])('%j says nothing', (header) => expect(parseRetryAfter(header, now)).toBeUndefined());

	it('gives milliseconds of 0 or more, or nothing, for any text', () => {
		const headers = fc.oneof(
			fc.string(),
			fc.integer().map(String),
			fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
		);
		fc.assert(
			fc.property(headers, (header) => {
				expect(parseRetryAfter(header, now) ?? 0).toBeGreaterThanOrEqual(0);
			}),
		);
	});
});
