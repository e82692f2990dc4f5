import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { utils, write } from '@e965/xlsx';
import { mapValues, range } from 'lodash';
import { sampleFile } from './sampleFiles';
import WORKBOOKS from './workbooks.json';

export interface RecordedFile {
	name: string;
	type: string;
	status: string;
	processMsg: string;
	/** The beginnings of its passages; there may be more of them. */
	chunks: string[];
	count: number;
}

/** The files of `encodings` and `sheets-as-txt`. */
export const recordedFiles = ['encodings', 'sheets-as-txt'].flatMap((name) => {
	const text = readFileSync(join(__dirname, '..', '..', 'recordings', `${name}.json`), 'utf8');
	return (JSON.parse(text) as { files: RecordedFile[] }).files;
});

type Cell = string | number | boolean | Date | null;

export function workbook(...sheets: Cell[][][]): Buffer {
	const book = utils.book_new();
	for (const rows of sheets) utils.book_append_sheet(book, utils.aoa_to_sheet(rows));
	return write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer;
}

const MANY = [
	'Animal,Price',
	...range(200).map((n) => `animal-${n} with a name that is not so short,${n}`),
];

const TEXT = 'Grüße aus Österreich';

/** The files by their names. Those that are not here are sent as the recording has them. */
const FILES: Record<string, () => Buffer | string> = {
	...mapValues(WORKBOOKS as Record<string, Cell[][][]>, (sheets) => () => workbook(...sheets)),
	'empty.txt': () => '',
	'utf16be.txt': () => Buffer.from(`\ufeff${TEXT}`, 'utf16le').swap16(),
	'utf16le.txt': () => Buffer.from(`\ufeff${TEXT}`, 'utf16le'),
	'utf16le.csv': () => Buffer.from(`\ufeff${TEXT}`, 'utf16le'),
	'paper.pdf': () => sampleFile('paper.pdf', 2000),
	'doc.docx': () => sampleFile('doc.docx', 2000),
	'slides.pptx': () => sampleFile('slides.pptx', 2000),
	'book.epub': () => sampleFile('book.epub', 2000),
	'broken.xlsx': () => 'no zip at all!',
	'many.csv': () => MANY.join('\n'),
};

/** The bytes of a recorded file, or others that end as well. */
export const bytesOf = ({ name, chunks }: RecordedFile): Buffer =>
	Buffer.from(FILES[name]?.() ?? chunks.join(''));
