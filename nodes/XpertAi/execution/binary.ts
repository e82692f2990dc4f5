import type { UploadFile } from '../transport/multipart';
import { quoted } from './badInput';
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

/**
 * The text of a binary field in chunks. The encoding is that of its byte order mark, of its MIME type, or UTF-8.
 *
 * @throws NodeOperationError if the file is not text in that encoding
 */
export async function* textChunks(
	item: Item,
	field: BinaryField,
	mimeType = field.binary.mimeType,
): AsyncGenerator<string> {
	let head = Buffer.alloc(0);
	let encoding = '';
	let decoder: InstanceType<typeof TextDecoder> | undefined;
	const decoded = (bytes?: Uint8Array) => {
		try {
			encoding ||= encodingOf(head, mimeType);
			decoder ??= new TextDecoder(encoding, { fatal: true });
			// Without streaming, some versions of Node.js decode windows-1252 as Latin 1.
			const text = decoder.decode(bytes, { stream: bytes !== undefined });
			// Servers cannot store NUL, which UTF-16 without a byte order mark is full of.
			if (!text.includes('\0')) return text;
		} catch {
			// Reported below.
		}
		const { property, parameter, binary } = field;
		const file = binary.fileName ? `file ${quoted(binary.fileName)}` : 'file';
		const demand = `names ${quoted(property)}, whose ${file} is not text in ${encoding.toUpperCase()}. ${ENCODING_CURE}`;
		return item.refuse({ subject: `"${parameter}"`, demand });
	};
	for await (const chunk of binaryChunks(item, field)) {
		head = Buffer.concat([head, chunk]);
		if (!decoder && head.length < MAX_BOM_BYTES) continue;
		yield decoded(head);
		head = Buffer.alloc(0);
	}
	yield decoded(head) + decoded();
}

const MAX_BOM_BYTES = 3;

const ENCODING_CURE =
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
	{ property, parameter }: BinaryField,
	get: () => Promise<Result>,
): Promise<Result> {
	try {
		return await get();
	} catch (error) {
		const why = error instanceof Error ? error.message : String(error);
		const demand = `names ${quoted(property)}, whose file n8n no longer has (${why}). Run the node that made it again`;
		return item.refuse({ subject: `"${parameter}"`, demand });
	}
}
