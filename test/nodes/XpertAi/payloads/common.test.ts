import fc from 'fast-check';

import {
	canonicalKey,
	dateTime,
	hasLoneSurrogate,
	isUuid,
	keyRule,
	missingValueIn,
	uuid,
} from '../../../../nodes/XpertAi/payloads/common';

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

	const others = ['', '42', ` ${UUID}`, `${UUID}\n`, `{${UUID}}`, UUID.replace(/-/g, '')];
	it.each([...others, UUID.replace('3', 'g')])('is not %j', (text) => {
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
	['cut \ud83d', true],
	['\ude00', true],
	['ä \ud83d!', true],
	['ä 漢 😀', false],
])('in %j there is half of a character: %s', (text, isHalf) => {
	expect(hasLoneSurrogate(text)).toBe(isHalf);
});

describe('a key', () => {
	it('is the same in NFC and NFD, and with blanks around it', () => {
		const text = fc.string({ unit: 'grapheme' });
		fc.assert(
			fc.property(text, fc.constantFrom('', ' ', '\n', '\t '), (key, blanks) => {
				const spelled = [key, key.normalize('NFC'), key.normalize('NFD')];
				const read = spelled.map((one) => canonicalKey(`${blanks}${one}${blanks}`));
				expect(new Set(read).size).toBe(1);
				expect(canonicalKey(read[0] ?? '')).toBe(read[0]);
			}),
		);
		expect(canonicalKey('e\u0301')).toBe('\u00e9');
	});

	const FINE = ['docs/undefined.md', 'null-object.md', 'NaN handling', 'Null', 'nan', '0'];
	it.each(FINE)('may be %s', (key) => expect(keyRule(key)).toBeUndefined());

	const MISSING = ['undefined', 'null', 'NaN', '[object Object]', 'user [object Promise] 1'];
	it.each([...MISSING, 'Invalid Date'])('is none that stands for a missing value: %s', (key) =>
		expect(keyRule(key)).toMatch(/^holds "[^"]+", which stands for a missing value$/),
	);

	it.each(['', 'a\ud83d'])('is none that is empty or broken: %j', (key) =>
		expect(keyRule(key)).toBeDefined(),
	);
});

describe('a key that people share', () => {
	const WORDS = ['undefined', 'null', 'NaN'];
	const separator = fc.constantFrom('-', '_', ':', '/', '|', '#', '@', ' ', ' / ');
	const part = fc.stringMatching(/^[a-z0-9]{1,8}$/).filter((text) => !WORDS.includes(text));

	it('holds no missing value between separators, which a document may', () => {
		fc.assert(
			fc.property(part, separator, fc.constantFrom(...WORDS), (one, between, missing) => {
				for (const key of [`${one}${between}${missing}`, `${missing}${between}${one}`]) {
					expect(missingValueIn(key, true)).toBe(missing);
					expect(missingValueIn(key)).toBeUndefined();
				}
				expect(missingValueIn(`${one}${missing}`, true)).toBeUndefined();
			}),
		);
	});

	it('may be the mail address of somebody with that name', () => {
		expect(missingValueIn('john.null@example.com', true)).toBeUndefined();
		expect(missingValueIn('undefined@c.us', true)).toBe('undefined');
	});
});
