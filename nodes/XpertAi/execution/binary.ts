import { isNil, uniq } from 'lodash';
import { type IBinaryData, isExpression } from 'n8n-workflow';

import type { UploadFile } from '../transport/multipart';
import { binaryFieldNamesSchema } from './fieldSchemas';
import { emptyExpressionIssue, unresolvedValue } from './givenValues';
import { shownValue } from './issueText';
import type { Item } from './item';
import { mimeTypeOf } from './mimeTypes';

/** A binary field of an input item. `property` is the name of the field. */
export interface BinaryField {
	property: string;
	binary: IBinaryData;
	/** Display name of the parameter that selects the field. */
	parameterLabel: string;
}

/**
 * Returns the binary field that the parameter `binaryPropertyName` selects.
 *
 * @throws NodeOperationError if the item has no such field
 */
export const chosenBinaryField = (item: Item): BinaryField =>
	binaryFieldNamed(item, FILE_PARAMETER, item.text(FILE_PARAMETER, 'data').trim());

const FILE_PARAMETER = 'binaryPropertyName';

/**
 * The binary fields that a parameter selects. The parameter is a list of names or a comma-separated text. Repeated
 * names count once.
 *
 * @throws NodeOperationError if the item has no such field, or the expression of the parameter gives nothing, or
 * neither a list of names nor a text
 */
export function chosenBinaryFields(item: Item, name: string): BinaryField[] {
	if (isExpression(unresolvedValue(item.node, name)) && isNil(item.parameter(name)))
		item.throwFieldIssue(
			name,
			emptyExpressionIssue(),
			undefined,
			item.emptyItemAdvice ?? EMPTY_FILE_LIST_ADVICE,
		);
	const names = uniq(item.setting<string[]>(name, binaryFieldNamesSchema));
	return names.map((one) => binaryFieldNamed(item, name, one));
}

const EMPTY_FILE_LIST_ADVICE =
	'Correct the expression. For an item without files, let it give an empty list.';

/**
 * Returns a binary field of an item. Throws an error if the item has no such field.
 *
 * @param parameter the name of the parameter that names the field
 * @param property the name of the field
 */
function binaryFieldNamed(item: Item, parameter: string, property: string): BinaryField {
	const fields = item.input.binary ?? {};
	const binary = Object.hasOwn(fields, property) ? fields[property] : undefined;
	if (binary) {
		const mimeType = binary.mimeType || mimeTypeOf(binary.fileName);
		return { property, binary: { ...binary, mimeType }, parameterLabel: item.labelOf(parameter) };
	}
	const found = Object.keys(fields).join(', ');
	const available = found ? `has only ${found}` : 'has no binary field';
	const issue = `names ${shownValue(property)}, but the item ${available}`;
	return item.throwFieldIssue(
		parameter,
		issue,
		undefined,
		item.emptyItemAdvice ?? (found ? OTHER_FIELD_ADVICE : NO_BINARY_FIELD_ADVICE),
	);
}

const OTHER_FIELD_ADVICE = 'Enter the name of a binary field that the item has.';

const NO_BINARY_FIELD_ADVICE =
	'The node before gives no file: put one between that downloads or reads it, or choose what takes text.';

/**
 * Yields the bytes of a binary field.
 *
 * @throws NodeOperationError if the file cannot be opened, e.g. because n8n has deleted it
 */
export async function* binaryChunks(item: Item, field: BinaryField): AsyncGenerator<Uint8Array> {
	const { helpers } = item.context;
	const { id } = field.binary;
	const read = async () =>
		id === undefined
			? [await helpers.getBinaryDataBuffer(item.index, field.property)]
			: await helpers.getBinaryStream(id);
	for await (const chunk of await readOrThrowGone(item, field, read)) yield chunk as Buffer;
}

/**
 * Opens a binary field, and closes it at the end of `use`. The file is read only once.
 *
 * @param use gets the first 1,024 bytes (fewer if the file is shorter), and all pieces from the first byte on
 * @returns the result of `use`
 */
export async function withBinaryHead<Result>(
	item: Item,
	field: BinaryField,
	use: (head: Buffer, pieces: AsyncIterable<Uint8Array>) => Promise<Result>,
): Promise<Result> {
	const remaining = binaryChunks(item, field);
	let readAhead = Buffer.alloc(0);
	async function* allPieces() {
		yield readAhead;
		yield* remaining;
	}
	try {
		while (readAhead.length < HEAD_BYTES) {
			const { done, value } = await remaining.next();
			if (done) break;
			readAhead = Buffer.concat([readAhead, value]);
		}
		return await use(readAhead.subarray(0, HEAD_BYTES), allPieces());
	} finally {
		await remaining.return(undefined);
	}
}

const HEAD_BYTES = 1024;

/**
 * Returns the file of a binary field for an upload. A file in n8n's binary data storage is streamed.
 *
 * @throws NodeOperationError if the file cannot be read, e.g. because n8n has deleted it
 */
export async function readUploadFile(item: Item, field: BinaryField): Promise<UploadFile> {
	const { helpers } = item.context;
	const { fileName, mimeType, id } = field.binary;
	const read = async (): Promise<UploadFile['content']> => {
		if (id === undefined) return await helpers.getBinaryDataBuffer(item.index, field.property);
		const { fileSize } = await helpers.getBinaryMetadata(id);
		return { size: fileSize, open: () => binaryChunks(item, field) };
	};
	return {
		name: fileName || field.property,
		mimeType,
		content: await readOrThrowGone(item, field, read),
	};
}

/**
 * Returns the result of `get`. If `get` fails, throws the error for a file that n8n no longer has, e.g. of pinned data.
 */
async function readOrThrowGone<Result>(
	item: Item,
	field: BinaryField,
	get: () => Promise<Result>,
): Promise<Result> {
	try {
		return await get();
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error);
		const fileIssue = `is no longer in n8n (${reason}). Run the node that made it again`;
		return throwFileIssue(item, field, fileIssue);
	}
}

/**
 * Throws the error for a file that cannot be sent.
 *
 * @param fileIssue why the file cannot be sent, as the end of a sentence, e.g. `is empty`
 */
export function throwFileIssue(
	item: Item,
	{ property, parameterLabel, binary: { fileName } }: BinaryField,
	fileIssue: string,
): never {
	const file = fileName ? `file ${shownValue(fileName)}` : 'file';
	const issue = `names ${shownValue(property)}, whose ${file} ${fileIssue}`;
	return item.throwIssue({
		label: `"${parameterLabel}"`,
		issue,
		advice: 'Correct the file, or leave it out.',
	});
}
