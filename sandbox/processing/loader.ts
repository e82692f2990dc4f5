import axios, { isAxiosError } from 'axios';
import { inflateSync } from 'node:zlib';
import type { Context } from '../context';
import type { Knowledgebase, StoredDocument } from '../entities';
import type { Store } from '../store';

/** What the server says when a document has no file: it reads neither pages nor chunks. */
const NO_FILE = "Cannot read properties of undefined (reading 'Symbol(Symbol.asyncIterator)')";

/**
 * The text of a document's file (`searchable` "status at the end").
 *
 * @throws Error with what the real server says of such a document
 */
export async function textOfFile(
	{ store }: Context,
	owner: Knowledgebase,
	document: StoredDocument,
): Promise<string> {
	checkEmbeddingModel(store, owner);
	const { filePath, fileUrl, category, name } = document;
	if (!fileUrl) {
		if (!filePath) throw new Error(NO_FILE);
		throw new Error(`Unable to resolve a readable file for document '${String(name)}'.`);
	}
	if (category === 'sheet') throw new Error('EISDIR: illegal operation on a directory, read');
	return readable(await download(String(fileUrl)));
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

async function download(url: string): Promise<Buffer> {
	try {
		const { data } = await axios.get<ArrayBuffer>(url, { responseType: 'arraybuffer' });
		return Buffer.from(data);
	} catch (error) {
		if (isAxiosError(error) && error.response) {
			throw new Error(`Failed to get '${url}' (${error.response.status})`);
		}
		throw error;
	}
}

/** A file as text; HTML is kept as it is, and of a PDF the strings that are drawn are read. */
function readable(bytes: Buffer): string {
	if (!bytes.subarray(0, 5).equals(Buffer.from('%PDF-'))) return bytes.toString('utf8');
	const text = bytes.toString('latin1');
	const streams = [...text.matchAll(/stream\r?\n([\s\S]*?)\r?\nendstream/g)];
	return streams.map(([, stream = '']) => drawnIn(inflated(stream))).join('\n');
}

function inflated(stream: string): string {
	try {
		return inflateSync(Buffer.from(stream, 'latin1')).toString('latin1');
	} catch {
		return stream;
	}
}

const drawnIn = (content: string): string =>
	[...content.matchAll(/\(((?:\\.|[^\\()])*)\)\s*(?:Tj|')/g)]
		.map(([, drawn = '']) => drawn.replace(/\\([\\()])/g, '$1'))
		.join(' ');
