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
 * The file of a binary field, to be uploaded: streamed from n8n's disk, or sent from memory.
 *
 * @throws NodeOperationError when n8n no longer has it
 */
export async function uploadFile(item: Item, field: BinaryField): Promise<UploadFile> {
	const { helpers } = item.context;
	const { property, binary } = field;
	const { fileName, mimeType, id } = binary;
	const name = fileName || property;
	if (id === undefined)
		return { name, mimeType, content: await helpers.getBinaryDataBuffer(item.index, property) };
	const { fileSize: size } = await kept(item, field, () => helpers.getBinaryMetadata(id));
	return { name, mimeType, content: { size, open: () => binaryChunks(item, field) } };
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
