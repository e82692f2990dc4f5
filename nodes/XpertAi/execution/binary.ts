import type { UploadFile } from '../transport/multipart';
import { quoted } from './badInput';
import type { BinaryField, Item } from './item';

/** Bytes of a binary field, piece by piece where n8n keeps it on disk; those in memory come at once. */
export async function* binaryChunks(item: Item, field: BinaryField): AsyncGenerator<Uint8Array> {
	const { helpers } = item.context;
	const { id } = field.binary;
	if (id === undefined) {
		yield await helpers.getBinaryDataBuffer(item.index, field.property);
		return;
	}
	const stream = await kept(item, field, async () => await helpers.getBinaryStream(id));
	for await (const chunk of stream) yield chunk as Buffer;
}

/**
 * The text of a binary field, piece by piece: in the encoding that its byte order mark names, or its MIME type,
 * else in UTF-8.
 *
 * @throws NodeOperationError when it is no text in that encoding
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
			// Some versions of Node.js take windows-1252 for Latin 1 where it is not streamed.
			const text = decoder.decode(bytes, { stream: bytes !== undefined });
			// Servers cannot store this character; UTF-16 without a mark is full of it.
			if (!text.includes('\0')) return text;
		} catch {
			// Said below.
		}
		const { property, parameter, binary } = field;
		const file = binary.fileName ? `file ${quoted(binary.fileName)}` : 'file';
		const demand = `names ${quoted(property)}, whose ${file} is not text in ${encoding.toUpperCase()}. ${ENCODING_CURE}`;
		throw item.refusal({ subject: `"${parameter}"`, demand });
	};
	for await (const chunk of binaryChunks(item, field)) {
		head = Buffer.concat([head, chunk]);
		if (!decoder && head.length < LONGEST_MARK) continue;
		yield decoded(head);
		head = Buffer.alloc(0);
	}
	yield decoded(head) + decoded();
}

const LONGEST_MARK = 3;

const ENCODING_CURE =
	'Save it as UTF-8, or name its encoding in its MIME type, as in text/plain; charset=windows-1252';

function encodingOf(head: Buffer, mimeType: string): string {
	const mark = head.toString('latin1', 0, LONGEST_MARK);
	if (mark === '\xef\xbb\xbf') return 'utf-8';
	if (mark.startsWith('\xff\xfe')) return 'utf-16le';
	if (mark.startsWith('\xfe\xff')) return 'utf-16be';
	return /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(mimeType)?.[1] ?? 'utf-8';
}

/**
 * The file of a binary field, to be uploaded: streamed from n8n's disk, or sent from memory.
 *
 * @throws NodeOperationError when n8n no longer has it
 */
export async function uploadFile(item: Item, field: BinaryField): Promise<UploadFile> {
	const { helpers } = item.context;
	const { property, binary } = field;
	const { fileName, mimeType, id } = binary;
	const name = fileName || property;
	const content = await kept(item, field, async () =>
		id === undefined
			? await helpers.getBinaryDataBuffer(item.index, property)
			: {
					size: (await helpers.getBinaryMetadata(id)).fileSize,
					open: () => binaryChunks(item, field),
				},
	);
	return { name, mimeType, content };
}

/** Gets at what n8n keeps; it deletes the files of old executions, of pinned data too. */
async function kept<Result>(
	item: Item,
	{ property, parameter }: BinaryField,
	get: () => Promise<Result>,
): Promise<Result> {
	try {
		return await get();
	} catch (error) {
		const why = error instanceof Error ? error.message : String(error);
		const demand = `names ${quoted(property)}, whose file n8n no longer has (${why}). Run the node that made it again`;
		throw item.refusal({ subject: `"${parameter}"`, demand });
	}
}
