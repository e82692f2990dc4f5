import isEmpty from 'lodash/isEmpty';
import omit from 'lodash/omit';
import pick from 'lodash/pick';

import { quoted } from '../../../../execution/badInput';
import { binaryChunks, uploadFile } from '../../../../execution/binary';
import type { BinaryField, Item } from '../../../../execution/item';
import { withTextSplitter } from '../../../../ingest/textSplitter';
import { document } from '../../../../payloads/document';
import type { DocumentRecord } from '../../../../payloads/document';
import type { UploadFile } from '../../../../transport/multipart';
import { fileType, textMimeType } from './fileTypes';
import type { FileType } from './fileTypes';
import { documentSettings, nameField } from './shared';
import type { FoundDocument } from './found';

const PARSER_SETTINGS = ['chunkSize', 'chunkOverlap', 'delimiter'];

/** Where in a document each setting ends up. */
const SETTINGS_NAMING = {
	fields: [documentSettings, nameField],
	sources: Object.fromEntries(
		(documentSettings.options ?? []).map(({ name }) => [
			PARSER_SETTINGS.includes(name) ? `parserConfig.${name}` : name,
			`${documentSettings.name}.${name}`,
		]),
	),
};

/** A record that is called something. */
type Named = DocumentRecord & { name: string };

/**
 * The record in the form in which all it says counts.
 *
 * @throws NodeOperationError when it has no JSON text
 */
export function checkedRecord(item: Item, given: DocumentRecord): DocumentRecord {
	const record = withTextSplitter(given);
	item.checkText(record, SETTINGS_NAMING);
	return record;
}

/**
 * A document whose text is uploaded as its file.
 *
 * @param given what else is said of it; its own type and MIME type win
 * @throws NodeOperationError when that has no JSON text
 */
export function textDocument(item: Item, given: Named, text: string): FoundDocument {
	const file = fileType(given.name, given.mimeType ?? textMimeType(text));
	const { name, mimeType } = file;
	return {
		...withFile(item, { size: Buffer.byteLength(text), ...given }, file),
		file: () => ({ name, mimeType, content: Buffer.from(text) }),
		contents: () => [text],
	};
}

/**
 * A document whose file is that of a binary field.
 *
 * @throws NodeOperationError as `textDocument` does; its `file` also when there is nothing in it
 */
export function binaryDocument(item: Item, given: Named, field: BinaryField): FoundDocument {
	const file = fileType(given.name, given.mimeType ?? field.binary.mimeType);
	const { name, mimeType } = file;
	return {
		...withFile(item, given, file),
		file: async () => ({ ...(await filledFile(item, field, mimeType)), name, mimeType }),
		contents: () => binaryChunks(item, field),
	};
}

function withFile(item: Item, given: DocumentRecord, file: FileType): FoundDocument {
	const { name, type, mimeType, asText } = file;
	const kind = { ...(type === undefined ? {} : { type }), mimeType };
	const record = checkedRecord(item, { ...kind, ...given, name });
	return { record, ...(asText ? { readAsText: true } : {}) };
}

/** Bytes of a file that may be nothing but blanks; such files are small. */
const LOOKED_AT_BYTES = 4096;

/** The file of an item, if there is something in it: servers take an empty one, and find nothing in it. */
async function filledFile(item: Item, field: BinaryField, mimeType: string): Promise<UploadFile> {
	const upload = await uploadFile(item, field);
	const { content } = upload;
	const size = Buffer.isBuffer(content) ? content.length : content.size;
	const mayBeBlank = size <= LOOKED_AT_BYTES && /^text\//.test(mimeType);
	if (size === 0 || (mayBeBlank && (await isBlank(binaryChunks(item, field))))) {
		const demand = `names ${quoted(field.property)}, whose file is empty: nothing could be found in it`;
		throw item.refusal({ subject: `"${field.parameter}"`, demand });
	}
	return upload;
}

async function isBlank(chunks: AsyncIterable<Uint8Array>): Promise<boolean> {
	const pieces: Uint8Array[] = [];
	for await (const chunk of chunks) pieces.push(chunk);
	// Trimming takes a byte order mark for a blank as well.
	return Buffer.concat(pieces).toString().trim() === '';
}

/**
 * The key a document is known by.
 *
 * @param otherwise its key where none is given
 * @throws NodeOperationError when it holds half a character, or an expression that was left as text
 */
export function keyOf(item: Item, otherwise: string): string {
	return item.key('documentKey', otherwise);
}

/**
 * A text that stays what it is when it is sent as a file or used as a key.
 *
 * @throws NodeOperationError when it is empty or holds half a character
 */
export function wholeText(item: Item, parameter: string): string {
	const text = item.filledText(parameter);
	item.checkWhole(text, `"${item.labelOf(parameter)}"`);
	return text;
}

/**
 * What Document Settings say, as the document has it.
 *
 * @throws NodeOperationError naming the setting
 */
export function settingsOf(item: Item): DocumentRecord {
	const { documentSettings: given = {} } = item.values([documentSettings]);
	const settings = given as Record<string, unknown>;
	const parserConfig = pick(settings, PARSER_SETTINGS);
	const rest = omit(settings, PARSER_SETTINGS);
	const made = { ...rest, ...(isEmpty(parserConfig) ? {} : { parserConfig }) };
	return item.check(document, made, SETTINGS_NAMING);
}
