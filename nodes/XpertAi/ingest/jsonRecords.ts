import { exactJson } from '../payloads/common';

/**
 * A record of a file with its position (`Line 3 of the file`), or a `flaw`: why there is no record at this position.
 */
export type FileRecord = { position: string } & ({ flaw: string } | { value: unknown });

interface Line {
	/** Counts from 1. */
	number: number;
	text: string;
}

/** Maximum length, in characters, of a line or a whole file that is parsed at once. */
const MAX_VALUE_LENGTH = 32 * 2 ** 20;

/**
 * A whole file that is not valid JSON may be JSON lines, some of them broken. It counts as JSON lines if at least one
 * in this many of its first `FIRST_LINES` lines is a record, and if it does not begin with `[`.
 */
const LINES_PER_RECORD = 4;
const FIRST_LINES = 400;

/**
 * Reads the records of a file. If the first line is a complete JSON object and another line follows, the file is read
 * line by line (JSON lines): a line that cannot be parsed gives a `flaw`. Any other file is read whole: it may be one
 * JSON value (of an array, each element is a record), or JSON lines of which the first is broken. If it is neither, or
 * larger than 32 MB, it gives one `flaw`. Blank lines are ignored.
 *
 * @param text the text of the file, in chunks of any size
 */
export async function* jsonRecords(text: AsyncIterable<string>): AsyncGenerator<FileRecord> {
	/** Lines that are not parsed yet, because the file is not known to be JSON lines. */
	const held: Line[] = [];
	let [length, areLines] = [0, false];
	for await (const line of nonEmptyLines(text)) {
		held.push(line);
		length += line.text.length;
		areLines ||= held.length === 2 && isRecord(held[0]);
		if (areLines) yield* held.splice(0).map(parseLine);
		else if (length > MAX_VALUE_LENGTH) return yield { position: 'The file', flaw: TOO_LONG };
	}
	if (held.length > 0) yield* recordsInWholeFile(held);
}

const TOO_LONG =
	'is larger than 32 MB, and its first line is no JSON object. Write it as JSON lines: one object a line';

/** The lines that are not blank. If a line exceeds the limit, reading stops there: the last line may be incomplete. */
async function* nonEmptyLines(chunks: AsyncIterable<string>): AsyncGenerator<Line> {
	let number = 1;
	let text = '';
	for await (const chunk of chunks) {
		for (const [index, part] of chunk.split('\n').entries()) {
			if (index > 0) {
				if (text) yield { number, text };
				number += 1;
				text = '';
			}
			if (text || part.trim()) text += part;
		}
		if (text.length > MAX_VALUE_LENGTH) break;
	}
	if (text) yield { number, text };
}

function parseLine({ number, text }: Line): FileRecord {
	const position = `Line ${number} of the file`;
	try {
		return { position, value: exactJson(text) };
	} catch {
		const isCut = text.length > MAX_VALUE_LENGTH;
		return { position, flaw: isCut ? 'is longer than 32 MB' : 'is not valid JSON' };
	}
}

const isRecord = (line?: Line) =>
	line !== undefined && /^\s*\{/.test(line.text) && 'value' in parseLine(line);

/** The records of a file that was read whole: the elements of its array, its single value, its lines, or one `flaw`. */
function* recordsInWholeFile(lines: Line[]): Generator<FileRecord> {
	let value: unknown;
	try {
		value = exactJson(lines.map(({ text }) => text).join('\n'));
	} catch (error) {
		// In JSON that is formatted over many lines, hardly any line is a record by itself. Parse errors are slow, so
		// only the first lines are tried.
		const first = lines.slice(0, FIRST_LINES);
		const records = lines[0]?.text.trimStart().startsWith('[') ? [] : first.filter(isRecord);
		if (records.length * LINES_PER_RECORD >= first.length) return yield* lines.map(parseLine);
		const { message } = error as SyntaxError;
		const flaw = `is neither JSON lines nor one JSON array or object (${message})`;
		return yield { position: 'The file', flaw };
	}
	if (!Array.isArray(value))
		return yield { position: `Line ${lines[0]?.number} of the file`, value };
	for (const [index, one] of (value as unknown[]).entries())
		yield { position: `Record ${index + 1} of the file`, value: one };
}
