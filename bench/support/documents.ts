import { createHash } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';

const SENTENCE = 'The quick brown fox jumps over the lazy dog, and n8n hands it on. ';

/** A UUID that is the same in each process, so that all contenders send the same bytes. */
export function idOf(index: number): string {
	const hex = createHash('sha1').update(`document ${index}`).digest('hex');
	return hex.replace(
		/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/,
		(_, a: string, b: string, c: string, d: string, e: string) => `${a}-${b}-4${c}-8${d}-${e}`,
	);
}

/** A document of the API with the size asked for, as a workflow would bring it along. */
function makeDocument(index: number, bytes: number): IDataObject {
	const document = {
		id: idOf(index),
		name: `document-${index}.md`,
		filePath: `manuals/part-${index % 100}/document-${index}.md`,
		mimeType: 'text/markdown',
		size: bytes,
		metadata: { language: 'en', revision: index % 7 },
		pages: [{ pageContent: '' }],
	};
	document.pages[0] = { pageContent: textOf(bytes - JSON.stringify(document).length) };
	return document;
}

/** A text of so many characters. */
export function textOf(length: number): string {
	if (length <= 0) return '';
	return SENTENCE.repeat(length / SENTENCE.length + 1).slice(0, length);
}

/** Documents of the size asked for, counted from an index. */
export function makeDocuments(count: number, bytes: number, from = 0): IDataObject[] {
	return Array.from({ length: count }, (_, index) => makeDocument(from + index, bytes));
}

/** A record as it stands on a line of a file. */
function line(
	index: number,
	{ revision, text }: { revision: number | string; text: string },
): string {
	return `${JSON.stringify({
		id: idOf(index),
		name: `record-${index}.txt`,
		filePath: `records/${index}.txt`,
		metadata: { revision, text },
	})}\n`;
}

/** Records of about 200 bytes. */
const SMALL_TEXT = SENTENCE.slice(0, 48);

const LINES_A_PIECE = 500;

/**
 * NDJSON of so many records, in pieces, without holding it in memory.
 *
 * @param changedIn one in so many has changed; none without it
 */
export function* ndjson(
	records: number,
	{ changedIn, text = SMALL_TEXT }: { changedIn?: number; text?: string } = {},
): Generator<Buffer> {
	const hasChanged = (index: number) => changedIn !== undefined && index % changedIn === 0;
	for (let from = 0; from < records; from += LINES_A_PIECE) {
		const length = Math.min(LINES_A_PIECE, records - from);
		const lines = Array.from({ length }, (_, place) => {
			const index = from + place;
			return line(index, { revision: hasChanged(index) ? 'new' : index % 7, text });
		});
		yield Buffer.from(lines.join(''));
	}
}
