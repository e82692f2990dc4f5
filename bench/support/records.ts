import type { IDataObject } from 'n8n-workflow';

const SENTENCE = 'The quick brown fox jumps over the lazy dog, and n8n hands it on. ';

const textOf = (length: number) => SENTENCE.repeat(length / SENTENCE.length + 1).slice(0, length);

/** What records are to be like. */
export interface RecordShape {
	/** Characters of the text of each. */
	textLength: number;
	/** One in so many has changed; none without it. */
	changedIn?: number;
}

/** A record with a path of 30 characters. */
function recordOf(index: number, text: string, revision: number | string): IDataObject {
	const filePath = `records/part-${index % 100}/`.padEnd(22, '-') + String(index).padStart(8, '0');
	return { name: `record-${index}.txt`, filePath, metadata: { revision, text } };
}

const revisionOf = (index: number, { changedIn }: RecordShape) =>
	changedIn !== undefined && index % changedIn === 0 ? 'new' : index % 7;

/** So many records as items. */
export function records(count: number, shape: RecordShape): IDataObject[] {
	const text = textOf(shape.textLength);
	return Array.from({ length: count }, (_, index) =>
		recordOf(index, text, revisionOf(index, shape)),
	);
}

const LINES_A_PIECE = 500;

/** NDJSON of so many records, in pieces: it is never held in memory. */
export function* ndjson(count: number, shape: RecordShape): Generator<Buffer> {
	const text = textOf(shape.textLength);
	for (let from = 0; from < count; from += LINES_A_PIECE) {
		const length = Math.min(LINES_A_PIECE, count - from);
		const lines = Array.from({ length }, (_, place) => {
			const index = from + place;
			return `${JSON.stringify(recordOf(index, text, revisionOf(index, shape)))}\n`;
		});
		yield Buffer.from(lines.join(''));
	}
}
