import { createHash } from 'node:crypto';

import fc from 'fast-check';

import { derivedId, isUuid, uuidSchema, uuidV5 } from 'nodes/XpertAi/payloads/ids';

const UUID = '335ccdfa-d2bb-4f15-9f4a-2b180f46d737';

describe('a UUID', () => {
	it('may be of any version and in either case', () => {
		fc.assert(
			fc.property(fc.uuid(), (id) => {
				for (const one of [id, id.toUpperCase()]) {
					expect(isUuid(one)).toBe(true);
					expect(uuidSchema.parse(one)).toBe(one);
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
		expect([isUuid(text), uuidSchema.safeParse(text).success]).toEqual([false, false]);
	});
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
