import compact from 'lodash/compact';
import findLastKey from 'lodash/findLastKey';
import isEmpty from 'lodash/isEmpty';
import isNil from 'lodash/isNil';
import mapValues from 'lodash/mapValues';
import omit from 'lodash/omit';
import omitBy from 'lodash/omitBy';
import pick from 'lodash/pick';

import { fieldName, type Naming } from '../../../../execution/inputIssues';
import {
	NUL,
	firstBytes,
	isTextHead,
	readUploadFile,
	refuseFile,
	textChunks,
} from '../../../../execution/binary';
import type { FieldValues } from '../../../../execution/fields';
import type { BinaryField, Item } from '../../../../execution/item';
import { MIME_TYPES, UNKNOWN_TYPE, documentExtension } from '../../../../execution/mimeTypes';
import { fieldValues, utcText } from '../../../../execution/values';
import { document, type DocumentRecord } from '../../../../payloads/document';
import type { SourceFile } from '../../../../ingest/readyDocument';
import { isHtml, isJsonObject } from '../../../../transport/answer';
import type { UploadFile } from '../../../../transport/multipart';
import { valuesOfRows } from '../../../shared/rowValues';
import { DOCUMENT_SETTINGS } from './index';

const PARSER_SETTINGS = ['chunkSize', 'chunkOverlap', 'delimiter'];

/** Maps paths in a document to settings, for messages. */
const RECORD_NAMING: Naming = {
	fields: [DOCUMENT_SETTINGS],
	fieldByPath: Object.fromEntries(
		(DOCUMENT_SETTINGS.options ?? []).map(({ name }) => [
			PARSER_SETTINGS.includes(name) ? `parserConfig.${name}` : name,
			`documentSettings.${name}`,
		]),
	),
};

/** A document as read and checked by its source. Its ID is derived when its turn comes. */
export interface FoundDocument {
	record: DocumentRecord;
	/** The record as JSON, once it is checked. */
	json?: string;
	/** The key that its ID is derived from; without a key, the document keeps its own ID. */
	key?: string;
	/** Changes with the document, and is compared in place of its content. */
	version?: string;
	/** The file to upload first; its address is not in the record yet. */
	file?: () => SourceFile | Promise<SourceFile>;
	/** Whether U+0000 was left out of it. */
	hadNul?: boolean;
	/** Columns of its item that match no field of a document (Map Automatically). */
	unusedColumns?: string[];
}

/** The keys of documents that were refused, by their errors: such a document is in the source all the same. */
export const refusedKeys = new WeakMap<object, string>();

/** A record with a name. */
type Named = DocumentRecord & { name: string };

/** The chunk size and overlap of servers. */
const CHUNK_SIZE = 1000;
const CHUNK_OVERLAP = 200;

/** U+0000 in JSON text. */
const NUL_IN_JSON = /(?<!\\)((?:\\\\)*)\\u0000/g;

/**
 * The record in the form that servers use: with a text splitter, dates in its metadata as filters expect them, and
 * without U+0000.
 *
 * @throws NodeOperationError if it cannot be written as JSON
 */
export function readyRecord(
	item: Item,
	given: DocumentRecord,
	naming: Naming = RECORD_NAMING,
): Pick<FoundDocument, 'record' | 'json' | 'hadNul'> {
	const split = withTextSplitter(given);
	const { metadata, parserConfig } = split;
	const size = parserConfig?.chunkSize ?? CHUNK_SIZE;
	const overlap = parserConfig?.chunkOverlap ?? 0;
	const refuse = (setting: string, rule: string, value: number) =>
		item.refuse({ field: fieldName(['parserConfig', setting], naming), rule, value });
	if (size <= 0) refuse('chunkSize', 'must be more than 0', size);
	if (overlap < 0 || overlap >= size)
		refuse('chunkOverlap', `must be from 0 to less than the chunk size (${size})`, overlap);
	const record = metadata ? { ...split, metadata: mapValues(metadata, utcText) } : split;
	const json = item.jsonText(record, naming);
	const cleaned = json.replace(NUL_IN_JSON, '$1');
	return cleaned === json
		? { record, json }
		: { record: JSON.parse(cleaned) as DocumentRecord, json: cleaned, hadNul: true };
}

/**
 * A document whose text is uploaded as a file.
 *
 * @param given its other fields; their type and MIME type take precedence
 * @throws NodeOperationError if these cannot be written as JSON
 */
export function textDocument(item: Item, given: Named, text: string): FoundDocument {
	// Markdown also suits plain text.
	const extension = isHtml(text) ? 'html' : 'md';
	const named = fileType(given.name, given.mimeType ?? MIME_TYPES[extension], given.type);
	// A text named report.pdf, after the file it was extracted from, is no PDF.
	const isOtherType = named.extension !== undefined && !named.isText;
	const file = isOtherType ? fileType(`${given.name}.${extension}`) : named;
	const content = Buffer.from(text.replaceAll(NUL, ''));
	const hadNul = text.includes(NUL);
	return fileDocument(item, { size: content.length, ...given }, file, () => ({ content, hadNul }));
}

/**
 * A document whose file is in a binary field. Text is uploaded in UTF-8, the only encoding that servers read.
 *
 * @throws NodeOperationError as `textDocument` does; its `file` also if servers would find nothing in the file
 */
export function binaryDocument(item: Item, given: Named, field: BinaryField): FoundDocument {
	const mimeType = given.mimeType ?? field.binary.mimeType;
	const named = fileType(given.name, mimeType, given.type);
	return fileDocument(item, given, named, async () => {
		const refuse = (flaw: string) => refuseFile(item, field, flaw);
		const head = await firstBytes(item, field);
		const shown = shownFormat(head, named, field);
		if (shown === OLD_OFFICE && !given.type) refuse(shown);
		const isOther = shown !== undefined && shown !== named.extension;
		const isByHand = given.type ?? given.mimeType;
		const file = isOther && !isByHand ? fileType(`${given.name}.${shown}`) : named;
		let hadNul = false;
		const text = () => textChunks(item, field, mimeType, () => (hadNul = true));
		const content = file.isText
			? await textContent(text)
			: (await readUploadFile(item, field)).content;
		const size = Buffer.isBuffer(content) ? content.length : content.size;
		if (size === 0) refuse('is empty: nothing could be found in it');
		if (file.extension === 'xlsx' && shown !== 'xlsx' && !given.type) refuse(NO_WORKBOOK);
		return { content, hadNul, file };
	});
}

const NO_WORKBOOK =
	'is no .xlsx workbook inside: nothing could be found in it. Save it as .xlsx again';

const OLD_OFFICE =
	'is of an old Office format, or locked with a password: servers cannot read it. Save it as .docx, .xlsx or .pptx, without a password';

/** Formats that are zip archives. */
const ZIP_FORMATS = ['docx', 'epub', 'pptx', 'xlsx'];

/**
 * The format that the first bytes of a file show, as an extension.
 *
 * @param named what the name and MIME type of the file say
 */
function shownFormat(
	head: Buffer,
	{ extension, isText }: FileType,
	{ binary: { fileName = '', mimeType } }: BinaryField,
): string | undefined {
	const bytes = head.toString('latin1');
	if (bytes.startsWith('\xd0\xcf\x11\xe0')) return OLD_OFFICE;
	const readsAsText = isTextHead(head, mimeType);
	if (/^\s*%PDF-/.test(bytes)) return 'pdf';
	// A text may be about PDF; a PDF may have other bytes before.
	if (bytes.includes('%PDF-') && !(isText && readsAsText)) return 'pdf';
	const [, old] = /\.(doc|ppt|xls)$/i.exec(fileName) ?? [];
	if (bytes.startsWith('PK'))
		return [extension, fileType('', mimeType).extension, `${old?.toLowerCase()}x`].find(
			(one) => one !== undefined && ZIP_FORMATS.includes(one),
		);
	if (!old || extension !== undefined || !readsAsText) return undefined;
	return isHtml(bytes) ? 'html' : 'txt';
}

/** The content of a file, and its format if that is not the one its name says. */
interface FileContent {
	content: UploadFile['content'];
	hadNul: boolean;
	file?: FileType;
}

function fileDocument(
	item: Item,
	given: DocumentRecord,
	named: FileType,
	read: () => FileContent | Promise<FileContent>,
): FoundDocument {
	const recordOf = ({ name, type, mimeType, isTable }: FileType) =>
		readyRecord(item, {
			...given,
			name,
			// The charset is left out, because texts are uploaded in UTF-8.
			mimeType: (given.mimeType ?? mimeType).replace(/;\s*charset=.*/i, ''),
			type: isTable ? type : (given.type ?? type),
		});
	const { hadNul, ...ready } = recordOf(named);
	return {
		...ready,
		file: async () => {
			const { content, file = named, hadNul: fileHadNul } = await read();
			const fields = pick(recordOf(file).record, ['name', 'type', 'mimeType']);
			return {
				name: fields.name ?? '',
				mimeType: file.mimeType,
				content,
				hadNul: hadNul ?? fileHadNul,
				fields,
			};
		},
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

/**
 * The fields of a document that Document Settings set.
 *
 * @param directory the directory of its file
 * @throws NodeOperationError naming the setting
 */
export function settingsOf(item: Item, directory = ''): DocumentRecord {
	const chosen = item.parameter('documentSettings');
	const { name } = DOCUMENT_SETTINGS;
	const given = fieldValues(item.refuse, [DOCUMENT_SETTINGS], { [name]: chosen });
	const read = (given[name] ?? {}) as FieldValues;
	const { metadataRows, folderFromDirectory: usesDirectory, ...others } = read;
	const settings = omit(others, 'documentVersion', 'documentVersionField');
	const parserConfig = pick(settings, PARSER_SETTINGS);
	const rows = valuesOfRows(item, 'Metadata Rows', metadataRows);
	const path = directory.replaceAll('\\', '/').replace(/^[a-z]:/i, '');
	const folders = usesDirectory ? [settings.folder, path] : [];
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

/** Table types: servers fail to read them as sheets, and read them as text, a workbook row by row (recorded). */
const TABLE_TYPES = ['csv', 'tsv', 'xlsx'];

type FileType = ReturnType<typeof fileType>;

/**
 * The name and type of a file, from its name and its stated type.
 *
 * @param statedType the known MIME type, such as that of a binary field; its parameters are ignored
 * @param given the stated extension, used if the name has none
 */
function fileType(name: string, statedType = '', given?: string | null) {
	const essence = (statedType.split(';')[0] ?? '').trim().toLowerCase();
	const ownExtension = documentExtension(name);
	// Of several extensions for a type, such as htm and html, the last is the usual one.
	const extension =
		ownExtension ??
		documentExtension(`.${given}`) ??
		findLastKey(MIME_TYPES, (known) => known === essence);
	const mimeType = MIME_TYPES[extension ?? ''] ?? (essence || UNKNOWN_TYPE);
	const isText = /^text\/|[/+-](json|xml|yaml|ndjson|jsonl|javascript)$/.test(mimeType);
	const isTable = TABLE_TYPES.includes(extension ?? '');
	return {
		/** The name with an extension that fits the content. */
		name: ownExtension === undefined && extension !== undefined ? `${name}.${extension}` : name,
		/** The extension of its format; `undefined` if that is not known. */
		extension,
		/** How servers read it. */
		type: isTable ? 'txt' : extension,
		mimeType: isTable && isText ? 'text/plain' : mimeType,
		/** Whether its content is text, in any encoding. */
		isText,
		isTable,
	};
}

/**
 * Adds the settings by which Xpert splits a file, from those of the contract, which it only stores (seen on the live
 * server). An existing `textSplitter` is kept. With the overlap of servers, small chunks cannot be made.
 */
export function withTextSplitter(record: DocumentRecord): DocumentRecord {
	const { parserConfig } = record;
	if (!parserConfig || 'textSplitter' in parserConfig) return record;
	const { chunkSize, chunkOverlap, delimiter } = parserConfig;
	const fittingOverlap = chunkSize && Math.min(CHUNK_OVERLAP, Math.floor(chunkSize / 5));
	// A separator with a comma is left out, because a comma ends it. Line breaks and tabs are written as `\n` and `\t`.
	const separators = (delimiter ?? '')
		.split(' ')
		.filter((one) => one !== '' && !one.includes(','))
		.map((one) => one.replace(/\n/g, '\\n').replace(/\t/g, '\\t').replace(/\r/g, '\\r'))
		.join(',');
	const overlap = chunkOverlap ?? fittingOverlap;
	const textSplitter = omitBy(
		{ chunkSize, chunkOverlap: overlap, separators: separators || null },
		isNil,
	);
	if (isEmpty(textSplitter)) return record;
	return { ...record, parserConfig: { ...parserConfig, textSplitter } };
}
