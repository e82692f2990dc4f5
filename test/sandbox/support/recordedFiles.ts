import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { utils, write } from '@e965/xlsx';
import { range } from 'lodash';
import { sampleFile } from './sampleFiles';

/** What the server made of a file (`encodings`, `sheets-as-txt`). */
export interface RecordedFile {
	name: string;
	type: string;
	status: string;
	processMsg: string;
	/** The beginnings of its passages; there may be more of them. */
	chunks: string[];
	count: number;
}

const FOLDER = join(__dirname, '..', '..', 'recordings');
const recorded = <Content>(name: string): Content =>
	JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as Content;

interface Exchange {
	sequence: string;
	label: string;
	request?: { body?: Array<{ name: string; type: string }> };
	response: { count?: number; chunks?: Array<{ text: string }>; body?: Ended[] };
}
interface Ended {
	status: string;
	processMsg: string;
}

const ENCODINGS = recorded<{ files: Array<Omit<RecordedFile, 'count'>> }>('encodings').files;

/** The files of `encodings`. */
export const encodedFiles: RecordedFile[] = ENCODINGS.map((file) => ({
	...file,
	name: file.name.replace(/ \(.*/, ''),
	count: file.chunks.length,
}));

/** The files of `sheets-as-txt`. */
export function sheetFiles(): RecordedFile[] {
	const { exchanges } = recorded<{ exchanges: Exchange[] }>('sheets-as-txt');
	const at = (sequence: string, label: RegExp) =>
		exchanges.filter((one) => one.sequence === sequence && label.test(one.label)).at(-1);
	return [...new Set(exchanges.map(({ sequence }) => sequence))].map((sequence) => {
		const [document] = at(sequence, /^document/)?.request?.body ?? [];
		const [ended] = at(sequence, /^status/)?.response.body ?? [];
		const { count = NaN, chunks = [] } = at(sequence, /^the chunks/)?.response ?? {};
		if (!document || !ended) throw new Error(`${sequence} is not whole`);
		const { name, type } = document;
		const { status, processMsg } = ended;
		return { name, type, status, processMsg, count, chunks: chunks.map(({ text }) => text) };
	});
}

type Cell = string | number | boolean | Date | null;

/** A workbook of sheets, each with its rows of cells. */
export function workbook(...sheets: Cell[][][]): Buffer {
	const book = utils.book_new();
	for (const rows of sheets) utils.book_append_sheet(book, utils.aoa_to_sheet(rows));
	return write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer;
}

const PRICES = workbook(
	[
		['Animal', 'Price', 'Size', 'Sold'],
		['Quokka', 10.5, 'klein – größer', true],
		['Numbat', 20, null, false],
		[],
		['Wombat', new Date(2025, 10, 24), 'groß', true],
	],
	[
		['City', 'People'],
		['Perth', 2_000_000],
	],
);

const ROWS = workbook(
	[
		['Tier', 'Preis', 'Größe'],
		['Quokka', 10.5, 'klein'],
		['Numbat', 20, 'größer'],
	],
	[
		['Ort', 'Insel'],
		['Rottnest', 'ja'],
		['Perth', 'nein'],
	],
);

const MANY = [
	'Animal,Price',
	...range(200).map((n) => `animal-${n} with a name that is not so short,${n}`),
];

const TEXT = 'Grüße aus Österreich';

/** The files by their names. Those that are not here are sent as the recording has them. */
const FILES: Record<string, () => Buffer | string> = {
	'empty.txt': () => '',
	'utf16be.txt': () => Buffer.from(`\ufeff${TEXT}`, 'utf16le').swap16(),
	'utf16le.txt': () => Buffer.from(`\ufeff${TEXT}`, 'utf16le'),
	'utf16le.csv': () => Buffer.from(`\ufeff${TEXT}`, 'utf16le'),
	'sheet.xlsx': () =>
		workbook([
			['animal', 'food'],
			['gibbon qqxlsx', 'figs'],
		]),
	'rows.xlsx': () => ROWS,
	'rows.txt': () => ROWS,
	'paper.pdf': () => sampleFile('paper.pdf', 2000),
	'prices.xlsx': () => PRICES,
	'PRICES.XLSX': () => PRICES,
	'prices.xls': () => PRICES,
	'nohead.xlsx': () =>
		workbook(
			[
				[1, 2, 3],
				[4, 5, 6],
			],
			[],
		),
	'broken.xlsx': () => 'no zip at all!',
	'many.csv': () => MANY.join('\n'),
};

/** The bytes of a recorded file, or others that end as well. */
export const bytesOf = ({ name, chunks }: RecordedFile): Buffer =>
	Buffer.from(FILES[name]?.() ?? chunks.join(''));
