import compact from 'lodash/compact';
import findLastKey from 'lodash/findLastKey';
import isEmpty from 'lodash/isEmpty';
import isNil from 'lodash/isNil';
import mapValues from 'lodash/mapValues';
import omit from 'lodash/omit';
import omitBy from 'lodash/omitBy';
import pick from 'lodash/pick';

import { quoted } from '../../../../execution/badInput';
import type { Naming } from '../../../../execution/badInput';
import { binaryChunks, textChunks, readUploadFile } from '../../../../execution/binary';
import type { FieldValues } from '../../../../execution/fields';
import type { BinaryField, Item } from '../../../../execution/item';
import { MIME_TYPES, UNKNOWN_TYPE, documentExtension } from '../../../../execution/mimeTypes';
import { givenFor } from '../../../../execution/rawParameters';
import { readValue, utcText } from '../../../../execution/values';
import { document } from '../../../../payloads/document';
import type { DocumentRecord } from '../../../../payloads/document';
import { isJsonObject } from '../../../../transport/answer';
import type { UploadFile } from '../../../../transport/multipart';
import { valuesOfRows } from '../../../shared/rowValues';
import { RECORD_SETTINGS } from './index';

const PARSER_SETTINGS = ['chunkSize', 'chunkOverlap', 'delimiter'];

/** Maps paths in a document to settings, for messages. */
const RECORD_NAMING: Naming = {
	fields: [RECORD_SETTINGS],
	fieldByPath: Object.fromEntries(
		(RECORD_SETTINGS.options ?? []).map(({ name }) => [
			PARSER_SETTINGS.includes(name) ? `parserConfig.${name}` : name,
			`documentSettings.${name}`,
		]),
	),
};

/** A document as read and checked by its source. Its ID is derived when its turn comes. */
export interface FoundDocument {
	record: DocumentRecord;
	/** The key that its ID is derived from; without a key, the document keeps its own ID. */
	key?: string;
	/** Changes with the document, and is compared in place of its content. */
	version?: string;
	/** Whether the user wants it to have a new id each time. */
	newEachTime?: boolean;
	/** The file to upload first; its address is not in the record yet. */
	file?: () => UploadFile | Promise<UploadFile>;
	/** Whether it is a table that is sent as text, because servers cannot read it otherwise. */
	readAsText?: boolean;
	/** Columns of its item that match no field of a document (Map Automatically). */
	unusedColumns?: string[];
}

/** The keys of documents that were refused, by their errors: such a document is in the source all the same. */
export const refusedKeys = new WeakMap<object, string>();

/** A record with a name. */
type Named = DocumentRecord & { name: string };

/**
 * The record in the form that servers use: with a text splitter, and dates in its metadata as filters expect them.
 *
 * @throws NodeOperationError if it cannot be written as JSON
 */
export function readyRecord(
	item: Item,
	given: DocumentRecord,
	naming: Naming = RECORD_NAMING,
): DocumentRecord {
	const record = withTextSplitter(given);
	const { metadata } = record;
	const ready = metadata ? { ...record, metadata: mapValues(metadata, utcText) } : record;
	item.jsonText(ready, naming);
	return ready;
}

/**
 * A document whose text is uploaded as a file.
 *
 * @param given its other fields; their type and MIME type take precedence
 * @throws NodeOperationError if these cannot be written as JSON
 */
export function textDocument(item: Item, given: Named, text: string): FoundDocument {
	const isHtml = /^\s*(<!doctype html|<html)/i.test(text);
	// Markdown also suits plain text.
	const textType = isHtml ? 'text/html' : 'text/markdown';
	const fileOfName = fileType(given.name, given.mimeType ?? textType, given.type);
	// A text named report.pdf, after the file it was extracted from, is no PDF.
	const isOtherType = fileOfName.type !== undefined && !fileOfName.isText;
	const file = isOtherType
		? fileType(`${given.name}.${isHtml ? 'html' : 'md'}`, textType)
		: fileOfName;
	const record = { size: Buffer.byteLength(text), ...given };
	return fileDocument(item, record, file, () => Buffer.from(text));
}

/**
 * A document whose file is in a binary field. Text is uploaded in UTF-8, the only encoding that servers read.
 *
 * @throws NodeOperationError as `textDocument` does; its `file` also if servers would find nothing in the file
 */
export function binaryDocument(item: Item, given: Named, field: BinaryField): FoundDocument {
	const mimeTypeGiven = given.mimeType ?? field.binary.mimeType;
	const file = fileType(given.name, mimeTypeGiven, given.type);
	const { isText, asText } = file;
	const refuseFile = (flaw: string) =>
		item.refuse({
			subject: `"${field.parameter}"`,
			demand: `names ${quoted(field.property)}, whose file ${flaw}`,
		});
	if (file.type === 'xls')
		refuseFile('is of the old .xls format, which servers cannot read. Save it as .xlsx');
	const text = () => textChunks(item, field, mimeTypeGiven);
	return fileDocument(item, given, file, async () => {
		const found = isText ? await textContent(text) : (await readUploadFile(item, field)).content;
		const size = Buffer.isBuffer(found) ? found.length : found.size;
		if (size === 0) refuseFile('is empty: nothing could be found in it');
		if (asText && !isText && !(await isZip(binaryChunks(item, field)))) refuseFile(NO_WORKBOOK);
		return found;
	});
}

const NO_WORKBOOK =
	'is no .xlsx workbook inside, or has a password: nothing could be found in it. Save it as .xlsx without a password';

function fileDocument(
	item: Item,
	given: DocumentRecord,
	{ name, type, mimeType, asText }: ReturnType<typeof fileType>,
	content: () => UploadFile['content'] | Promise<UploadFile['content']>,
): FoundDocument {
	// The charset is left out, because texts are uploaded in UTF-8.
	const sentType = (given.mimeType ?? mimeType).replace(/;\s*charset=.*/i, '');
	const file = { ...(type && { type }), ...given, ...(asText && { type }) };
	return {
		record: readyRecord(item, { ...file, mimeType: sentType, name }),
		...(asText && { readAsText: true }),
		file: async () => ({ name, mimeType, content: await content() }),
	};
}

/** Texts up to this many bytes are kept in memory until they are uploaded; longer ones are read twice. */
const MAX_KEPT_BYTES = 2 ** 18;

/** The content of a text file for upload; empty if the text is blank. */
async function textContent(text: () => AsyncIterable<string>): Promise<UploadFile['content']> {
	const kept: string[] = [];
	let size = 0;
	let isBlank = true;
	for await (const piece of text()) {
		isBlank &&= piece.trim() === '';
		size += Buffer.byteLength(piece);
		if (size <= MAX_KEPT_BYTES) kept.push(piece);
	}
	if (isBlank) return Buffer.alloc(0);
	return size <= MAX_KEPT_BYTES
		? Buffer.from(kept.join(''))
		: { size, open: () => encoded(text()) };
}

async function* encoded(text: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
	for await (const piece of text) yield Buffer.from(piece);
}

/** Whether a file is a zip archive, as workbooks are. */
async function isZip(chunks: AsyncIterable<Uint8Array>): Promise<boolean> {
	for await (const chunk of chunks) return chunk[0] === 0x50 && chunk[1] === 0x4b;
	return false;
}

/**
 * The fields of a document that Document Settings set.
 *
 * @param directory the directory of its file
 * @throws NodeOperationError naming the setting
 */
export function settingsOf(item: Item, directory = ''): DocumentRecord {
	const chosen = chosenSettings(item);
	const read = (readValue(item.refuse, RECORD_SETTINGS, chosen) ?? {}) as FieldValues;
	const { metadataRows, folderFromDirectory: usesDirectory, ...settings } = read;
	const parserConfig = pick(settings, PARSER_SETTINGS);
	const rows = valuesOfRows(item, 'Metadata Rows', metadataRows);
	const folders = usesDirectory ? [settings.folder, directory.replaceAll('\\', '/')] : [];
	const folder = compact(folders).join('/');
	const record = {
		// An empty Folder takes the document out of its folder.
		...(isJsonObject(chosen) && 'folder' in chosen && { folder: '' }),
		...omit(settings, PARSER_SETTINGS),
		...(folder !== '' && { folder }),
		...(!isEmpty(parserConfig) && { parserConfig }),
	};
	const checked = item.check(document, record, RECORD_NAMING);
	return isEmpty(rows) ? checked : { ...checked, metadata: { ...checked.metadata, ...rows } };
}

/**
 * The chosen settings without name, key and version, which are read on their own: n8n resolves an expression each time it is
 * read.
 */
function chosenSettings(item: Item): unknown {
	const given = givenFor(item.context.getNode(), 'documentSettings');
	if (!isJsonObject(given)) return item.parameter('documentSettings');
	return mapValues(omit(given, ['name', 'documentKey', 'documentVersion']), (_, name) =>
		item.parameter(`documentSettings.${name}`),
	);
}

/** Table types: servers fail to read them as sheets, and read them as text, a workbook row by row (recorded). */
const TABLE_TYPES = ['csv', 'tsv', 'xlsx'];

/**
 * The name and type of a file, from its name and its stated type.
 *
 * @param mimeType the known MIME type, such as that of a binary field; its parameters are ignored
 * @param given the stated extension, used if the name has none
 */
function fileType(name: string, mimeType: string, given?: string | null) {
	const essence = (mimeType.split(';')[0] ?? '').trim().toLowerCase();
	const extension = documentExtension(name);
	// Of several extensions for a type, such as htm and html, the last is the usual one.
	const type =
		extension ??
		documentExtension(`.${given}`) ??
		findLastKey(MIME_TYPES, (known) => known === essence);
	const knownMimeType = MIME_TYPES[type ?? ''] ?? (essence || UNKNOWN_TYPE);
	const isText = /^text\/|[/+-](json|xml|yaml|ndjson|jsonl|javascript)$/.test(knownMimeType);
	const asText = TABLE_TYPES.includes(type ?? '');
	return {
		/** The name with an extension that fits the content. */
		name: extension === undefined && type !== undefined ? `${name}.${type}` : name,
		/** The extension; `undefined` if it is not known. */
		type: asText ? 'txt' : type,
		mimeType: asText && isText ? 'text/plain' : knownMimeType,
		/** Whether its content is text, in any encoding. */
		isText,
		/** Whether it is a table, which is sent as text: servers cannot read it otherwise. */
		asText,
	};
}

/**
 * Adds the settings by which Xpert splits a file, from those of the contract, which it only stores (service behaviour,
 * "How a file is cut"). An existing `textSplitter` is kept.
 */
export function withTextSplitter(record: DocumentRecord): DocumentRecord {
	const { parserConfig } = record;
	if (!parserConfig || 'textSplitter' in parserConfig) return record;
	const { chunkSize, chunkOverlap, delimiter } = parserConfig;
	// A separator with a comma is left out, because a comma ends it. Line breaks and tabs are written as `\n` and `\t`.
	const separators = (delimiter ?? '')
		.split(' ')
		.filter((one) => one !== '' && !one.includes(','))
		.map((one) => one.replace(/\n/g, '\\n').replace(/\t/g, '\\t').replace(/\r/g, '\\r'))
		.join(',');
	const textSplitter = omitBy({ chunkSize, chunkOverlap, separators: separators || null }, isNil);
	if (isEmpty(textSplitter)) return record;
	return { ...record, parserConfig: { ...parserConfig, textSplitter } };
}
