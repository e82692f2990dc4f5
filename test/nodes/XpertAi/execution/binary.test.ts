import type { IExecuteFunctions } from 'n8n-workflow';

import {
	binariesOf,
	binaryOf,
	documentExtension,
	firstBytes,
	isTextHead,
	readUploadFile,
	textChunks,
} from 'nodes/XpertAi/execution/binary';
import { textField } from 'nodes/XpertAi/execution/fields';
import type { Item } from 'nodes/XpertAi/execution/item';
import { itemOf } from '../../support/context';
import { thrownBy } from '../../support/thrown';

describe('a binary field', () => {
	const binary = {
		data: { data: '', mimeType: '', fileName: 'a.pdf' },
		other: { data: '', mimeType: 'x/y' },
	};
	const name = 'binaryPropertyName';
	const fields = [textField(name, 'Input Binary Field')];
	const named = (file: unknown, has: object = { binary }) => {
		const getInputData = () => [{ json: {}, ...has }];
		return itemOf({ [name]: file }, { fields, methods: { getInputData } });
	};

	it('is found by its name, with a type', () => {
		expect(binaryOf(named(' data '))).toEqual({
			property: 'data',
			binary: { ...binary.data, mimeType: 'application/pdf' },
			parameter: 'Input Binary Field',
		});
		const both = binariesOf(named('other, data,other'), name);
		expect(both.map(({ property }) => property)).toEqual(['other', 'data']);
		expect(binariesOf(named(['data']), name)).toHaveLength(1);
		expect(binariesOf(named(''), name)).toEqual([]);
	});

	it.each(['none', 'constructor', '__proto__', 'toString'])('is not found by "%s"', (file) => {
		const words = `"Input Binary Field" names "${file}", but the item has`;
		for (const read of [binaryOf, (item: Item) => binariesOf(item, name)]) {
			expect(thrownBy(() => read(named(file))).message).toBe(`${words} only data, other`);
			expect(thrownBy(() => read(named(file, {}))).message).toBe(`${words} no binary field`);
		}
	});

	it.each([
		['notes.md', 'md', 'text/markdown'],
		['notes.v2.MD', 'md', 'text/markdown'],
		['notes.txt', 'txt', 'text/plain'],
		['table.csv', 'csv', 'text/csv'],
		['table.tsv', 'tsv', 'text/tab-separated-values'],
		['page.htm', 'htm', 'text/html'],
		['page.html', 'html', 'text/html'],
		['data.json', 'json', 'application/json'],
		['data.xml', 'xml', 'application/xml'],
		['book.pdf', 'pdf', 'application/pdf'],
		['book.epub', 'epub', 'application/epub+zip'],
		['picture.png', undefined, 'image/png'],
		['picture.jpg', undefined, 'image/jpeg'],
		['picture.jpeg', undefined, 'image/jpeg'],
		['picture.gif', undefined, 'image/gif'],
		['picture.webp', undefined, 'image/webp'],
		['prices.xls', undefined, 'application/vnd.ms-excel'],
		['notes.md.bak', undefined, 'application/octet-stream'],
		['md', undefined, 'application/octet-stream'],
		['notes.constructor', undefined, 'application/octet-stream'],
	])('%s has its document extension, if any, and its type', (fileName, extension, type) => {
		const item = named('data', { binary: { data: { data: '', mimeType: '', fileName } } });
		expect([documentExtension(fileName), binaryOf(item).binary.mimeType]).toEqual([
			extension,
			type,
		]);
	});
});

const field = (mimeType = '', more: object = {}) => ({
	property: 'data',
	parameter: 'Input Binary Field',
	binary: { data: '', mimeType, ...more },
});

/** An item whose file comes in these pieces: in one from memory, else from disk. */
function itemWith(pieces: Iterable<Buffer>, broken?: string) {
	const helpers = {
		getBinaryDataBuffer: async () =>
			broken ? await Promise.reject(new Error(broken)) : [...pieces][0],
		getBinaryStream: async () => pieces,
		getBinaryMetadata: async () => ({ fileSize: Buffer.concat([...pieces]).length }),
	} as unknown as IExecuteFunctions['helpers'];
	return itemOf({}, { methods: { helpers } });
}

async function textOf(bytes: Buffer, mimeType?: string): Promise<string> {
	let [single, split, parts] = ['', '', 0];
	for await (const text of textChunks(itemWith([bytes]), field(mimeType))) single += text;
	const pieces = itemWith([...bytes].map((byte) => Buffer.from([byte])));
	for await (const text of textChunks(pieces, field(mimeType, { id: 'f' }))) {
		split += text;
		parts += 1;
	}
	// It is never held whole: all but what may be a mark is read as it comes.
	expect([split, parts]).toEqual([single, Math.max(bytes.length - 2, 0) + 1]);
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
			`"Input Binary Field" names "data", whose file is not text in ${encoding}. Save it as UTF-8, or name its encoding in its MIME type, as in text/plain; charset=windows-1252`,
		);
	});
});

it('no more is read of a file than its first bytes', async () => {
	function* pieces() {
		yield Buffer.alloc(600);
		yield Buffer.alloc(424);
		throw new Error('reads on');
	}
	expect(await firstBytes(itemWith(pieces()), field('', { id: 'f' }))).toHaveLength(1024);
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

describe('a file to upload', () => {
	it('is named after its field where it has no name', async () => {
		const content = Buffer.from('x');
		const file = await readUploadFile(itemWith([content]), field('a/b'));
		expect(file).toEqual({ name: 'data', mimeType: 'a/b', content });
		const stored = field('a/b', { id: 'f', fileName: 'n.md' });
		const { name, content: stream } = await readUploadFile(itemWith([content, content]), stored);
		expect([name, stream]).toEqual(['n.md', expect.objectContaining({ size: 2 })]);
	});

	it('is asked for again where n8n no longer has it', async () => {
		await expect(readUploadFile(itemWith([], 'ENOENT'), field())).rejects.toThrow(
			'whose file is no longer in n8n (ENOENT). Run the node that made it again',
		);
	});
});
