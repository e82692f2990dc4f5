import type { IExecuteFunctions } from 'n8n-workflow';

import { readUploadFile, textChunks } from '../../../../nodes/XpertAi/execution/binary';
import { itemOf } from '../../support/context';

const field = (mimeType = '', more: object = {}) => ({
	property: 'data',
	parameter: 'Input Binary Field',
	binary: { data: '', mimeType, ...more },
});

/** An item whose file comes in these pieces: in one from memory, else from disk. */
function itemWith(pieces: Buffer[], broken?: string) {
	const helpers = {
		getBinaryDataBuffer: async () => (broken ? await Promise.reject(new Error(broken)) : pieces[0]),
		getBinaryStream: async () => pieces,
		getBinaryMetadata: async () => ({ fileSize: Buffer.concat(pieces).length }),
	} as unknown as IExecuteFunctions['helpers'];
	return itemOf({}, { methods: { helpers } });
}

async function textOf(bytes: Buffer, mimeType?: string): Promise<string> {
	let [single, split] = ['', ''];
	for await (const text of textChunks(itemWith([bytes]), field(mimeType))) single += text;
	const pieces = itemWith([...bytes].map((byte) => Buffer.from([byte])));
	for await (const text of textChunks(pieces, field(mimeType, { id: 'f' }))) split += text;
	expect(split).toBe(single);
	return single;
}

const WORDS = 'Größe: 10 € – café 🦓';
const UTF16 = Buffer.from(`\ufeff${WORDS}`, 'utf16le');
const CP1252 = Buffer.from('Größe: 10 \x80 \x96 caf\xe9', 'latin1');
const OF_CP1252 = 'Größe: 10 € – café';

describe('the text of a binary field', () => {
	it.each<[string, Buffer, string, string?]>([
		['UTF-8', Buffer.from(WORDS), ''],
		['UTF-8 with its mark', Buffer.from(`\uFEFF${WORDS}`), 'text/plain; charset=latin1'],
		['UTF-16, said to be UTF-8', UTF16, 'application/json; charset=utf-8'],
		['UTF-16, big end first', Buffer.from(UTF16).swap16(), ''],
		['Windows-1252', CP1252, 'text/plain; format=flowed; charset="Windows-1252"', OF_CP1252],
		['Windows-1252 by its short name', CP1252, 'application/xml;charset=cp1252', OF_CP1252],
		['GB18030', Buffer.from('b6ccceb2', 'hex'), 'text/plain; charset=gb18030', '短尾'],
		['nothing', Buffer.alloc(0), '', ''],
		['two bytes', Buffer.from('ab'), '', 'ab'],
	])('is read from %s, in one piece and byte by byte', async (_, bytes, type, text = WORDS) => {
		expect(await textOf(bytes, type)).toBe(text);
	});

	it.each([
		['no UTF-8', CP1252, 'text/plain; charset=utf-8', 'UTF-8'],
		['half of a letter', Buffer.from('Grü').subarray(0, 3), '', 'UTF-8'],
		['UTF-16 without a mark', Buffer.from('ab', 'utf16le'), '', 'UTF-8'],
		['UTF-16 that is cut off', UTF16.subarray(0, 7), '', 'UTF-16LE'],
		['an unknown encoding', CP1252, 'text/plain; charset=klingon', 'KLINGON'],
	])('is refused where it is %s', async (_, bytes, mimeType, encoding) => {
		await expect(textOf(bytes, mimeType)).rejects.toThrow(
			`"Input Binary Field" names "data", whose file is not text in ${encoding}. Save it as UTF-8, or name its encoding in its MIME type, as in text/plain; charset=windows-1252`,
		);
	});
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
