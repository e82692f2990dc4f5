import {
	chosenBinaryFields,
	chosenBinaryField,
	withBinaryHead,
	readUploadFile,
} from 'nodes/XpertAi/execution/binary';
import { documentExtension } from 'nodes/XpertAi/execution/mimeTypes';
import { textField } from 'nodes/XpertAi/execution/fieldBuilders';
import type { Item } from 'nodes/XpertAi/execution/item';

import { itemOf } from '../../support/context';
import { field, itemWith } from '../../support/files';
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
		expect(chosenBinaryField(named(' data '))).toEqual({
			property: 'data',
			binary: { ...binary.data, mimeType: 'application/pdf' },
			parameterLabel: 'Input Binary Field',
		});
		const both = chosenBinaryFields(named('other, data,other'), name);
		expect(both.map(({ property }) => property)).toEqual(['other', 'data']);
		expect(chosenBinaryFields(named(['data']), name)).toHaveLength(1);
		expect(chosenBinaryFields(named(''), name)).toEqual([]);
	});

	it.each(['none', 'constructor', '__proto__', 'toString'])('is not found by "%s"', (file) => {
		const words = `"Input Binary Field" names "${file}", but the item has`;
		for (const read of [chosenBinaryField, (item: Item) => chosenBinaryFields(item, name)]) {
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
		expect([documentExtension(fileName), chosenBinaryField(item).binary.mimeType]).toEqual([
			extension,
			type,
		]);
	});
});

it('no more is read of a file than its first bytes, where no more is wanted', async () => {
	function* pieces() {
		yield Buffer.alloc(600);
		yield Buffer.alloc(424);
		throw new Error('reads on');
	}
	const stored = field('', { id: 'f' });
	const head = await withBinaryHead(
		itemWith(pieces()),
		stored,
		async (first) => await Promise.resolve(first),
	);
	expect(head).toHaveLength(1024);
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
