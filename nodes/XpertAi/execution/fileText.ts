import { attempt, compact, isError, noop, uniq } from 'lodash';

import { binaryChunks, type BinaryField, throwFileIssue } from './binary';
import type { Item } from './item';

/** U+0000. The server's database (PostgreSQL) cannot store this character in a text. */
export const NUL = '\0';

/** A file with at least one U+0000 per 1,000 characters is treated as binary, not as text. */
const CHARACTERS_PER_NUL = 1000;

/** Whether the first bytes of a file are text without U+0000, in UTF-8 or in the encoding that the file names. */
export function isTextHead(head: Buffer, mimeType: string): boolean {
	const encodings = uniq([markedEncoding(head) ?? 'utf-8', charsetOf(mimeType) ?? 'utf-8']);
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
	readonly isKnown: boolean;
	private readonly decoder?: InstanceType<typeof TextDecoder>;
	private bytes = 0;
	private characters = 0;
	private nuls = 0;

	constructor(readonly encoding: string) {
		const decoder = attempt(() => new TextDecoder(encoding, { fatal: true }));
		this.isKnown = !isError(decoder);
		this.isValid = this.isKnown;
		if (!isError(decoder)) this.decoder = decoder;
	}

	/** @param bytes unset at the end of the file */
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

	/** Whether the file has more than ASCII, if its encoding is UTF-8: each other character has more bytes there. */
	get isBeyondAscii(): boolean {
		return this.characters < this.bytes;
	}

	/** @throws NodeOperationError if what was decoded is no text */
	checkText(item: Item, field: BinaryField): void {
		const isText = !this.hadNul || this.nuls * CHARACTERS_PER_NUL < this.characters;
		if (!this.isValid || !isText)
			throwFileIssue(
				item,
				field,
				`is not text in ${this.encoding.toUpperCase()}. ${ENCODING_ADVICE}`,
			);
	}
}

const ENCODING_ADVICE =
	'Save it as UTF-8, or name its encoding in its MIME type, as in text/plain; charset=windows-1252';

/** What takes a text, piece by piece. */
interface TextTaker {
	add(text: string): void;
}

/**
 * Decodes a file in one pass. If its MIME type names a charset, tries UTF-8 as well: see `isUtf8`.
 *
 * @param newTaker makes what takes the text. It is called for each encoding that is tried.
 * @returns the decoder of the encoding that the file has, and what has taken its text
 * @throws NodeOperationError if the file is not text
 */
export async function decodeOnce<Taker extends TextTaker>(
	item: Item,
	field: BinaryField,
	{ pieces, mimeType }: { pieces: AsyncIterable<Uint8Array>; mimeType: string },
	newTaker: () => Taker,
): Promise<{ decoder: FileDecoder; taker: Taker }> {
	const newWay = (encoding: string) => ({ decoder: new FileDecoder(encoding), taker: newTaker() });
	let [way, named]: Array<ReturnType<typeof newWay>> = [];
	for await (const piece of withMark(pieces)) {
		if (!way) {
			const marked = markedEncoding(piece);
			const charset = marked ? undefined : charsetOf(mimeType);
			way = newWay(marked ?? 'utf-8');
			named = charset === undefined ? undefined : newWay(charset);
		}
		for (const { decoder, taker } of compact([way, named])) taker.add(decoder.decode(piece));
		if (!way.decoder.isValid && !named?.decoder.isValid) break;
	}
	way ??= newWay('utf-8');
	for (const { decoder, taker } of compact([way, named])) taker.add(decoder.decode());
	if (named && !isUtf8(way.decoder, named.decoder)) way = named;
	way.decoder.checkText(item, field);
	return way;
}

/**
 * Whether a file is in UTF-8 although its MIME type names another charset, as sources often do that guess it or give
 * none. True if all bytes are valid UTF-8, and not only ASCII. If the charset is unknown, ASCII is enough. Texts in
 * other encodings are hardly ever valid UTF-8.
 */
const isUtf8 = (utf8: FileDecoder, named: FileDecoder) =>
	utf8.isValid && (utf8.isBeyondAscii || !named.isKnown);

/**
 * Yields the text of a binary field in chunks. Removes each U+0000 from the text.
 *
 * @param encoding the encoding of the file, from `decodeOnce`
 * @throws NodeOperationError if the file is not valid text or cannot be read
 */
export async function* decodedChunks(
	item: Item,
	field: BinaryField,
	encoding?: string,
): AsyncGenerator<string> {
	let decoder = encoding === undefined ? undefined : new FileDecoder(encoding);
	try {
		for await (const piece of withMark(binaryChunks(item, field))) {
			decoder ??= new FileDecoder(markedEncoding(piece) ?? 'utf-8');
			yield decoder.decode(piece);
			if (!decoder.isValid) break;
		}
	} catch (error) {
		throw item.asError(error);
	}
	yield decoder?.decode() ?? '';
	decoder?.checkText(item, field);
}

/** Like `decodedChunks`. If the MIME type names a charset, the file is read twice, as the text has to come in order. */
export async function* textChunks(item: Item, field: BinaryField): AsyncGenerator<string> {
	const { mimeType } = field.binary;
	let encoding: string | undefined;
	if (charsetOf(mimeType) !== undefined) {
		const pieces = binaryChunks(item, field);
		const read = await decodeOnce(item, field, { pieces, mimeType }, () => ({ add: noop }));
		({ encoding } = read.decoder);
	}
	yield* decodedChunks(item, field, encoding);
}

/** Length of the longest byte order mark, in bytes. */
const MARK_BYTES = 3;

/** Yields the pieces of a file. The first one is long enough for a byte order mark, if the file is. */
async function* withMark(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
	let head: Buffer | undefined = Buffer.alloc(0);
	for await (const piece of pieces) {
		if (head) head = Buffer.concat([head, piece]);
		if (head && head.length < MARK_BYTES) continue;
		yield head ?? piece;
		head = undefined;
	}
	if (head && head.length > 0) yield head;
}

/** The encoding that the byte order mark of a file shows, if it has one. */
function markedEncoding(head: Uint8Array): string | undefined {
	const mark = Buffer.from(head.subarray(0, MARK_BYTES)).toString('latin1');
	if (mark === '\xef\xbb\xbf') return 'utf-8';
	if (mark.startsWith('\xff\xfe')) return 'utf-16le';
	return mark.startsWith('\xfe\xff') ? 'utf-16be' : undefined;
}

/** The charset in a MIME type, if it names another one than UTF-8. */
function charsetOf(mimeType: string): string | undefined {
	const [, charset = 'utf-8'] = /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(mimeType) ?? [];
	return /^utf-?8$/i.test(charset) ? undefined : charset;
}
