import type { Hash } from 'crypto';

import { binaryChunks, type BinaryField, readUploadFile } from '../../../../execution/binary';
import { decodedChunks, decodeInOnePass } from './fileText';
import type { Item } from '../../../../execution/item';
import type { SourceFile } from '../../../../ingest/readyDocuments';

/** Maximum size of a file that the node keeps in memory. A larger file is read a second time for the upload. */
const MAX_KEPT_BYTES = 2 ** 18;

/** Collects the size of a file while it is read, and either a hash or, for a small file, its bytes. */
class ContentCollector {
	size = 0;
	isBlank = true;
	readonly hasher?: Hash;
	private kept: Uint8Array[] = [];

	/** @param hasher a hash whose copy is updated with the bytes. With it, the bytes are not kept. */
	constructor(hasher?: Hash) {
		this.hasher = hasher?.copy();
	}

	get isKept(): boolean {
		return !this.hasher && this.size <= MAX_KEPT_BYTES;
	}

	add(piece: Uint8Array | string): void {
		if (piece.length === 0) return;
		const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
		this.size += bytes.length;
		this.isBlank &&= typeof piece === 'string' && piece.trim() === '';
		this.hasher?.update(bytes);
		if (this.isKept) this.kept.push(bytes);
		else this.kept = [];
	}

	/** @param open opens the file again, to upload it */
	asFile(open: () => AsyncIterable<Uint8Array>): FileContent {
		const { hasher, isKept, kept, size } = this;
		return isKept
			? { content: Buffer.concat(kept), hadNul: false }
			: { content: { size, open }, hasher, hadNul: false };
	}
}

/** The content of a file for the upload, and what was found while it was read. */
export type FileContent = Required<Pick<SourceFile, 'content' | 'hadNul'>> &
	Pick<SourceFile, 'hasher'>;

/** A stored file that is open. */
interface OpenFile {
	item: Item;
	field: BinaryField;
	pieces: AsyncIterable<Uint8Array>;
}

/**
 * Reads a text file of any encoding. Returns the content in UTF-8; for a blank text, an empty content. A large text, or one
 * with `hasher`, is not kept: the upload reads and converts the file again.
 */
export async function textContent(
	{ item, field, pieces }: OpenFile,
	mimeType: string,
	hasher?: Hash,
): Promise<FileContent> {
	const newContent = () => new ContentCollector(hasher);
	const read = decodeInOnePass(item, field, { pieces, mimeType }, newContent);
	const { decoder, sink: taken } = await read.catch((error: unknown) => {
		throw item.asError(error);
	});
	const { encoding, hadNul } = decoder;
	if (taken.isBlank) return { content: Buffer.alloc(0), hadNul };
	return { ...taken.asFile(() => encoded(decodedChunks(item, field, encoding))), hadNul };
}

/**
 * Reads the content of a file that is not text. Without `hasher`, stops reading a file that is too large to keep in memory,
 * because the upload reads it again.
 */
export async function nonTextContent(
	{ item, field, pieces }: OpenFile,
	hasher?: Hash,
): Promise<FileContent> {
	const taken = new ContentCollector(hasher);
	for await (const piece of pieces) {
		taken.add(piece);
		if (hasher || taken.isKept) continue;
		// Reads no bytes of a file in n8n's binary data storage: `content` is its size and a way to open it again.
		const { content } = await readUploadFile(item, field);
		return { content, hadNul: false };
	}
	return taken.asFile(() => binaryChunks(item, field));
}

async function* encoded(text: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
	for await (const piece of text) yield Buffer.from(piece);
}
