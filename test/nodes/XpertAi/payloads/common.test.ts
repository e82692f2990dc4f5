import { createHash } from 'node:crypto';

import fc from 'fast-check';
import { DateTime } from 'luxon';

import {
	dateTime,
	derivedId,
	exactJson,
	hasLoneSurrogate,
	isUuid,
	jsonValue,
	utcText,
	uuid,
	uuidV5,
	withSortedKeys,
} from 'nodes/XpertAi/payloads/common';

const UUID = '335ccdfa-d2bb-4f15-9f4a-2b180f46d737';

describe('a UUID', () => {
	it('may be of any version and in either case', () => {
		fc.assert(
			fc.property(fc.uuid(), (id) => {
				for (const one of [id, id.toUpperCase()]) {
					expect(isUuid(one)).toBe(true);
					expect(uuid.parse(one)).toBe(one);
				}
			}),
		);
		expect(isUuid('00000000-0000-0000-0000-000000000000')).toBe(true);
	});

	it.each([
		['empty', ''],
		['a number', '42'],
		['one behind a blank', ` ${UUID}`],
		['one before a line break', `${UUID}\n`],
		['one in braces', `{${UUID}}`],
		['one without hyphens', UUID.replace(/-/g, '')],
		['one with another letter', UUID.replace('3', 'g')],
	])('is not %s', (_, text) => {
		expect([isUuid(text), uuid.safeParse(text).success]).toEqual([false, false]);
	});
});

describe('a date-time of the contract', () => {
	const GOOD = ['2026-01-31T08:00:00Z', '2026-01-31T08:00:00.123456Z', '2026-01-31T08:00:00+01:00'];
	const BAD = [
		...['', '31.01.2026', '2026-01-31', '08:00:00', '2026-01-31 08:00:00', 'yesterday'],
		...['2026-13-01T00:00:00Z', '2026-02-30T00:00:00Z', '2026-01-31T25:00:00Z'],
		...['1769846400000', 'Sat, 31 Jan 2026 08:00:00 GMT'],
	];

	it.each([...GOOD, '2026-01-31T08:00:00-0330', '2026-01-31T08:00:00', '2028-02-29T00:00:00Z'])(
		'is %s',
		(text) => expect(dateTime.parse(text)).toBe(text),
	);

	it.each(BAD)('is not "%s"', (text) => expect(dateTime.safeParse(text).success).toBe(false));
});

it.each([
	['half of a character at the end', 'cut \ud83d', true],
	['half of a character alone', '\ude00', true],
	['half of a character inside', 'ä \ud83d!', true],
	['no half of a character in whole ones', 'ä 漢 😀', false],
])('there is %s', (_, text, isHalf) => {
	expect(hasLoneSurrogate(text)).toBe(isHalf);
});

const DNS = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
const URL_SPACE = '6ba7b811-9dad-11d1-80b4-00c04fd430c8';
const KNOWLEDGEBASE = '7b0e6c1a-3f52-4f7e-9a44-1d2c3b4a5f60';
const text = fc.string({ unit: 'grapheme' });

describe('a UUID of version 5', () => {
	it.each([
		[DNS, 'www.example.com', '2ed6657d-e927-568b-95e1-2665a8aea6a2'],
		[DNS, 'www.widgets.com', '21f7f8de-8051-5b89-8680-0195ef798b6a'],
		[DNS, 'python.org', '886313e1-3b8a-5372-9b90-0c9aee199e5d'],
		[URL_SPACE, 'http://python.org/', '4c565f0d-3f5a-5890-b41b-20cf47701c5e'],
	])('of %s and %s is %s (RFC 9562 and common vectors)', (namespace, name, id) => {
		expect(uuidV5(namespace, name)).toBe(id);
		expect(uuidV5(namespace.toUpperCase(), name)).toBe(id);
	});
});

/** The same by the letter of RFC 9562, step by step. */
function byTheLetter(namespace: string, name: string): string {
	const bytes = createHash('sha1')
		.update(Buffer.from(namespace.replace(/-/g, ''), 'hex'))
		.update(name)
		.digest();
	bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
	bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
	return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

it('a UUID made at one go is the one that is made step by step, whatever the name', () => {
	const name = fc.oneof(text, fc.string({ unit: 'binary' }), fc.constantFrom('\ud800', 'a\udc00b'));
	fc.assert(
		fc.property(fc.uuid(), name, (namespace, given) => {
			expect(uuidV5(namespace, given)).toBe(byTheLetter(namespace, given));
			expect(derivedId(namespace, given)).toBe(byTheLetter(namespace, given));
		}),
	);
});

describe('a derived id', () => {
	it('is the same in every run and every release', () => {
		expect(derivedId(KNOWLEDGEBASE, '/manuals/a.md')).toBe(uuidV5(KNOWLEDGEBASE, '/manuals/a.md'));
		expect(derivedId(DNS, 'www.example.com')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2');
		expect(derivedId('kb-1', '/manuals/a.md')).toBe(
			uuidV5(uuidV5('6f1d2c0e-3b7a-5a44-9d0b-2f7c8e51a913', 'kb-1'), '/manuals/a.md'),
		);
	});

	it('differs by key and by knowledgebase, whether that has a UUID or not', () => {
		const place = fc.tuple(fc.oneof(fc.uuid(), text), text);
		fc.assert(
			fc.property(place, place, (one, other) => {
				fc.pre(one[0].toLowerCase() !== other[0].toLowerCase() || one[1] !== other[1]);
				expect(derivedId(...one)).not.toBe(derivedId(...other));
				expect(derivedId(...one)).toBe(derivedId(...one));
			}),
		);
	});

	it('does not depend on how the id of the knowledgebase is written', () => {
		expect(derivedId(KNOWLEDGEBASE.toUpperCase(), 'k')).toBe(derivedId(KNOWLEDGEBASE, 'k'));
	});
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
	expect(utcText(value)).toBe(text);
});

describe('a value that stands for JSON', () => {
	const day = new Date(0);
	const moment = DateTime.fromMillis(0, { zone: 'Asia/Tokyo' });

	it('has its dates as text, however deep they are', () => {
		const given = { day, list: [{ moment }, day, 5], text: 'a', none: null };
		expect(jsonValue.parse(given)).toEqual({
			day: '1970-01-01T00:00:00.000Z',
			list: [{ moment: '1970-01-01T09:00:00.000+09:00' }, '1970-01-01T00:00:00.000Z', 5],
			text: 'a',
			none: null,
		});
		expect(given.day).toBe(day);
		expect(jsonValue.parse(day)).toBe('1970-01-01T00:00:00.000Z');
	});

	it('is not copied where it has no date', () => {
		const given = { list: [{ text: 'a' }], none: new Date(NaN) };
		expect(jsonValue.parse(given)).toBe(given);
	});

	it('stays as it is where it is nested too deeply', () => {
		let deep: unknown = day;
		for (let level = 0; level < 20_000; level++) deep = { deep };
		expect(jsonValue.parse(deep)).toBe(deep);
		expect(withSortedKeys(deep)).toBe(deep);
	});

	/** The same value, with the keys of each object in the opposite order. */
	const reversed = (value: unknown): unknown => {
		if (Array.isArray(value)) return value.map(reversed);
		if (typeof value !== 'object' || value === null) return value;
		const entries = Object.entries(value).map(([key, inner]) => [key, reversed(inner)] as const);
		return Object.fromEntries(entries.reverse());
	};

	it('has one text, in whatever order its keys come, and stays the same value', () => {
		fc.assert(
			fc.property(fc.jsonValue(), (value) => {
				const sorted = withSortedKeys(value);
				expect(sorted).toEqual(value);
				expect(JSON.stringify(withSortedKeys(reversed(value)))).toBe(JSON.stringify(sorted));
			}),
		);
	});
});

describe('JSON', () => {
	it('is read as it was written, whatever the value', () => {
		fc.assert(
			fc.property(fc.jsonValue(), (value) => {
				const text = JSON.stringify(value);
				expect(exactJson(text)).toEqual(JSON.parse(text));
			}),
		);
	});

	it('keeps each digit of an integer, as text where JavaScript would round it', () => {
		fc.assert(
			fc.property(fc.bigInt(), (integer) => {
				const isExact =
					BigInt(Number(integer)) === integer && String(Number(integer)) === `${integer}`;
				const expected = isExact ? Number(integer) : `${integer}`;
				expect(exactJson(`{"id":${integer}}`)).toEqual({ id: expected });
			}),
		);
	});

	it.each([
		['in a text', '["-12345678901234567891"]', ['-12345678901234567891']],
		['behind a quote in a text', '["\\"12345678901234567891"]', ['"12345678901234567891']],
		['of a fraction', '[0.1234567890123456789]', [Number('0.1234567890123456789')]],
		[
			'of a number with an exponent',
			'[1234567890123456789e-3]',
			[Number('1234567890123456789e-3')],
		],
		['that JavaScript does not round', '[9007199254740992]', [9007199254740992]],
	])('leaves many digits alone %s', (_place, text, value) => {
		expect(exactJson(text)).toEqual(value);
	});

	it.each([
		['blanks are no value', ' \n', undefined],
		['null is no value', null, undefined],
		['a byte order mark is left out', '\ufeff{"a":1}', { a: 1 }],
		['an object stays as it is', { a: 1 }, { a: 1 }],
	])('in a field: %s', (_rule, given, value) => {
		expect(jsonValue.parse(given)).toEqual(value);
	});

	it('in a field that cannot be read is refused with the reason', () => {
		const { issues = [] } = jsonValue.safeParse('{a').error ?? {};
		expect(issues).toEqual([
			expect.objectContaining({ message: expect.stringMatching(/^must be JSON \(.+\)$/) }),
		]);
	});
});
