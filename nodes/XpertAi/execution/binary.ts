import type { UploadFile } from '../transport/multipart';
import { quoted } from './inputIssues';
import type { BinaryField, Item } from './item';

/** The bytes of a binary field: in chunks if n8n stores it on disk, in one piece if in memory. */
export async function* binaryChunks(item: Item, field: BinaryField): AsyncGenerator<Uint8Array> {
	const { helpers } = item.context;
	const { id } = field.binary;
	if (id === undefined) {
		yield await helpers.getBinaryDataBuffer(item.index, field.property);
		return;
	}
	const stream = await readStored(item, field, async () => await helpers.getBinaryStream(id));
	for await (const chunk of stream) yield chunk as Buffer;
}

/** The first 1,024 bytes of a binary field. */
export async function firstBytes(item: Item, field: BinaryField): Promise<Buffer> {
	let head = Buffer.alloc(0);
	for await (const chunk of binaryChunks(item, field)) {
		head = Buffer.concat([head, chunk]);
		if (head.length >= HEAD_BYTES) break;
	}
	return head.subarray(0, HEAD_BYTES);
}

const HEAD_BYTES = 1024;

/** Whether the first bytes of a file are text in the encoding that `textChunks` reads. */
export function isTextHead(head: Buffer, mimeType: string): boolean {
	try {
		const decoder = new TextDecoder(encodingOf(head, mimeType), { fatal: true });
		return !decoder.decode(head, { stream: true }).includes(NUL);
	} catch {
		return false;
	}
}

/** U+0000, which databases cannot store. */
export const NUL = '\0';

/** A text has fewer U+0000 than one in this many characters; UTF-16 without a byte order mark is full of them. */
const CHARACTERS_PER_NUL = 1000;

/**
 * The text of a binary field in chunks, without U+0000. The encoding is that of its byte order mark, of its MIME type,
 * or UTF-8.
 *
 * @param onNul called where U+0000 is left out
 * @throws NodeOperationError if the file is not text in that encoding
 */
export async function* textChunks(
	item: Item,
	field: BinaryField,
	mimeType = field.binary.mimeType,
	onNul?: () => void,
): AsyncGenerator<string> {
	let head = Buffer.alloc(0);
	let encoding = '';
	let characters = 0;
	let nuls = 0;
	let decoder: InstanceType<typeof TextDecoder> | undefined;
	const decoded = (bytes?: Uint8Array) => {
		try {
			encoding ||= encodingOf(head, mimeType);
			decoder ??= new TextDecoder(encoding, { fatal: true });
			// Without streaming, some versions of Node.js decode windows-1252 as Latin 1.
			const decodedText = decoder.decode(bytes, { stream: bytes !== undefined });
			const text = decodedText.replaceAll(NUL, '');
			characters += decodedText.length;
			nuls += decodedText.length - text.length;
			if (bytes !== undefined || nuls * CHARACTERS_PER_NUL < (characters || 1)) return text;
		} catch {
			// Reported below.
		}
		return refuseFile(item, field, `is not text in ${encoding.toUpperCase()}. ${ENCODING_FIX}`);
	};
	for await (const chunk of binaryChunks(item, field)) {
		head = Buffer.concat([head, chunk]);
		if (!decoder && head.length < MAX_BOM_BYTES) continue;
		yield decoded(head);
		head = Buffer.alloc(0);
	}
	yield decoded(head) + decoded();
	if (nuls > 0) onNul?.();
}

const MAX_BOM_BYTES = 3;

const ENCODING_FIX =
	'Save it as UTF-8, or name its encoding in its MIME type, as in text/plain; charset=windows-1252';

function encodingOf(head: Buffer, mimeType: string): string {
	const mark = head.toString('latin1', 0, MAX_BOM_BYTES);
	if (mark === '\xef\xbb\xbf') return 'utf-8';
	if (mark.startsWith('\xff\xfe')) return 'utf-16le';
	if (mark.startsWith('\xfe\xff')) return 'utf-16be';
	return /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(mimeType)?.[1] ?? 'utf-8';
}

/**
 * The file of a binary field for an upload: streamed from n8n's disk, or sent from memory.
 *
 * @throws NodeOperationError if n8n no longer has the file
 */
export async function readUploadFile(item: Item, field: BinaryField): Promise<UploadFile> {
	const { helpers } = item.context;
	const { property, binary } = field;
	const { fileName, mimeType, id } = binary;
	const name = fileName || property;
	const content = await readStored(item, field, async () =>
		id === undefined
			? await helpers.getBinaryDataBuffer(item.index, property)
			: {
					size: (await helpers.getBinaryMetadata(id)).fileSize,
					open: () => binaryChunks(item, field),
				},
	);
	return { name, mimeType, content };
}

/** Reads a file that n8n stores. n8n deletes the files of old executions, even of pinned data. */
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

/** Throws: a file cannot be sent. */
export function refuseFile(
	item: Item,
	{ property, parameter, binary: { fileName } }: BinaryField,
	flaw: string,
): never {
	const file = fileName ? `file ${quoted(fileName)}` : 'file';
	const rule = `names ${quoted(property)}, whose ${file} ${flaw}`;
	return item.refuse({ field: `"${parameter}"`, rule });
}
