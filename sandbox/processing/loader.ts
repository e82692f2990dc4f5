import type { Readable } from 'node:stream';
import { extname } from 'node:path';
import { read, utils } from '@e965/xlsx';
import axios, { isAxiosError } from 'axios';
import { upTo } from '../contents';
import type { Context } from '../context';
import type { Knowledgebase, StoredDocument } from '../entities';
import type { Store } from '../store';
import { textOfPdf } from './pdf';

/** What the server says when a document has no file: it reads neither pages nor chunks. */
const NO_FILE = "Cannot read properties of undefined (reading 'Symbol(Symbol.asyncIterator)')";

/** So much is read of a text: the real server reads all of it, here it would only take memory. */
const TEXT_LIMIT = 2 * 1024 * 1024;
const FILE_LIMIT = 64 * 1024 * 1024;
const PDF_BEGINNING = '%PDF-';

/** Types that the real server has parsers for, and the sandbox has not. */
const WITHOUT_READER = ['doc', 'docx', 'ppt', 'pptx', 'epub'];

/** What the database says of a text with a zero byte, as UTF-16 and binary files have many (`encodings`, `sheets-as-txt`). */
const ZERO_BYTE = 'invalid byte sequence for encoding "UTF8": 0x00';

/**
 * The texts of a document's file, none of which is cut together with another (`searchable` "status at the end"): one, or
 * the rows of a workbook.
 *
 * @throws Error with what the real server says of such a document
 */
export async function textsOfFile(
	{ store }: Context,
	owner: Knowledgebase,
	document: StoredDocument,
): Promise<string[]> {
	checkEmbeddingModel(store, owner);
	const { filePath, fileUrl, category, name } = document;
	if (!fileUrl) {
		if (!filePath) throw new Error(NO_FILE);
		throw new Error(`Unable to resolve a readable file for document '${String(name)}'.`);
	}
	if (category === 'sheet') throw new Error('EISDIR: illegal operation on a directory, read');
	// The name chooses the reader of workbooks, which comes to its turn only where the type is another (`encodings`).
	if (/\.xlsx$/i.test(String(name))) return rowsOf(await bytesAt(String(fileUrl)));
	const type = typeOf(document);
	// They end well, as they do there; the sandbox only finds nothing in them.
	if (WITHOUT_READER.includes(type)) return [];
	const text = await textAt(String(fileUrl), type);
	if (text.includes('\0')) throw new Error(ZERO_BYTE);
	return [text];
}

async function bytesAt(url: string): Promise<Buffer> {
	const file = await download(url);
	try {
		return await file.upTo(FILE_LIMIT);
	} finally {
		file.close();
	}
}

/** A model without a usable copilot fails as it does in E2; that it does so here was not recorded. */
function checkEmbeddingModel(store: Store, { copilotModelId, name }: Knowledgebase): void {
	if (!copilotModelId) {
		throw new Error(`Embedding model not set for knowledgebase '${String(name)}'`);
	}
	const made = store.copilotModels.get(String(copilotModelId));
	if (made && !store.copilots.has(String(made.copilotId))) {
		throw new Error(`Copilot not set for embedding model '${String(made.model)}'`);
	}
}

const typeOf = ({ type, name }: StoredDocument): string =>
	String(type || extname(String(name ?? '')).slice(1)).toLowerCase();

/**
 * The text of a file that can be fetched; HTML is kept as it is.
 *
 * @param type what chooses the parser, e.g. `pdf`
 * @throws Error with what the real server says of a file it cannot fetch or read
 */
export async function textAt(url: string, type: string): Promise<string> {
	const file = await download(url);
	try {
		const beginning = await file.upTo(PDF_BEGINNING.length);
		if (type === 'pdf' || beginning.toString('latin1').startsWith(PDF_BEGINNING)) {
			return await textOfPdf(await file.upTo(FILE_LIMIT));
		}
		if (WITHOUT_READER.includes(type))
			throw new Error(`The sandbox has no reader for ${type} files.`);
		return (await file.upTo(TEXT_LIMIT)).subarray(0, TEXT_LIMIT).toString('utf8');
	} finally {
		file.close();
	}
}

/** A file that is being fetched: its first bytes, and as many more as are wanted. */
interface Download {
	/** Reads on until there are more than `limit` bytes or no more to come; gives all that was read. */
	upTo(limit: number): Promise<Buffer>;
	close(): void;
}

/**
 * Begins to fetch a file.
 *
 * @throws Error with what the real server says of an address it cannot fetch
 */
async function download(url: string): Promise<Download> {
	const stream = await begun(url);
	const chunks = (stream as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
	let read: Buffer = Buffer.alloc(0);
	return {
		upTo: async (limit) => {
			if (read.length <= limit)
				read = Buffer.concat([read, await upTo(chunks, limit - read.length)]);
			return read;
		},
		close: () => void stream.destroy(),
	};
}

async function begun(url: string): Promise<Readable> {
	try {
		return (await axios.get<Readable>(url, { responseType: 'stream' })).data;
	} catch (error) {
		if (!isAxiosError<Readable>(error) || !error.response) throw error;
		error.response.data.destroy();
		throw new Error(`Failed to get '${url}' (${error.response.status})`);
	}
}

const ZIP_BEGINNING = 'PK';

/**
 * The rows of all sheets of a workbook, each as JSON text with the headings as keys (`sheets-as-txt`): the first row of a
 * sheet is its headings, an empty row is left out, a date is a number.
 *
 * @returns nothing for a file that is no workbook, whatever it is called
 */
function rowsOf(file: Buffer): string[] {
	if (file.toString('latin1', 0, ZIP_BEGINNING.length) !== ZIP_BEGINNING) return [];
	const { SheetNames: names, Sheets: sheets } = read(file, { type: 'buffer' });
	return names.flatMap((name) => {
		const sheet = sheets[name];
		const rows = sheet ? utils.sheet_to_json<object>(sheet, { defval: '', blankrows: false }) : [];
		return rows.map((row) => JSON.stringify(row));
	});
}
