import { DateTime } from 'luxon';

import { jsonValueSchema } from 'nodes/XpertAi/execution/jsonValueSchema';

describe('a value that stands for JSON', () => {
	const day = new Date(0);
	const moment = DateTime.fromMillis(0, { zone: 'Asia/Tokyo' });

	it('has its dates as text, however deep they are', () => {
		const given = { day, list: [{ moment }, day, 5], text: 'a', none: null };
		expect(jsonValueSchema.parse(given)).toEqual({
			day: '1970-01-01T00:00:00.000Z',
			list: [{ moment: '1970-01-01T09:00:00.000+09:00' }, '1970-01-01T00:00:00.000Z', 5],
			text: 'a',
			none: null,
		});
		expect(given.day).toBe(day);
		expect(jsonValueSchema.parse(day)).toBe('1970-01-01T00:00:00.000Z');
	});

	it('is not copied where it has no date', () => {
		const given = { list: [{ text: 'a' }], none: new Date(NaN) };
		expect(jsonValueSchema.parse(given)).toBe(given);
	});

	it('stays as it is where it is nested too deeply', () => {
		let deep: unknown = day;
		for (let level = 0; level < 20_000; level++) deep = { deep };
		expect(jsonValueSchema.parse(deep)).toBe(deep);
	});
});

describe('JSON', () => {
	it.each([
		['blanks are no value', ' \n', undefined],
		['null is no value', null, undefined],
		['a byte order mark is left out', '\ufeff{"a":1}', { a: 1 }],
		['an object stays as it is', { a: 1 }, { a: 1 }],
	])('in a field: %s', (_rule, given, value) => {
		expect(jsonValueSchema.parse(given)).toEqual(value);
	});

	it('in a field that cannot be read is refused with the reason', () => {
		const { issues = [] } = jsonValueSchema.safeParse('{a').error ?? {};
		expect(issues).toEqual([
			expect.objectContaining({ message: expect.stringMatching(/^must be JSON \(.+\)$/) }),
		]);
	});
});
