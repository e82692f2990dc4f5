import fc from 'fast-check';

import { dateTime, hasLoneSurrogate, uuid } from '../../../../nodes/XpertAi/payloads/common';

describe('a UUID of the contract', () => {
	it('is any UUID, whatever its version and case', () => {
		fc.assert(fc.property(fc.uuid(), (id) => uuid.safeParse(id).success));
		expect(uuid.safeParse('335CCDFA-D2BB-4F15-9F4A-2B180F46D737').success).toBe(true);
	});

	it.each(['', 'abc', '335ccdfad2bb4f159f4a2b180f46d737', ' 335ccdfa-d2bb-4f15-9f4a-2b180f46d737'])(
		'is not "%s"',
		(text) => expect(uuid.safeParse(text).success).toBe(false),
	);
});

describe('a date-time of the contract', () => {
	it.each([
		'2026-01-31T08:00:00Z',
		'2026-01-31T08:00:00.123Z',
		'2026-01-31T08:00:00.123456Z',
		'2026-01-31T08:00:00+01:00',
		'2026-01-31T08:00:00-0330',
		'2026-01-31T08:00:00',
		'2028-02-29T00:00:00Z',
	])('is %s', (text) => expect(dateTime.parse(text)).toBe(text));

	it.each([
		'',
		'31.01.2026',
		'2026-01-31',
		'08:00:00',
		'2026-01-31 08:00:00',
		'2026-13-01T00:00:00Z',
		'2026-02-30T00:00:00Z',
		'2026-01-31T25:00:00Z',
		'1769846400000',
		'Sat, 31 Jan 2026 08:00:00 GMT',
		'yesterday',
	])('is not "%s"', (text) => expect(dateTime.safeParse(text).success).toBe(false));

	it('is every date as JavaScript writes it', () => {
		const years = { min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true };
		fc.assert(
			fc.property(fc.date(years), (date) => {
				const text = date.toISOString();
				expect(dateTime.safeParse(text)).toEqual({ success: true, data: text });
			}),
		);
	});
});

describe('half of a character', () => {
	it.each(['cut \ud83d', '\ude00', 'ä \ud83d!'])('is found in %j', (text) => {
		expect(hasLoneSurrogate(text)).toBe(true);
	});

	it('is none in whole characters of any kind', () => {
		fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => !hasLoneSurrogate(text)));
		expect(hasLoneSurrogate('ä 漢 😀')).toBe(false);
	});
});
