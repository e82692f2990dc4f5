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
	{ context, itemIndex }: ItemReader,
	{ property, binary }: BinaryField,
): AsyncGenerator<Uint8Array> {
	if (binary.id === undefined) {
		yield await context.helpers.getBinaryDataBuffer(itemIndex, property);
		return;
	}
	for await (const chunk of await context.helpers.getBinaryStream(binary.id)) yield chunk as Buffer;
}
