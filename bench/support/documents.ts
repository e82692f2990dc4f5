import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';

const SENTENCE = 'The quick brown fox jumps over the lazy dog, and n8n hands it on. ';

/** A document of the API with the size asked for, as a workflow would bring it along. */
function makeDocument(index: number, bytes: number): IDataObject {
	const document = {
		id: randomUUID(),
		name: `document-${index}.md`,
		filePath: `manuals/part-${index % 100}/document-${index}.md`,
		mimeType: 'text/markdown',
		size: bytes,
		metadata: { language: 'en', revision: index % 7 },
		pages: [{ pageContent: '' }],
	};
	const missing = Math.max(0, bytes - JSON.stringify(document).length);
	document.pages[0] = {
		pageContent: SENTENCE.repeat(missing / SENTENCE.length + 1).slice(0, missing),
	};
	return document;
}

/** Documents of the size asked for. */
export function makeDocuments(count: number, bytes: number): IDataObject[] {
	return Array.from({ length: count }, (_, index) => makeDocument(index, bytes));
}

/** A small record of about 200 bytes, as it stands on a line of a file. */
function line(index: number): string {
	return `${JSON.stringify({
		id: randomUUID(),
		name: `record-${index}.txt`,
		filePath: `records/${index}.txt`,
		metadata: { revision: index % 7, text: SENTENCE.slice(0, 48) },
	})}\n`;
}

const LINES_A_PIECE = 500;

/** NDJSON of so many records, in pieces, without holding it in memory. */
export function* ndjson(records: number): Generator<Buffer> {
	for (let from = 0; from < records; from += LINES_A_PIECE) {
		const length = Math.min(LINES_A_PIECE, records - from);
		yield Buffer.from(Array.from({ length }, (_, index) => line(from + index)).join(''));
	}
}
