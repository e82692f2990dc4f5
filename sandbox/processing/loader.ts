import { extname } from 'node:path';
import type { Context } from '../context';
import type { Knowledgebase, StoredDocument } from '../entities';
import type { Store } from '../store';
import { download } from './download';
import { readerOf } from './readers';

/** What the server says when a document has no file: it reads neither pages nor chunks. */
const NO_FILE = "Cannot read properties of undefined (reading 'Symbol(Symbol.asyncIterator)')";

/** So much is read of a text: the real server reads all of it, here it would only take memory. */
const TEXT_LIMIT = 2 * 1024 * 1024;
const FILE_LIMIT = 64 * 1024 * 1024;
const PDF_BEGINNING = '%PDF-';

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
	return await textsAt(String(fileUrl), String(name), typeOf(document));
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

const typeOf = ({ type, name }: Partial<StoredDocument>): string =>
	String(type || extname(String(name ?? '')).slice(1)).toLowerCase();

/**
 * The texts of a file that can be fetched; HTML is kept as it is.
 *
 * @param type what chooses the reader, e.g. `pdf`; the extension of the name where left out
 * @throws Error with what the real server says of a file it cannot fetch or read
 */
export async function textsAt(url: string, name: string, type = typeOf({ name })) {
	const file = await download(url);
	try {
		const beginning = await file.upTo(PDF_BEGINNING.length);
		const isPdf = beginning.toString('latin1').startsWith(PDF_BEGINNING);
		const reader = readerOf(name, isPdf ? 'pdf' : type);
		if (reader) return await reader(await file.upTo(FILE_LIMIT));
		const text = (await file.upTo(TEXT_LIMIT)).subarray(0, TEXT_LIMIT).toString('utf8');
		if (text.includes('\0')) throw new Error(ZERO_BYTE);
		return [text];
	} finally {
		file.close();
	}
}
