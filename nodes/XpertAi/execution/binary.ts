import { attempt, get, isError, uniq } from 'lodash';
import type { IBinaryData } from 'n8n-workflow';

import type { UploadFile } from '../transport/multipart';
import { namesValue } from './fieldSchemas';
import { quoted } from './issueText';
import type { Item } from './item';

export const MIME_TYPES: Record<string, string> = {
	csv: 'text/csv',
	docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
	epub: 'application/epub+zip',
	htm: 'text/html',
	html: 'text/html',
	json: 'application/json',
	markdown: 'text/markdown',
	md: 'text/markdown',
	pdf: 'application/pdf',
	pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
	tsv: 'text/tab-separated-values',
	txt: 'text/plain',
	xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
	xml: 'application/xml',
};

const PICTURES = ['gif', 'jpeg', 'png', 'webp'];

export const UNKNOWN_TYPE = 'application/octet-stream';

/** The lower-case extension of a file name; undefined if `MIME_TYPES` does not contain the extension. */
export function documentExtension(name: string): string | undefined {
	const extension = extensionOf(name);
	return Object.hasOwn(MIME_TYPES, extension) ? extension : undefined;
}

/** Derives the MIME type from a file name. Used for files without a MIME type, e.g. from a Code node. */
function mimeTypeOf(name = ''): string {
	const extension = extensionOf(name).replace('jpg', 'jpeg');
	if (PICTURES.includes(extension)) return `image/${extension}`;
	// Missing in `MIME_TYPES`, because Submit detects the format of old Office files from their content.
	if (extension === 'xls') return 'application/vnd.ms-excel';
	return MIME_TYPES[documentExtension(name) ?? ''] ?? UNKNOWN_TYPE;
}

const extensionOf = (name: string) => /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';

/** A binary field of an input item. `property` is the name of the field. */
export interface BinaryField {
	property: string;
	binary: IBinaryData;
	/** Display name of the parameter that selects the field. */
	parameter: string;
}

/** The binary field that the parameter `binaryPropertyName` selects. */
export const binaryOf = (item: Item): BinaryField =>
	binaryNamed(item, FILE, item.text(FILE, 'data').trim());

const FILE = 'binaryPropertyName';

/**
 * The binary fields that a parameter selects. The parameter is a list of names or a comma-separated text. Repeated
 * names count once.
 */
export const binariesOf = (item: Item, name: string): BinaryField[] =>
	uniq(item.setting<string[]>(name, namesValue)).map((one) => binaryNamed(item, name, one));

function binaryNamed(item: Item, name: string, property: string): BinaryField {
	const fields = item.input.binary ?? {};
	const binary = Object.hasOwn(fields, property) ? fields[property] : undefined;
	if (binary) {
		const mimeType = binary.mimeType || mimeTypeOf(binary.fileName);
		return { property, binary: { ...binary, mimeType }, parameter: item.labelOf(name) };
	}
	const found = Object.keys(fields).join(', ');
	const available = found ? `has only ${found}` : 'has no binary field';
	return item.refuseField(name, `names ${quoted(property)}, but the item ${available}`);
}

/** Yields the bytes of a binary field. */
async function* binaryChunks(item: Item, field: BinaryField): AsyncGenerator<Uint8Array> {
	const { helpers } = item.context;
	const { id } = field.binary;
	const read = async () =>
		id === undefined
			? [await helpers.getBinaryDataBuffer(item.index, field.property)]
			: await helpers.getBinaryStream(id);
	for await (const chunk of await readStored(item, field, read)) yield chunk as Buffer;
}

/** The first 1,024 bytes of a binary field; fewer if the file is shorter. */
export async function firstBytes(item: Item, field: BinaryField): Promise<Buffer> {
	let head = Buffer.alloc(0);
	for await (const chunk of binaryChunks(item, field)) {
		head = Buffer.concat([head, chunk]);
		if (head.length >= HEAD_BYTES) break;
	}
	return head.subarray(0, HEAD_BYTES);
}

const HEAD_BYTES = 1024;

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

/** U+0000. The server's database (PostgreSQL) cannot store this character in a text. */
export const NUL = '\0';

/** A file with at least one U+0000 per 1,000 characters is treated as binary, not as text. */
const CHARACTERS_PER_NUL = 1000;

/**
 * Yields the text of a binary field in chunks. Removes each U+0000 from the text.
 *
 * @param onNul called after the last chunk if the text contained U+0000
 * @throws NodeOperationError if the file is not valid text or cannot be read
 */
export async function* textChunks(
	item: Item,
	field: BinaryField,
	mimeType = field.binary.mimeType,
	onNul?: () => void,
): AsyncGenerator<string> {
	let [head, isText, characters, nuls] = [Buffer.alloc(0), false, 0, 0];
	const charset = charsetOf(mimeType);
	const isNamed = charset !== undefined && !(await isUtf8(item, field, charset));
	let encoding = isNamed ? charset : 'utf-8';
	let decoder: InstanceType<typeof TextDecoder> | undefined;
	const decoded = (bytes?: Uint8Array) => {
		if (!decoder) encoding = markedEncoding(head) ?? encoding;
		decoder ??= new TextDecoder(encoding, { fatal: true });
		// Without `stream: true`, some Node.js versions decode windows-1252 as Latin 1.
		const text = decoder.decode(bytes, { stream: bytes !== undefined });
		const clean = text.replaceAll(NUL, '');
		characters += text.length;
		nuls += text.length - clean.length;
		return clean;
	};
	try {
		for await (const chunk of binaryChunks(item, field)) {
			head = Buffer.concat([head, chunk]);
			if (!decoder && head.length < MARK_BYTES) continue;
			yield decoded(head);
			head = Buffer.alloc(0);
		}
		yield decoded(head) + decoded();
		isText = nuls === 0 || nuls * CHARACTERS_PER_NUL < characters;
	} catch (error) {
		if (!isEncodingError(error)) throw item.asError(error);
	}
	if (!isText) refuseFile(item, field, `is not text in ${encoding.toUpperCase()}. ${ENCODING_FIX}`);
	if (nuls > 0) onNul?.();
}

/** Length of the longest byte order mark, in bytes. */
const MARK_BYTES = 3;

const ENCODING_FIX =
	'Save it as UTF-8, or name its encoding in its MIME type, as in text/plain; charset=windows-1252';

/** The encoding that the byte order mark of a file shows, if it has one. */
function markedEncoding(head: Buffer): string | undefined {
	const mark = head.toString('latin1', 0, MARK_BYTES);
	if (mark === '\xef\xbb\xbf') return 'utf-8';
	if (mark.startsWith('\xff\xfe')) return 'utf-16le';
	return mark.startsWith('\xfe\xff') ? 'utf-16be' : undefined;
}

/** The charset in a MIME type, if it names another one than UTF-8. */
function charsetOf(mimeType: string): string | undefined {
	const [, charset = 'utf-8'] = /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(mimeType) ?? [];
	return /^utf-?8$/i.test(charset) ? undefined : charset;
}

/**
 * Whether a file is in UTF-8 although its MIME type names another charset, as sources often do that guess it or give
 * none. True if all bytes are valid UTF-8, and not only ASCII. If the charset is unknown, ASCII is enough. Texts in
 * other encodings are hardly ever valid UTF-8, so reading mostly ends at the first character beyond ASCII.
 */
async function isUtf8(item: Item, field: BinaryField, charset: string): Promise<boolean> {
	const decoder = new TextDecoder('utf-8', { fatal: true });
	let [bytes, characters] = [0, 0];
	try {
		for await (const chunk of binaryChunks(item, field)) {
			bytes += chunk.length;
			characters += decoder.decode(chunk, { stream: true }).length;
		}
		characters += decoder.decode().length;
	} catch (error) {
		if (!isEncodingError(error)) throw item.asError(error);
		return false;
	}
	// Every character beyond ASCII has more bytes in UTF-8 than in UTF-16 code units.
	return characters < bytes || isError(attempt(() => new TextDecoder(charset)));
}

const isEncodingError = (error: unknown) => /^ERR_ENCODING/.test(String(get(error, 'code')));

/**
 * Returns the file of a binary field for an upload. A file in n8n's binary data storage is streamed.
 *
 * @throws NodeOperationError if the file cannot be read, e.g. because n8n has deleted it
 */
export async function readUploadFile(item: Item, field: BinaryField): Promise<UploadFile> {
	const { helpers } = item.context;
	const { fileName, mimeType, id } = field.binary;
	const read = async () =>
		id === undefined
			? await helpers.getBinaryDataBuffer(item.index, field.property)
			: {
					size: (await helpers.getBinaryMetadata(id)).fileSize,
					open: () => binaryChunks(item, field),
				};
	return {
		name: fileName || field.property,
		mimeType,
		content: await readStored(item, field, read),
	};
}

/** Reads a file. Fails, for example, if pinned data refers to a file that n8n has deleted. */
async function readStored<Result>(
	item: Item,
	field: BinaryField,
	get: () => Promise<Result>,
): Promise<Result> {
	try {
		return await get();
	} catch (error) {
		const why = error instanceof Error ? error.message : String(error);
		const flaw = `is no longer in n8n (${why}). Run the node that made it again`;
		return refuseFile(item, field, flaw);
	}
}

/**
 * Throws the error for a file that cannot be sent.
 *
 * @param flaw the problem, as the end of a sentence, e.g. `is empty`
 */
export function refuseFile(
	item: Item,
	{ property, parameter, binary: { fileName } }: BinaryField,
	flaw: string,
): never {
	const file = fileName ? `file ${quoted(fileName)}` : 'file';
	const rule = `names ${quoted(property)}, whose ${file} ${flaw}`;
	return item.refuse({ field: `"${parameter}"`, rule, fix: 'Correct the file, or leave it out.' });
}
