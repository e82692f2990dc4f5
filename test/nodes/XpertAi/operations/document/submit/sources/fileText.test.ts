import { isTextHead, textChunks } from 'nodes/XpertAi/operations/document/submit/sources/fileText';

import { field, itemWith } from '../../../../../support/files';

async function textOf(bytes: Buffer, mimeType?: string): Promise<string> {
	let [single, split, parts] = ['', '', 0];
	for await (const text of textChunks(itemWith([bytes]), field(mimeType))) single += text;
	const pieces = itemWith([...bytes].map((byte) => Buffer.from([byte])));
	for await (const text of textChunks(pieces, field(mimeType, { id: 'f' }))) {
		split += text;
		parts += 1;
	}
	// It is never held whole: all but what may be a mark is read as it comes.
	const marks = Math.min(bytes.length, 3);
	expect([split, parts]).toEqual([single, bytes.length - marks + Math.min(marks, 1) + 1]);
	return single;
}

const WORDS = 'Größe: 10 € – café 🦓';
const UTF16 = Buffer.from(`\ufeff${WORDS}`, 'utf16le');
const CP1252 = Buffer.from('Größe: 10 \x80 \x96 caf\xe9', 'latin1');
const LATIN1 = Buffer.from('a\xc3', 'latin1');
const OF_CP1252 = 'Größe: 10 € – café';

describe('the text of a binary field', () => {
	it.each<[string, Buffer, string, string?]>([
		['UTF-8', Buffer.from(WORDS), ''],
		['UTF-8 with its mark', Buffer.from(`\uFEFF${WORDS}`), 'text/plain; charset=latin1'],
		['UTF-16, said to be UTF-8', UTF16, 'application/json; charset=utf-8'],
		['UTF-16, big end first', Buffer.from(UTF16).swap16(), ''],
		['Windows-1252', CP1252, 'text/plain; format=flowed; charset="Windows-1252"', OF_CP1252],
		['Windows-1252 by its short name', CP1252, 'application/xml;charset = cp1252', OF_CP1252],
		['UTF-8, said to be ASCII', Buffer.from(WORDS), 'text/plain; charset=us-ascii'],
		['UTF-8, said to be Latin 1', Buffer.from(WORDS), 'text/html; charset=ISO-8859-1'],
		['UTF-8, said to be what nobody knows', Buffer.from(WORDS), 'text/plain; charset=klingon'],
		['ASCII, said to be what nobody knows', Buffer.from('ab'), 'text/x; charset=klingon', 'ab'],
		['ISO-2022-JP', Buffer.from('\x1b$B:#\x1b(B'), 'text/plain; charset=iso-2022-jp', '今'],
		['Latin 1, whose end begins a letter of UTF-8', LATIN1, 'text/x; charset=latin1', 'aÃ'],
		['GB18030', Buffer.from('b6ccceb2', 'hex'), 'text/plain; charset=gb18030', '短尾'],
		['nothing', Buffer.alloc(0), '', ''],
		['two bytes', Buffer.from('ab'), '', 'ab'],
		['one U+0000 in many', Buffer.from(`\0${'a'.repeat(1000)}`), '', 'a'.repeat(1000)],
	])('is read from %s, in one piece and byte by byte', async (_, bytes, type, text = WORDS) => {
		expect(await textOf(bytes, type)).toBe(text);
	});

	it.each([
		['no UTF-8', CP1252, 'text/plain; charset=utf-8', 'UTF-8'],
		['half of a letter', Buffer.from('Grü').subarray(0, 3), '', 'UTF-8'],
		['UTF-16 without a mark', Buffer.from('ab', 'utf16le'), '', 'UTF-8'],
		['full of U+0000', Buffer.from(`\0${'a'.repeat(999)}`), '', 'UTF-8'],
		['UTF-16 that is cut off', UTF16.subarray(0, 7), '', 'UTF-16LE'],
		['of an unknown encoding', CP1252, 'text/plain; charset=klingon', 'KLINGON'],
	])('is refused where it is %s', async (_, bytes, mimeType, encoding) => {
		await expect(textOf(bytes, mimeType)).rejects.toThrow(
			`"Input Binary Field" names "data", whose file is not text in ${encoding}. Save it as UTF-8, or name its encoding in its MIME type (for Files, in Document Settings), as in text/plain; charset=windows-1252`,
		);
	});
});

it.each<[string, Buffer, string, boolean]>([
	['UTF-8', Buffer.from('Grü'), '', true],
	['UTF-8, said to be what nobody knows', Buffer.from('Grü'), 'text/plain; charset=klingon', true],
	['Windows-1252, said to be so', CP1252, 'text/plain; charset=windows-1252', true],
	['Windows-1252', CP1252, '', false],
	['a U+0000', Buffer.from('Gr\0'), '', false],
])('the head of a text, which may be cut, is told: %s', (_, text, mimeType, isText) => {
	expect(isTextHead(text.subarray(0, 3), mimeType)).toBe(isText);
});
