import { DateTime } from 'luxon';

import { dateTimeSchema, dateAsUtcText } from 'nodes/XpertAi/payloads/dates';

describe('a date-time of the contract', () => {
	const GOOD = ['2026-01-31T08:00:00Z', '2026-01-31T08:00:00.123456Z', '2026-01-31T08:00:00+01:00'];
	const BAD = [
		...['', '31.01.2026', '2026-01-31', '08:00:00', '2026-01-31 08:00:00', 'yesterday'],
		...['2026-13-01T00:00:00Z', '2026-02-30T00:00:00Z', '2026-01-31T25:00:00Z'],
		...['1769846400000', 'Sat, 31 Jan 2026 08:00:00 GMT'],
	];

	it.each([...GOOD, '2026-01-31T08:00:00-0330', '2026-01-31T08:00:00', '2028-02-29T00:00:00Z'])(
		'is %s',
		(text) => expect(dateTimeSchema.parse(text)).toBe(text),
	);

	it.each(BAD)('is not "%s"', (text) => expect(dateTimeSchema.safeParse(text).success).toBe(false));
});

it.each([
	['a Date', new Date(0), '1970-01-01T00:00:00.000Z'],
	['a DateTime', DateTime.fromMillis(0, { zone: 'Asia/Tokyo' }), '1970-01-01T00:00:00.000Z'],
	['what n8n makes of one', '1970-01-01T09:00:00.000+09:00', '1970-01-01T00:00:00.000Z'],
	['a day', '1970-01-01', '1970-01-01'],
	['no day', '2026-13-01T10:00:00.000+01:00', '2026-13-01T10:00:00.000+01:00'],
	[
		'more than a time',
		'1970-01-01T09:00:00.000+09:00 (JST)',
		'1970-01-01T09:00:00.000+09:00 (JST)',
	],
	['a number', 5, 5],
])('%s is a time in UTC, where it is one', (_, value, text) => {
	expect(dateAsUtcText(value)).toBe(text);
});
