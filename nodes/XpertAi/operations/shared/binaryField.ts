import { NodeOperationError } from 'n8n-workflow';
import type { IBinaryData, INodeProperties } from 'n8n-workflow';

import { badInput, quoted } from '../../execution/badInput';
import { readText } from '../../execution/readFields';
import type { ItemReader } from '../../execution/readFields';

/** The parameter that names a binary field of the item. */
export function binaryFieldName(content: string): INodeProperties {
	return {
		displayName: 'Input Binary Field',
		name: 'binaryPropertyName',
		type: 'string',
		default: 'data',
		required: true,
		hint: `The name of the input field containing ${content}`,
		description: `Name of the binary field of the item that holds ${content}`,
	};
}

/** A binary field of an item, by its name. */
export interface BinaryField {
	property: string;
	binary: IBinaryData;
}

/**
 * The binary field an item's parameter names.
 *
 * @throws NodeOperationError when the item has no such field, naming those it has
 */
export function readBinaryField(reader: ItemReader): BinaryField {
	const { context, itemIndex } = reader;
	const property = readText(reader, 'binaryPropertyName', 'Input Binary Field', 'data').trim();
	const fields = context.getInputData()[itemIndex]?.binary ?? {};
	const binary = Object.hasOwn(fields, property) ? fields[property] : undefined;
	if (binary) return { property, binary };
	const found = Object.keys(fields);
	const offer = found.length > 0 ? `has only ${found.join(', ')}` : 'has no binary field';
	const source = { node: context.getNode(), itemIndex };
	throw badInput(
		source,
		'"Input Binary Field"',
		`names ${quoted(property)}, but the item ${offer}`,
	);
}

/** Bytes of a binary field, piece by piece where n8n keeps it on disk; those in memory come at once. */
export async function* binaryChunks(
	reader: ItemReader,
	field: BinaryField,
): AsyncGenerator<Uint8Array> {
	const { helpers } = reader.context;
	const { id } = field.binary;
	if (id === undefined) {
		yield await helpers.getBinaryDataBuffer(reader.itemIndex, field.property);
		return;
	}
	const stream = await kept(reader, field, async () => await helpers.getBinaryStream(id));
	for await (const chunk of stream) yield chunk as Buffer;
}

/**
 * Bytes in all of a binary field that n8n keeps on disk.
 *
 * @throws NodeOperationError when it is gone
 */
export async function storedSize(
	reader: ItemReader,
	field: BinaryField,
	id: string,
): Promise<number> {
	const { helpers } = reader.context;
	const { fileSize } = await kept(reader, field, async () => await helpers.getBinaryMetadata(id));
	return fileSize;
}

/** Gets at what n8n keeps; it deletes the files of old executions, of pinned data too. */
async function kept<Result>(
	{ context, itemIndex }: ItemReader,
	{ property }: BinaryField,
	get: () => Promise<Result>,
): Promise<Result> {
	try {
		return await get();
	} catch (error) {
		const node = context.getNode();
		const why = error instanceof Error ? error.message : String(error);
		const demand = `names ${quoted(property)}, whose file n8n no longer has (${why}). Run the node that made it again`;
		const source = { node, itemIndex };
		throw new NodeOperationError(node, badInput(source, '"Input Binary Field"', demand));
	}
}
