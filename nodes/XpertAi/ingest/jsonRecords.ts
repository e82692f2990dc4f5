/** A record of a file, or why a place in it holds none. `line` counts from 1. */
export type FileRecord = { line: number; value: unknown } | { line: number; flaw: string };

/** A piece of JSON text that should be one record. */
interface Piece {
	text: string;
	line: number;
}

/**
 * Reads records out of a stream of JSON, either one record a line (NDJSON) or one array of records,
 * keeping no more than the record at hand. What does not parse is given as a flaw with its line, and
 * reading goes on behind it.
 *
 * @param chunks bytes in UTF-8, cut anywhere
 */
export async function* jsonRecords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<FileRecord> {
	const decoder = new TextDecoder();
	let splitter: Splitter | undefined;
	let head = '';
	for await (const chunk of chunks) {
		const text = decoder.decode(chunk, { stream: true });
		if (!splitter) {
			head += text;
			if (head.trim() === '') continue;
			splitter = splitterFor(head);
			for (const piece of splitter.push(head)) yield* toRecord(piece);
			continue;
		}
		for (const piece of splitter.push(text)) yield* toRecord(piece);
	}
	if (!splitter) return;
	for (const piece of splitter.push(decoder.decode())) yield* toRecord(piece);
	for (const piece of splitter.end()) yield* toRecord(piece);
}

function* toRecord({ text, line }: Piece): Generator<FileRecord> {
	if (text.trim() === '') return;
	let value: unknown;
	let flaw: string | undefined;
	try {
		value = JSON.parse(text);
	} catch {
		flaw = 'is not valid JSON';
	}
	yield flaw === undefined ? { line, value } : { line, flaw };
}

interface Splitter {
	/** Takes more text and gives the pieces that are complete with it. */
	push: (text: string) => Piece[];
	/** Gives what is left when the stream has ended. */
	end: () => Piece[];
}

function splitterFor(head: string): Splitter {
	return head.trimStart().startsWith('[') ? new ArraySplitter() : new LineSplitter();
}

/** One record a line. */
class LineSplitter implements Splitter {
	private rest = '';

	private line = 1;

	push(text: string): Piece[] {
		this.rest += text;
		if (!text.includes('\n')) return [];
		const lines = this.rest.split('\n');
		this.rest = lines.pop() ?? '';
		return lines.map((line) => ({ text: line, line: this.line++ }));
	}

	end(): Piece[] {
		return [{ text: this.rest, line: this.line }];
	}
}

/** The elements of one array, told apart by brackets and commas outside of strings. */
class ArraySplitter implements Splitter {
	private buffer = '';

	private position = 0;

	private start = -1;

	private depth = 0;

	private inString = false;

	private escaped = false;

	private line = 1;

	private startLine = 1;

	/** The last line with something behind the end of the array, which is told once a line. */
	private strayLine = 0;

	push(text: string): Piece[] {
		this.buffer += text;
		const pieces: Piece[] = [];
		while (this.position < this.buffer.length) {
			if (this.inString) this.skipString();
			else this.step(this.buffer.charAt(this.position), pieces);
		}
		this.forgetRead();
		return pieces;
	}

	end(): Piece[] {
		if (this.depth === 0) return [];
		const text = this.start >= 0 ? this.buffer.slice(this.start) : '';
		return [{ text: `${text} (the array is not closed)`, line: this.startLine }];
	}

	private step(char: string, pieces: Piece[]): void {
		if (char === '\n') this.line += 1;
		if (this.depth === 0) {
			this.stepOutside(char, pieces);
			return;
		}
		const opens = char === '{' || char === '[';
		// A brace too many is part of a bad element; only a bracket ends the array.
		const closes = char === ']' || (char === '}' && this.depth > 1);
		if (this.depth === 1 && (char === ',' || char === ']')) this.finish(pieces);
		else if (this.start < 0 && !/\s/.test(char)) {
			this.start = this.position;
			this.startLine = this.line;
		}
		if (char === '"') this.inString = true;
		if (opens) this.depth += 1;
		if (closes) this.depth -= 1;
		this.position += 1;
	}

	/** Before and behind the array there may be blanks, and further arrays. */
	private stepOutside(char: string, pieces: Piece[]): void {
		this.position += 1;
		if (this.strayLine === this.line || /\s/.test(char)) return;
		if (char === '[') {
			this.depth = 1;
			this.startLine = this.line;
			return;
		}
		this.strayLine = this.line;
		pieces.push({ text: `${char} (behind the end of the array)`, line: this.line });
	}

	private finish(pieces: Piece[]): void {
		if (this.start < 0) return;
		pieces.push({ text: this.buffer.slice(this.start, this.position), line: this.startLine });
		this.start = -1;
	}

	/** Goes to the end of the string, or of what has arrived of it. */
	private skipString(): void {
		for (; this.position < this.buffer.length && this.inString; this.position++) {
			const code = this.buffer.charCodeAt(this.position);
			if (code === NEWLINE) this.line += 1;
			if (this.escaped) this.escaped = false;
			else if (code === BACKSLASH) this.escaped = true;
			else if (code === QUOTE) this.inString = false;
		}
	}

	/** Drops what has been read, so that memory does not grow with the file. */
	private forgetRead(): void {
		const keepFrom = this.start >= 0 ? this.start : this.position;
		this.buffer = this.buffer.slice(keepFrom);
		this.position -= keepFrom;
		if (this.start >= 0) this.start = 0;
	}
}

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
