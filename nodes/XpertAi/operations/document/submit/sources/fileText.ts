import { attempt, compact, isError, noop, uniq } from 'lodash';

import { binaryChunks, type BinaryField, throwFileIssue } from '../../../../execution/binary';
import type { Item } from '../../../../execution/item';

/** U+0000. The server's database (PostgreSQL) cannot store this character in a text. */
export const NUL = '\0';

/** A text file with at least one U+0000 per 1,000 characters is rejected, because it is probably not text. */
const MIN_CHARACTERS_PER_NUL = 1000;

/**
 * Whether the first bytes of a file are text without U+0000, in at least one of two encodings: the encoding of the byte
 * order mark (without a mark: UTF-8), and the charset of the MIME type.
 */
export function isTextHead(head: Buffer, mimeType: string): boolean {
	const encodings = uniq([
		encodingByByteOrderMark(head) ?? 'utf-8',
		nonUtf8CharsetIn(mimeType) ?? 'utf-8',
	]);
	return encodings.some((encoding) => {
		const text: unknown = attempt(() =>
			new TextDecoder(encoding, { fatal: true }).decode(head, { stream: true }),
		);
		return typeof text === 'string' && !text.includes(NUL);
	});
}

/** Decodes a file in one encoding, piece by piece. Removes each U+0000. */
export class FileDecoder {
	/** Whether the encoding is known, and all bytes so far are valid in it. */
	isValid: boolean;
	readonly isEncodingKnown: boolean;
	private readonly decoder?: InstanceType<typeof TextDecoder>;
	private bytes = 0;
	private characters = 0;
	private nuls = 0;

	constructor(readonly encoding: string) {
		const decoder = attempt(() => new TextDecoder(encoding, { fatal: true }));
		this.isEncodingKnown = !isError(decoder);
		this.isValid = this.isEncodingKnown;
		if (!isError(decoder)) this.decoder = decoder;
	}

	/**
	 * Decodes the next bytes.
	 *
	 * @param bytes omitted at the end of the file
	 * @returns the text; `''` if bytes are not valid, now or before
	 */
	decode(bytes?: Uint8Array): string {
		if (!this.isValid) return '';
		// Without `stream: true`, some Node.js versions decode windows-1252 as Latin 1.
		const text = attempt(() => this.decoder?.decode(bytes, { stream: bytes !== undefined }) ?? '');
		if (isError(text)) {
			this.isValid = false;
			return '';
		}
		const clean = text.replaceAll(NUL, '');
		this.bytes += bytes?.length ?? 0;
		this.characters += text.length;
		this.nuls += text.length - clean.length;
		return clean;
	}

	get hadNul(): boolean {
		return this.nuls > 0;
	}

	/** For UTF-8 only: whether the file has characters beyond ASCII. UTF-8 stores these in two or more bytes. */
	get isBeyondAscii(): boolean {
		return this.characters < this.bytes;
	}

	/** @throws NodeOperationError if bytes are not valid in this encoding, or the file has too many U+0000 for a text */
	throwIfNotText(item: Item, field: BinaryField): void {
		const hasFewNuls = !this.hadNul || this.nuls * MIN_CHARACTERS_PER_NUL < this.characters;
		if (this.isValid && hasFewNuls) return;
		const issue = `is not text in ${this.encoding.toUpperCase()}. ${ENCODING_ADVICE}`;
		throwFileIssue(item, field, issue);
	}
}

const ENCODING_ADVICE =
	'Save it as UTF-8, or name its encoding in its MIME type (for Files, in Document Settings), as in text/plain; charset=windows-1252';

/** Receives a text, piece by piece. */
interface TextSink {
	add(text: string): void;
}

/** One try to decode a file. */
interface DecodingAttempt<Sink> {
	decoder: FileDecoder;
	sink: Sink;
}

/**
 * Decodes a file in one pass. If only its MIME type names the encoding, tries UTF-8 as well (see `isUtf8`).
 *
 * @param newSink creates the receiver of the text. Each encoding that is tried gets its own.
 * @returns the decoder of the right encoding, and the receiver that has all the text
 * @throws NodeOperationError if the file is not text
 */
export async function decodeInOnePass<Sink extends TextSink>(
	item: Item,
	field: BinaryField,
	{ pieces, mimeType }: { pieces: AsyncIterable<Uint8Array>; mimeType: string },
	newSink: () => Sink,
): Promise<DecodingAttempt<Sink>> {
	const newDecoding = (encoding: string) => ({
		decoder: new FileDecoder(encoding),
		sink: newSink(),
	});
	let decodings: Array<DecodingAttempt<Sink>> = [];
	for await (const piece of withWholeByteOrderMark(pieces)) {
		if (decodings.length === 0) decodings = encodingsToTry(piece, mimeType).map(newDecoding);
		for (const { decoder, sink } of decodings) sink.add(decoder.decode(piece));
		if (decodings.every(({ decoder }) => !decoder.isValid)) break;
	}
	// An empty file has no first piece, and counts as UTF-8. Of two decodings, `first` is in UTF-8, and `named` in the
	// charset of the MIME type.
	const [first = newDecoding('utf-8'), named] = decodings;
	for (const { decoder, sink } of compact([first, named])) sink.add(decoder.decode());
	const right = named && !isUtf8(first.decoder, named.decoder) ? named : first;
	right.decoder.throwIfNotText(item, field);
	return right;
}

/** A byte order mark is reliable. A charset of a MIME type is often wrong, so UTF-8 comes first. */
function encodingsToTry(head: Uint8Array, mimeType: string): string[] {
	const marked = encodingByByteOrderMark(head);
	return marked === undefined ? compact(['utf-8', nonUtf8CharsetIn(mimeType)]) : [marked];
}

/**
 * Whether a file is in UTF-8 although its MIME type names another charset. Some sources only guess the charset. True if
 * all bytes are valid UTF-8, and not only ASCII. If the charset is unknown, ASCII is enough. Texts in other encodings
 * are hardly ever valid UTF-8.
 */
const isUtf8 = (utf8: FileDecoder, named: FileDecoder) =>
	utf8.isValid && (utf8.isBeyondAscii || !named.isEncodingKnown);

/**
 * Yields the text of a binary field in chunks. Removes each U+0000 from the text.
 *
 * @param encoding the encoding of the file, from `decodeInOnePass`. Default: by its byte order mark, or else UTF-8
 * @throws NodeOperationError if the file is not valid text or cannot be read
 */
export async function* decodedChunks(
	item: Item,
	field: BinaryField,
	encoding?: string,
): AsyncGenerator<string> {
	let decoder = encoding === undefined ? undefined : new FileDecoder(encoding);
	try {
		for await (const piece of withWholeByteOrderMark(binaryChunks(item, field))) {
			decoder ??= new FileDecoder(encodingByByteOrderMark(piece) ?? 'utf-8');
			yield decoder.decode(piece);
			if (!decoder.isValid) break;
		}
	} catch (error) {
		throw item.asError(error);
	}
	yield decoder?.decode() ?? '';
	decoder?.throwIfNotText(item, field);
}

/**
 * Like `decodedChunks` without an encoding, but also considers the charset of the MIME type. If the MIME type names a
 * charset other than UTF-8, reads the file twice: first to find the encoding, then to yield the text.
 */
export async function* textChunks(item: Item, field: BinaryField): AsyncGenerator<string> {
	const { mimeType } = field.binary;
	let encoding: string | undefined;
	if (nonUtf8CharsetIn(mimeType) !== undefined) {
		const pieces = binaryChunks(item, field);
		const read = await decodeInOnePass(item, field, { pieces, mimeType }, () => ({ add: noop }));
		({ encoding } = read.decoder);
	}
	yield* decodedChunks(item, field, encoding);
}

/** Length of the longest byte order mark that `encodingByByteOrderMark` recognizes, in bytes. */
const BYTE_ORDER_MARK_LENGTH = 3;

/** Yields the pieces of a file. Joins the first pieces until they are long enough for a byte order mark. */
async function* withWholeByteOrderMark(
	pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
	let head: Buffer | undefined = Buffer.alloc(0);
	for await (const piece of pieces) {
		if (head) head = Buffer.concat([head, piece]);
		if (head && head.length < BYTE_ORDER_MARK_LENGTH) continue;
		yield head ?? piece;
		head = undefined;
	}
	if (head && head.length > 0) yield head;
}

/** The encoding by the byte order mark of a file; undefined if the file has none. */
function encodingByByteOrderMark(head: Uint8Array): string | undefined {
	const mark = Buffer.from(head.subarray(0, BYTE_ORDER_MARK_LENGTH)).toString('latin1');
	if (mark === '\xef\xbb\xbf') return 'utf-8';
	if (mark.startsWith('\xff\xfe')) return 'utf-16le';
	return mark.startsWith('\xfe\xff') ? 'utf-16be' : undefined;
}

/** The charset that a MIME type names; undefined if it names none, or UTF-8. */
function nonUtf8CharsetIn(mimeType: string): string | undefined {
	const [, charset = 'utf-8'] = /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(mimeType) ?? [];
	return /^utf-?8$/i.test(charset) ? undefined : charset;
}
