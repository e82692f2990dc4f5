import { chunk, sumBy } from 'lodash';

import { exactJson } from '../payloads/json';

/**
 * A record in a file.
 * `position`: the place of the record, e.g. `Line 3 of the file`.
 * `issue`: why the record is invalid.
 */
export type FileRecord = { position: string } & ({ issue: string } | { value: unknown });

interface Line {
	/** Counts from 1. */
	number: number;
	text: string;
}

/** Maximum number of lines or records in one group. */
const MAX_LINES_IN_GROUP = 100;

/** Maximum number of characters to parse as one JSON text. The JSON text is a line or a whole file. */
const MAX_VALUE_LENGTH = 32 * 2 ** 20;

/**
 * A file that is not one JSON value, or too long to be one, counts as JSON lines only if at least one line in
 * `LINES_PER_RECORD` is a JSON object. Only the first `FIRST_LINES` lines are checked. A file that begins with `[` does
 * not count as JSON lines.
 */
const LINES_PER_RECORD = 4;
const FIRST_LINES = 400;

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
	let areLines: boolean | undefined;
	for await (const lines of nonBlankLines(text)) {
		held.push(...lines);
		length += sumBy(lines, 'text.length');
		if (held.length > 1) areLines ??= isRecord(held[0]);
		if (length > MAX_VALUE_LENGTH) areLines ||= areJsonLines(held);
		if (areLines) yield held.splice(0).map(parseLine);
		else if (length > MAX_VALUE_LENGTH)
			return yield [{ position: 'The file', issue: LINE_TOO_LONG }];
	}
	if (held.length > 0) yield* chunk([...recordsInWholeFile(held)], MAX_LINES_IN_GROUP);
}

const LINE_TOO_LONG =
	'is larger than 32 MB, and its lines are no JSON objects. Write it as JSON lines: one object a line';

/** Yields the lines that are not blank, in groups. Cuts a line that is too long, and ends after this line. */
async function* nonBlankLines(chunks: AsyncIterable<string>): AsyncGenerator<Line[]> {
	let [number, text] = [1, ''];
	const lines: Line[] = [];
	for await (const piece of chunks) {
		for (const [index, part] of piece.split('\n').entries()) {
			if (index > 0) {
				if (text) lines.push({ number, text });
				if (lines.length >= MAX_LINES_IN_GROUP) yield lines.splice(0);
				number += 1;
				text = '';
			}
			if (text || part.trim()) text += part;
		}
		yield lines.splice(0);
		if (text.length > MAX_VALUE_LENGTH) break;
	}
	if (text) yield [{ number, text }];
}

const LONG_LINE = 'is longer than 32 MB, so nothing after it was read';

function parseLine({ number, text }: Line): FileRecord {
	const position = `Line ${number} of the file`;
	try {
		return { position, value: exactJson(text) };
	} catch {
		// Reading ends at such a line.
		const isCut = text.length > MAX_VALUE_LENGTH;
		return { position, issue: isCut ? LONG_LINE : 'is not valid JSON' };
	}
}

const isRecord = (line?: Line) =>
	line !== undefined && /^\s*\{/.test(line.text) && 'value' in parseLine(line);

/**
 * Whether the first lines of a file show JSON lines, of which some may be invalid. If hardly any line is a complete
 * JSON object, the file may be pretty-printed JSON. Checks only the first lines, because each parse error takes time.
 */
function areJsonLines(lines: Line[]): boolean {
	if (lines[0]?.text.trimStart().startsWith('[')) return false;
	const first = lines.slice(0, FIRST_LINES);
	return first.filter(isRecord).length * LINES_PER_RECORD >= first.length;
}

/** Parses a whole file as a JSON array, one JSON value, or JSON lines. Yields one `issue` if no format fits. */
function* recordsInWholeFile(lines: Line[]): Generator<FileRecord> {
	let json: unknown;
	try {
		json = exactJson(lines.map(({ text }) => text).join('\n'));
	} catch (error) {
		if (areJsonLines(lines)) return yield* lines.map(parseLine);
		const { message } = error as SyntaxError;
		const issue = `is neither JSON lines nor one JSON array or object (${message})`;
		return yield { position: 'The file', issue };
	}
	if (!Array.isArray(json))
		return yield { position: `Line ${lines[0]?.number} of the file`, value: json };
	for (const [index, value] of (json as unknown[]).entries())
		yield { position: `Record ${index + 1} of the file`, value };
}
