import { chunk, sumBy } from 'lodash';

import { parseExactJson } from '../../../../payloads/json';

/**
 * A record in a file.
 * `positionText`: the place of the record, e.g. `Line 3 of the file`.
 * `issue`: why the record is invalid.
 */
export type FileRecord = { positionText: string } & ({ issue: string } | { value: unknown });

interface Line {
	/** Counts from 1. */
	number: number;
	text: string;
}

/** Maximum number of lines or records in one group. Lines that waited for the format may form a larger group. */
const MAX_LINES_IN_GROUP = 100;

/** Maximum number of characters to parse as one JSON text. The JSON text is a line or a whole file. */
const MAX_VALUE_LENGTH = 32 * 2 ** 20;

/** A file counts as JSON lines if at least one line in `MAX_LINES_PER_OBJECT` is a JSON object (see `areJsonLines`). */
const MAX_LINES_PER_OBJECT = 4;

/** Maximum number of lines that `areJsonLines` checks, because each parse error takes time. */
const MAX_CHECKED_LINES = 400;

/**
 * Reads the records of a file, in groups. The file contains JSON lines, a JSON array, or one JSON value. Yields a
 * record with an `issue` for an invalid line or an invalid file.
 *
 * @param text the text of the file, in chunks of any size
 */
export async function* jsonRecords(text: AsyncIterable<string>): AsyncGenerator<FileRecord[]> {
	/** Lines that wait until the format of the file is known. */
	const held: Line[] = [];
	let length = 0;
	/** Whether the file counts as JSON lines. While false, the file may still be one JSON value. */
	let countsAsJsonLines = false;
	let isFirstLineChecked = false;
	for await (const lines of nonBlankLines(text)) {
		held.push(...lines);
		length += sumBy(lines, 'text.length');
		// If the first of several lines is a whole object, the file cannot be one JSON value. Checked once, to save time.
		if (held.length > 1 && !isFirstLineChecked) {
			isFirstLineChecked = true;
			countsAsJsonLines ||= isObjectLine(held[0]);
		}
		const isTooLong = length > MAX_VALUE_LENGTH;
		if (isTooLong) countsAsJsonLines ||= areJsonLines(held);
		if (countsAsJsonLines) yield held.splice(0).map(parseLine);
		else if (isTooLong) return yield [{ positionText: 'The file', issue: FILE_TOO_LONG_ISSUE }];
	}
	if (held.length > 0) yield* chunk([...recordsInWholeFile(held)], MAX_LINES_IN_GROUP);
}

const FILE_TOO_LONG_ISSUE =
	'is larger than 32 MB, and its lines are no JSON objects. Write it as JSON lines: one object a line';

/**
 * Yields the lines that are not blank, in groups. When a line gets longer than `MAX_VALUE_LENGTH`, reads no more text:
 * yields what was read of this line, and ends.
 */
async function* nonBlankLines(chunks: AsyncIterable<string>): AsyncGenerator<Line[]> {
	const lines: Line[] = [];
	let line: Line = { number: 1, text: '' };
	for await (const piece of chunks) {
		for (const [index, part] of piece.split('\n').entries()) {
			const isNextLine = index > 0;
			if (isNextLine) {
				if (line.text) lines.push(line);
				if (lines.length >= MAX_LINES_IN_GROUP) yield lines.splice(0);
				line = { number: line.number + 1, text: '' };
			}
			// A blank line keeps no text.
			if (line.text || part.trim()) line.text += part;
		}
		yield lines.splice(0);
		if (line.text.length > MAX_VALUE_LENGTH) break;
	}
	if (line.text) yield [line];
}

const LINE_TOO_LONG_ISSUE = 'is longer than 32 MB, so nothing after it was read';

function parseLine({ number, text }: Line): FileRecord {
	const positionText = `Line ${number} of the file`;
	try {
		return { positionText, value: parseExactJson(text) };
	} catch {
		// `nonBlankLines` stops reading in a line that is longer than `MAX_VALUE_LENGTH`.
		const isCut = text.length > MAX_VALUE_LENGTH;
		return { positionText, issue: isCut ? LINE_TOO_LONG_ISSUE : 'is not valid JSON' };
	}
}

/** Whether a line is a complete JSON object. */
const isObjectLine = (line?: Line) =>
	line !== undefined && /^\s*\{/.test(line.text) && 'value' in parseLine(line);

/**
 * Whether a file contains JSON lines, some of which may be invalid. Call it only for a file that is not one JSON value,
 * or too long to be one. Returns false if the file begins with `[`, or if hardly any line is a complete JSON object,
 * because the file may be broken pretty-printed JSON.
 */
function areJsonLines(lines: Line[]): boolean {
	if (lines[0]?.text.trimStart().startsWith('[')) return false;
	const checked = lines.slice(0, MAX_CHECKED_LINES);
	return checked.filter(isObjectLine).length * MAX_LINES_PER_OBJECT >= checked.length;
}

/** Parses a whole file as a JSON array, one JSON value, or JSON lines. Yields one `issue` if no format fits. */
function* recordsInWholeFile(lines: Line[]): Generator<FileRecord> {
	let json: unknown;
	try {
		json = parseExactJson(lines.map(({ text }) => text).join('\n'));
	} catch (error) {
		if (areJsonLines(lines)) return yield* lines.map(parseLine);
		const { message } = error as SyntaxError;
		const issue = `is neither JSON lines nor one JSON array or object (${message})`;
		return yield { positionText: 'The file', issue };
	}
	if (!Array.isArray(json))
		return yield { positionText: `Line ${lines[0]?.number} of the file`, value: json };
	for (const [index, value] of (json as unknown[]).entries())
		yield { positionText: `Record ${index + 1} of the file`, value };
}
