import { exactJson } from '../payloads/common';

/**
 * A record of a file, or why a position in it (`Line 3 of the file`) holds none. `isWholeFile`: the file is one JSON
 * value and this is it.
 */
export type FileRecord = { position: string } & (
	| { flaw: string }
	| { value: unknown; isWholeFile?: boolean }
);

interface Line {
	/** Counts from 1. */
	number: number;
	text: string;
}

/** Characters of the longest JSON value that is parsed. */
const MAX_VALUE_LENGTH = 32 * 2 ** 20;

/** A file counts as JSON lines if at least one in so many of its first lines is a record. */
const LINES_PER_RECORD = 4;
const FIRST_LINES = 400;

/**
 * Reads the records of a file. JSON lines are read as a stream; a line that does not parse comes out as a flaw. One
 * JSON array or object is read whole. A file of any other kind is one flaw.
 *
 * @param text the text of the file, in chunks of any size
 */
export async function* jsonRecords(text: AsyncIterable<string>): AsyncGenerator<FileRecord> {
	const lines = nonEmptyLines(text);
	/** The first lines, held until it is clear whether each line is a record. */
	const head: Line[] = [];
	let length = 0;
	for await (const line of lines) {
		head.push(line);
		length += line.text.length;
		const isTooLong = length > MAX_VALUE_LENGTH;
		if (isTooLong ? areJsonLines(head) : head.length === 2 && isRecord(head[0])) {
			yield* head.splice(0).map(parseLine);
			for await (const further of lines) yield parseLine(further);
			return;
		}
		if (isTooLong) return yield { position: 'The file', flaw: TOO_LONG };
	}
	if (head.length > 0) yield* recordsInWholeFile(head);
}

const TOO_LONG =
	'is one JSON value of more than 32 MB. Write it as JSON lines: one object a line, without brackets and commas around them';

/** The lines that are not blank. The last one may be incomplete, if it exceeds the limit. */
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

function isRecord(line: Line | undefined): boolean {
	return line !== undefined && /^\s*\{/.test(line.text) && 'value' in parseLine(line);
}

/** Whether each line is a record, though some may be broken. The lines of a formatted array or object seldom are. */
function areJsonLines(lines: Line[]): boolean {
	if (lines[0]?.text.trimStart().startsWith('[')) return false;
	// The error of each line that does not parse takes its time.
	const first = lines.slice(0, FIRST_LINES);
	return first.filter(isRecord).length * LINES_PER_RECORD >= first.length;
}

/** The records of a file that was read whole: the elements of its array, its one object, or its lines. */
function* recordsInWholeFile(lines: Line[]): Generator<FileRecord> {
	let value: unknown;
	try {
		value = exactJson(lines.map(({ text }) => text).join('\n'));
	} catch (error) {
		if (areJsonLines(lines)) return yield* lines.map(parseLine);
		const { message } = error as SyntaxError;
		const flaw = `is neither JSON lines nor one JSON array or object (${message})`;
		return yield { position: 'The file', flaw };
	}
	if (!Array.isArray(value))
		return yield { position: `Line ${lines[0]?.number} of the file`, value, isWholeFile: true };
	for (const [index, one] of (value as unknown[]).entries())
		yield { position: `Record ${index + 1} of the file`, value: one };
}
