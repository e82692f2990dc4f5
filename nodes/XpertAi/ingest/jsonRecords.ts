/** A record of a file, or why a place in it holds none. `line` counts from 1. */
export type FileRecord = { line: number; value: unknown } | { line: number; flaw: string };

/** A piece of the file that should be one record, a character for each of its bytes, or why it is none. */
type Piece = { line: number; bytes: string } | { line: number; flaw: string };

/** What tells records apart is ASCII, so that only whole records need be decoded. */
const ONE_PER_BYTE = 'latin1';

const utf8 = new TextDecoder('utf-8', { fatal: true });

const BYTE_ORDER_MARK = '\xef\xbb\xbf';

/**
 * Reads records out of a stream of JSON, either one record a line (NDJSON) or one array of records,
 * keeping no more than the record at hand. What does not parse is given as a flaw with its line, and
 * reading goes on behind it.
 *
 * @param chunks bytes in UTF-8, cut anywhere
 */
export async function* jsonRecords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<FileRecord> {
	let splitter: Splitter | undefined;
	let head = '';
	for await (const chunk of chunks) {
		const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
		const text = bytes.toString(ONE_PER_BYTE);
		if (splitter) {
			for (const piece of splitter.push(text)) yield* toRecord(piece);
			continue;
		}
		head += text;
		if (BYTE_ORDER_MARK.startsWith(head)) continue;
		if (head.startsWith(BYTE_ORDER_MARK)) head = head.slice(BYTE_ORDER_MARK.length);
		if (head.trim() === '') continue;
		splitter = splitterFor(head);
		for (const piece of splitter.push(head)) yield* toRecord(piece);
	}
	if (splitter) for (const piece of splitter.end()) yield* toRecord(piece);
}

function* toRecord(piece: Piece): Generator<FileRecord> {
	if ('flaw' in piece) {
		yield piece;
		return;
	}
	const { bytes, line } = piece;
	const text = decoded(bytes);
	if (text === undefined)
		yield { line, flaw: 'holds bytes that are not UTF-8; save the file in that encoding' };
	else if (text.trim() !== '') yield parsed(text, line);
}

/** The text of a piece; other encodings would be stored with the wrong letters if they were guessed at. */
function decoded(bytes: string): string | undefined {
	try {
		return utf8.decode(Buffer.from(bytes, ONE_PER_BYTE));
	} catch {
		return undefined;
	}
}

function parsed(text: string, line: number): FileRecord {
	try {
		return { line, value: JSON.parse(text) as unknown };
	} catch {
		return { line, flaw: 'is not valid JSON' };
	}
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
		return lines.map((bytes) => ({ bytes, line: this.line++ }));
	}

	end(): Piece[] {
		return [{ bytes: this.rest, line: this.line }];
	}
}

/** The elements of one array, told apart by brackets and commas outside of strings. */
class ArraySplitter implements Splitter {
	private buffer = '';

	/** Where in the buffer reading stands. */
	private position = 0;

	/** Where in the buffer the element at hand starts, if one has. */
	private start = -1;

	/** What of the element at hand came before the buffer. */
	private earlier: string[] = [];

	private depth = 0;

	private inString = false;

	private escaped = false;

	private line = 1;

	private startLine = 1;

	/** The last line with something behind the end of the array, which is told once a line. */
	private strayLine = 0;

	push(text: string): Piece[] {
		this.buffer = text;
		this.position = 0;
		const pieces: Piece[] = [];
		while (this.position < this.buffer.length) {
			if (this.inString) this.skipString();
			else this.step(this.buffer.charAt(this.position), pieces);
		}
		if (this.start >= 0) {
			this.earlier.push(this.buffer.slice(this.start));
			this.start = 0;
		}
		return pieces;
	}

	end(): Piece[] {
		if (this.depth === 0) return [];
		return [{ line: this.startLine, flaw: 'ends before its array is closed' }];
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
		pieces.push({ line: this.line, flaw: 'stands behind the end of the array' });
	}

	private finish(pieces: Piece[]): void {
		if (this.start < 0) return;
		const bytes = this.earlier.join('') + this.buffer.slice(this.start, this.position);
		pieces.push({ bytes, line: this.startLine });
		this.earlier = [];
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
}

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
