import findLastKey from 'lodash/findLastKey';
import isEmpty from 'lodash/isEmpty';
import isNil from 'lodash/isNil';
import mapValues from 'lodash/mapValues';
import omit from 'lodash/omit';
import pick from 'lodash/pick';

import { quoted } from '../../../../execution/badInput';
import { binaryChunks, textChunks, uploadFile } from '../../../../execution/binary';
import type { FieldValues } from '../../../../execution/fields';
import type { BinaryField, Item } from '../../../../execution/item';
import { checkedKey, keyIfGiven } from '../../../../execution/keys';
import { MIME_TYPES, UNKNOWN_TYPE, documentExtension } from '../../../../execution/mimeTypes';
import { givenFor, isFilled, isNothing } from '../../../../execution/rawParameters';
import { fieldValues, utcText } from '../../../../execution/values';
import { document } from '../../../../payloads/document';
import type { DocumentRecord } from '../../../../payloads/document';
import { isJsonObject } from '../../../../transport/answer';
import type { UploadFile } from '../../../../transport/multipart';
import { valuesOfRows } from '../../../shared/rowValues';
import type { FoundDocument } from './identity';
import { mapColumns } from './mapping';
import { documentSettings, folderFromDirectory, nameSetting, recordSettings } from './shared';

const PARSER_SETTINGS = ['chunkSize', 'chunkOverlap', 'delimiter'];

/** The settings that become part of a document. */
const OF_RECORD = documentSettings([nameSetting, folderFromDirectory, ...recordSettings]);

/** Where in a document each setting ends up. */
const SETTINGS_NAMING = {
	fields: [OF_RECORD],
	sources: Object.fromEntries(
		(OF_RECORD.options ?? []).map(({ name }) => [
			PARSER_SETTINGS.includes(name) ? `parserConfig.${name}` : name,
			`${OF_RECORD.name}.${name}`,
		]),
	),
};

/** A record that is called something. */
type Named = DocumentRecord & { name: string };

/** The record in the form in which all it says counts; dates in its metadata are as filters want them. */
export function readyRecord(given: DocumentRecord): DocumentRecord {
	const record = withTextSplitter(given);
	const { metadata } = record;
	return metadata ? { ...record, metadata: mapValues(metadata, utcText) } : record;
}

/**
 * The same of a record that Document Settings are part of.
 *
 * @throws NodeOperationError when it has no JSON text
 */
export function checkedRecord(item: Item, given: DocumentRecord): DocumentRecord {
	const record = readyRecord(given);
	item.jsonText(record, SETTINGS_NAMING);
	return record;
}

/**
 * A document whose text is uploaded as its file.
 *
 * @param given what else is said of it; its own type and MIME type win
 * @throws NodeOperationError when that has no JSON text
 */
export function textDocument(item: Item, given: Named, text: string): FoundDocument {
	const own = textMimeType(text);
	const asNamed = fileType(given.name, given.mimeType ?? own, given.type);
	// A text that is called report.pdf, after the file it was taken from, is no PDF.
	const isOther = asNamed.type !== undefined && !asNamed.isText;
	const file = isOther
		? fileType(`${given.name}.${own === 'text/html' ? 'html' : 'md'}`, own)
		: asNamed;
	const { name, mimeType } = file;
	return {
		...withFile(item, { size: Buffer.byteLength(text), ...given }, file),
		file: () => ({ name, mimeType, content: Buffer.from(text) }),
		contents: () => [text],
	};
}

/**
 * A document whose file is that of a binary field. One of text is sent in UTF-8, which is all that servers read.
 *
 * @throws NodeOperationError as `textDocument` does; its `file` also when servers would find nothing in it
 */
export function binaryDocument(item: Item, given: Named, field: BinaryField): FoundDocument {
	const said = given.mimeType ?? field.binary.mimeType;
	const file = fileType(given.name, said, given.type);
	const { name, mimeType, isText, asText } = file;
	const refuse = (what: string) =>
		item.refuse({
			subject: `"${field.parameter}"`,
			demand: `names ${quoted(field.property)}, whose file ${what}`,
		});
	if (file.type === 'xls')
		refuse('is of the old .xls format, which servers cannot read. Save it as .xlsx');
	const text = () => textChunks(item, field, said);
	const content = async () => {
		const found = isText ? await textContent(text) : (await uploadFile(item, field)).content;
		if (sizeOf(found) === 0) refuse('is empty: nothing could be found in it');
		if (asText && !isText && !(await isZip(binaryChunks(item, field)))) refuse(NO_WORKBOOK);
		return found;
	};
	return {
		...withFile(item, given, file),
		file: async () => ({ name, mimeType, content: await content() }),
		contents: () => (isText ? text() : binaryChunks(item, field)),
	};
}

const NO_WORKBOOK =
	'is no .xlsx workbook inside, or has a password: nothing could be found in it. Save it as .xlsx without a password';

function withFile(item: Item, given: DocumentRecord, file: FileType): FoundDocument {
	const { name, type, asText } = file;
	const kind = type === undefined ? {} : { type };
	// The encoding is not said on: texts are sent in UTF-8.
	const mimeType = (given.mimeType ?? file.mimeType).replace(/;\s*charset=.*/i, '');
	const said = { ...kind, ...given, ...(asText ? kind : {}), mimeType, name };
	return { record: checkedRecord(item, said), ...(asText ? { readAsText: true } : {}) };
}

/** A text of so many bytes is kept in memory until it is uploaded; a longer one is read once more. */
const KEPT_BYTES = 2 ** 18;

/** A text as it is uploaded; one of nothing but blanks is empty. */
async function textContent(text: () => AsyncIterable<string>): Promise<UploadFile['content']> {
	const kept: string[] = [];
	let size = 0;
	let isBlank = true;
	for await (const piece of text()) {
		isBlank &&= piece.trim() === '';
		size += Buffer.byteLength(piece);
		if (size <= KEPT_BYTES) kept.push(piece);
	}
	if (isBlank) return Buffer.alloc(0);
	return size <= KEPT_BYTES ? Buffer.from(kept.join('')) : { size, open: () => inBytes(text()) };
}

async function* inBytes(text: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
	for await (const piece of text) yield Buffer.from(piece);
}

function sizeOf(content: UploadFile['content']): number {
	return Buffer.isBuffer(content) ? content.length : content.size;
}

/** Whether a file is a zip archive, as workbooks are. */
async function isZip(chunks: AsyncIterable<Uint8Array>): Promise<boolean> {
	for await (const chunk of chunks) return chunk[0] === 0x50 && chunk[1] === 0x4b;
	return false;
}

/**
 * The key a document is known by.
 *
 * @param otherwise its key where none is given, and what that is called in messages
 * @throws NodeOperationError when it is none, as where an expression found nothing
 */
export function readDocumentKey(item: Item, otherwise: string, subject: string): string {
	return keyIfGiven(item, 'documentSettings.documentKey') ?? checkedKey(item, otherwise, subject);
}

/**
 * The name of a document that is made of a text: the one that is given, or the one in its item, under one of the usual
 * names of columns.
 *
 * @throws NodeOperationError when there is none
 */
export function nameOfText(item: Item): string {
	if (isFilled(item.context.getNode(), NAME)) return wholeText(item, NAME).trim();
	const { name } = mapColumns(item.json).fields;
	const text = isNil(name) ? '' : String(name).trim();
	if (text === '')
		return item.refuse({
			subject: `"${item.labelOf(NAME)}"`,
			demand: NAME_DEMAND,
			cure: NAME_CURE,
		});
	item.checkWhole(text, 'The name in the item');
	return text;
}

const NAME = 'documentSettings.name';
const NAME_DEMAND = 'must be given, as the item has no name and no title';
const NAME_CURE = 'Add "Name" in Document Settings.';

/** Whether an item brings a file and nothing for a text, which the item would refuse. */
export function hasFileInstead(item: Item, parameter: string): boolean {
	return item.hasFile && isNothing(item.resolved(parameter, ''));
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
 * @param directory that of its file
 * @throws NodeOperationError naming the setting
 */
export function settingsOf(item: Item, directory = ''): DocumentRecord {
	const chosen = chosenSettings(item);
	const raw = { [OF_RECORD.name]: chosen };
	const read = fieldValues((flaw) => item.refuse(flaw), [OF_RECORD], raw);
	const {
		metadataRows,
		folderFromDirectory: byDirectory,
		...settings
	} = (read[OF_RECORD.name] ?? {}) as FieldValues;
	const parserConfig = pick(settings, PARSER_SETTINGS);
	const rest = omit(settings, PARSER_SETTINGS);
	const rows = valuesOfRows(item, 'Metadata Rows', metadataRows);
	const folder = byDirectory
		? [settings.folder, directory.replaceAll('\\', '/')].filter(Boolean).join('/')
		: '';
	const made = {
		// Where Folder is there and empty, the document is in none.
		...(isJsonObject(chosen) && 'folder' in chosen && { folder: '' }),
		...rest,
		...(folder !== '' && { folder }),
		...(isEmpty(parserConfig) ? {} : { parserConfig }),
		...(isEmpty(rows) ? {} : { metadata: withRows(settings.metadata, rows) }),
	};
	return item.check(document, made, SETTINGS_NAMING);
}

/** What is chosen of them but the name, which is read on its own: n8n resolves an expression each time it is asked. */
function chosenSettings(item: Item): unknown {
	const given = givenFor(item.context.getNode(), OF_RECORD.name);
	if (!isJsonObject(given)) return item.parameter(OF_RECORD.name);
	return mapValues(omit(given, ['name', 'documentKey']), (_, name) =>
		item.parameter(`${OF_RECORD.name}.${name}`),
	);
}

/** Metadata with the values of rows; what is no object is left to the schema to refuse. */
const withRows = (metadata: unknown = {}, rows: FieldValues): unknown =>
	isJsonObject(metadata) ? { ...metadata, ...rows } : metadata;

/** Tables: the server fails to read them as sheets, and reads them as text, a workbook row by row (recorded). */
const TABLES = ['csv', 'tsv', 'xlsx'];

/** How a document's file is called and read. */
export interface FileType {
	/** The name with an extension that fits the content. */
	name: string;
	/** The extension; none where none is known. */
	type?: string;
	mimeType: string;
	/** Whether its bytes are text, in whichever encoding. */
	isText: boolean;
	/** Whether it is a table, which is sent as text, because the server cannot read it otherwise. */
	asText: boolean;
}

/**
 * How a file is to be called and read, by its name and the type it is said to be of.
 *
 * @param mimeType what is known of the content, such as a binary field's; parameters of it do not matter
 * @param given the extension it is said to have where its name has none
 */
export function fileType(name: string, mimeType: string, given?: string | null): FileType {
	const said = (mimeType.split(';')[0] ?? '').trim().toLowerCase();
	const own = documentExtension(name);
	// Of two extensions for one type, such as htm and html, the last is the usual one.
	const type =
		own ?? documentExtension(`.${given}`) ?? findLastKey(MIME_TYPES, (known) => known === said);
	const called = {
		name: own === undefined && type !== undefined ? `${name}.${type}` : name,
		mimeType: (type === undefined ? undefined : MIME_TYPES[type]) ?? (said || UNKNOWN_TYPE),
	};
	const isText = /^text\/|[/+-](json|xml|yaml|ndjson|jsonl|javascript)$/.test(called.mimeType);
	if (type === undefined || !TABLES.includes(type))
		return { ...called, type, isText, asText: false };
	const asText = { type: 'txt', asText: true, isText };
	return { ...called, ...asText, ...(isText ? { mimeType: 'text/plain' } : {}) };
}

/** The type of a text: a web page, or Markdown, as which plain text reads well. */
export function textMimeType(text: string): string {
	return /^\s*(<!doctype html|<html)/i.test(text) ? 'text/html' : 'text/markdown';
}

/** What Xpert cuts a file by; the contract's own settings it only keeps (service behaviour, "How a file is cut"). */
interface TextSplitter {
	chunkSize?: number;
	chunkOverlap?: number;
	/** Separators with commas between them, a line break written as backslash and n. */
	separators?: string;
}

/**
 * The document with the settings of its parserConfig in the form that counts on Xpert as well. A
 * `textSplitter` of its own stays as it is.
 */
export function withTextSplitter(document: DocumentRecord): DocumentRecord {
	const { parserConfig } = document;
	if (!isJsonObject(parserConfig) || 'textSplitter' in parserConfig) return document;
	const { chunkSize, chunkOverlap, delimiter } = parserConfig;
	const separators = separatorsOf(delimiter);
	const textSplitter: TextSplitter = {
		...(typeof chunkSize === 'number' ? { chunkSize } : {}),
		...(typeof chunkOverlap === 'number' ? { chunkOverlap } : {}),
		...(separators === undefined ? {} : { separators }),
	};
	if (isEmpty(textSplitter)) return document;
	return { ...document, parserConfig: { ...parserConfig, textSplitter } };
}

/** A comma ends a separator, so delimiters that hold one are left out. */
function separatorsOf(delimiter: unknown): string | undefined {
	if (typeof delimiter !== 'string') return undefined;
	const separators = delimiter
		.split(' ')
		.filter((one) => one !== '' && !one.includes(','))
		.map((one) => one.replace(/\n/g, '\\n').replace(/\t/g, '\\t').replace(/\r/g, '\\r'));
	return separators.length > 0 ? separators.join(',') : undefined;
}
