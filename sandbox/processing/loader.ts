import axios, { isAxiosError } from 'axios';
import { inflateSync } from 'node:zlib';
import type { Context } from '../context';
import type { Knowledgebase, StoredDocument } from '../entities';

/** Processing that cannot go on; the message is what the document's `processMsg` then says. */
export class ProcessError extends Error {}

/** What the server says when a document has no file: it reads neither pages nor chunks. */
const NO_FILE = "Cannot read properties of undefined (reading 'Symbol(Symbol.asyncIterator)')";

/**
 * The text of a document's file (`searchable` "status at the end").
 *
 * @throws ProcessError with what the real server says of such a document
 */
export async function textOfFile(
	{ store }: Context,
	owner: Knowledgebase,
	document: StoredDocument,
): Promise<string> {
	if (!owner.copilotModelId) {
		throw new ProcessError(`Embedding model not set for knowledgebase '${String(owner.name)}'`);
	}
	const { filePath, fileUrl, category } = document;
	const here = typeof filePath === 'string' ? store.fileAt(filePath) : undefined;
	if (!here && !fileUrl) {
		if (!filePath) throw new ProcessError(NO_FILE);
		throw new ProcessError(
			`Unable to resolve a readable file for document '${String(document.name)}'.`,
		);
	}
	if (category === 'sheet')
		throw new ProcessError('EISDIR: illegal operation on a directory, read');
	return readable(here ?? (await download(String(fileUrl))));
}

async function download(url: string): Promise<Buffer> {
	try {
		const { data } = await axios.get<ArrayBuffer>(url, { responseType: 'arraybuffer' });
		return Buffer.from(data);
	} catch (error) {
		if (isAxiosError(error) && error.response) {
			throw new ProcessError(`Failed to get '${url}' (${error.response.status})`);
		}
		throw new ProcessError(error instanceof Error ? error.message : String(error));
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
