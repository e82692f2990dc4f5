import { attempt, groupBy, isEmpty, isNil, mapValues, memoize, omit, omitBy, pick } from 'lodash';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import type { ItemError } from '../../../execution/apiError';
import { type BinaryField, binaryOf, textChunks } from '../../../execution/binary';
import type { FieldValues } from '../../../execution/fields';
import {
	checkedKey,
	identityText,
	keyIfGiven,
	presentOrEmpty,
	versionIn,
	versionOf,
	wantsVersion,
} from '../../../execution/identity';
import type { Item } from '../../../execution/item';
import {
	fieldName,
	groupSchema,
	isFilled,
	isNothing,
	type Naming,
	quoted,
	textIfGiven,
	typedValue,
} from '../../../execution/userInput';
import { type FileRecord, jsonRecords } from '../../../ingest/jsonRecords';
import { hasLoneSurrogate, isUuid, LONE_SURROGATE_RULE } from '../../../payloads/common';
import { type DocumentRecord, documentWith, unsignedAddress } from '../../../payloads/document';
import { documentFields } from '../../../pickers/documentFields';
import { isJsonObject } from '../../../transport/answer';
import { parserFields } from '../../shared/fields';
import { SOURCES, type SourceValue } from './fields';
import { settingsOf } from './sources/documentSettings';
import { binaryDocument, textDocument } from './sources/fileDocument';
import {
	type FoundDocument,
	isText,
	keepingKey,
	ownValue,
	refusedWith,
	type SourceDocuments,
	VERSION,
	VERSION_FIELD,
} from './sources/found';
import { isWithoutContent, readyRecord } from './sources/record';

const sourceValue = z.enum(Object.keys(SOURCES) as [SourceValue, ...SourceValue[]]);

const READERS: Record<SourceValue, (item: Item) => SourceDocuments> = {
	text: (item) => readKeyed(item, readText, nameOfText, NAME),
	files: (item) => readKeyed(item, readFile, pathOfFile, 'binaryPropertyName'),
	addresses: (item) => readKeyed(item, readAddress, stableAddress, 'url'),
	fields: (item) => readKeyed(item, readFields),
	json: readJson,
	records: readRecords,
};

/**
 * Reads the documents of an item. The parameter "Documents From" selects the reader.
 *
 * @returns the documents; a file of records is read, and can throw, only when the caller iterates the result
 * @throws NodeOperationError naming the field, the item and the requirement
 */
export function readDocuments(item: Item): SourceDocuments {
	return READERS[item.setting('source', sourceValue)](item);
}

/**
 * Reads the single document of an item, with its key and version.
 *
 * @param read may return the default key, so that it is not read a second time
 * @param defaultKey returns the key if "Document Key" is empty
 * @param name the node parameter to name in error messages about the default key
 * @throws NodeOperationError if the item is rejected
 */
function readKeyed(
	item: Item,
	read: (item: Item) => FoundDocument,
	defaultKey?: (item: Item) => string,
	name = '',
): FoundDocument[] {
	const readKey = (found?: FoundDocument) =>
		keyIfGiven(item, 'documentKey') ??
		(defaultKey && checkedKey(item, found?.key ?? defaultKey(item), `"${item.labelOf(name)}"`));
	return keepingKey(item, readKey, () => {
		const version = versionIn(item, VERSION);
		const lacksVersion = version === undefined && wantsVersion(item, VERSION);
		const found = read(item);
		return [{ ...found, key: readKey(found), version, lacksVersion }];
	});
}

/* Readers for "Text", "Files" and "Addresses" */

const NAME = 'documentSettings.name';

const FILES_MEANT = 'must not be empty. The items hold files: set Documents From to Files';

function readText(item: Item): FoundDocument {
	if (!isEmpty(item.input.binary) && isNothing(item.resolve('text', '')))
		item.refuseField('text', FILES_MEANT);
	const text = item.filledText('text');
	const { record, missingMetadata } = settingsOf(item);
	const name = nameOfText(item);
	return { ...textDocument(item, { ...record, name }, text), key: name, missingMetadata };
}

/** The name of a text document, from Document Settings or from a column such as `title`. It may be the key as well. */
function nameOfText(item: Item): string {
	if (isFilled(item.node, NAME)) {
		const isKey = !isFilled(item.node, 'documentKey');
		return isKey ? identityText(item, NAME) : (textIfGiven(item, NAME) ?? '');
	}
	const { name } = mapColumns(item.input.json).fields;
	const text = isNil(name) ? '' : String(name).trim();
	const field = `"${item.labelOf(NAME)}"`;
	const rule = 'must be given, as the item has no name and no title';
	return text || item.refuse({ field, rule, fix: 'Add "Name" in Document Settings.' });
}

function readFile(item: Item): FoundDocument {
	const field = binaryOf(item);
	const { fileName, directory = '' } = field.binary;
	const name = item.text(NAME).trim() || fileName || field.property;
	const { record, missingMetadata } = settingsOf(item, directory);
	return { ...binaryDocument(item, { ...record, name }, field), missingMetadata };
}

function pathOfFile(item: Item): string {
	const { binary, property } = binaryOf(item);
	return [binary.directory, binary.fileName || property].filter(Boolean).join('/');
}

function readAddress(item: Item): FoundDocument {
	const url = identityText(item, 'url');
	if (!/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url))
		item.refuseField('url', 'must be a web address such as https://example.com/manual.pdf', url);
	const name = item.text(NAME).trim() || lastPart(new URL(url));
	const { record, missingMetadata } = settingsOf(item);
	const ready = readyRecord(item, { name, fileUrl: url, ...record });
	return { ...ready, key: unsignedAddress(url), missingMetadata };
}

const stableAddress = (item: Item) => unsignedAddress(identityText(item, 'url'));

/** Returns the last part of a URL path, or the host name. */
function lastPart({ pathname, hostname }: URL): string {
	const last = pathname.split('/').findLast((part) => part !== '') ?? hostname;
	const decoded = attempt(decodeURIComponent, last);
	return typeof decoded === 'string' ? decoded : last;
}

/* Reader for "Fields" */

const DOCUMENT_FIELDS = documentFields.map((field) =>
	field.name === 'parserConfig' ? { ...field, options: parserFields } : field,
);

const FIELD_NAMES = new Set(DOCUMENT_FIELDS.map(({ name }) => name));

/**
 * Returns the document fields with the given space-separated names. Memoized, because the cache of `groupSchema` needs
 * the same array object each time.
 */
const fieldsNamed = memoize((names: string) =>
	DOCUMENT_FIELDS.filter(({ name }) => names.split(' ').includes(name)),
);

/** How error messages name the fields of a document. */
export const DOCUMENT_NAMING: Naming = { fields: DOCUMENT_FIELDS, parameter: 'Document Fields' };

/** Makes a document from the fields of an item. Converts values to the types of the fields. */
function readFields(item: Item): FoundDocument {
	const { columns, fields, text, unused: unusedColumns } = mappedColumns(item);
	const hasKey = isFilled(item.node, 'documentKey');
	// Fields to copy, because the check below would convert the ID and drop an empty folder. A key replaces the ID.
	const own = hasKey ? ['folder'] : ['folder', 'id'];
	const schema = groupSchema(fieldsNamed(Object.keys(fields).sort().join(' ')));
	const typed = item.check(schema, { ...fields, id: undefined }, DOCUMENT_NAMING);
	const mapped: FieldValues = { ...pick(fields, own), ...typed };
	if (text !== undefined && (mapped.pages || mapped.chunks)) unusedColumns.push(text);
	else if (text !== undefined) mapped.pages = [{ pageContent: String(columns[text]) }];
	const record = item.check(documentWith(mapped), mapped, DOCUMENT_NAMING);
	// Only a record that enables or disables a stored document may be empty. On Xpert, any other empty record could
	// clear a stored document.
	const isSwitch = typeof record.disabled === 'boolean' && (hasKey || record.id);
	if (!isSwitch && isWithoutContent(record)) refuseUnmapped(item);
	return { ...readyRecord(item, record, DOCUMENT_NAMING), unusedColumns };
}

/** Maps the columns of the input item, or the fields that the user filled in. */
function mappedColumns(item: Item) {
	const { mappingMode } = (item.node.parameters.documentFields ?? {}) as IDataObject;
	// A `disabled` column may have another meaning, so it is never mapped automatically.
	if (mappingMode === 'autoMapInputData') return mapColumns(item.input.json, 'disabled');
	// Reads only `value`. n8n would otherwise resolve the list of all fields for each item.
	const byHand = item.parameter('documentFields.value', {});
	if (!isJsonObject(byHand)) return mapColumns({});
	const present = mapValues(byHand, (value, name) =>
		presentOrEmpty(item, fieldName([name], DOCUMENT_NAMING), value),
	) as IDataObject;
	return mapColumns(omitBy(present, isNil));
}

/**
 * Common column names for each field and for the text, best first. Case, spaces, hyphens and underscores do not matter.
 * All other fields need their exact name, because a column such as `ID` may not be about the document.
 */
const ALIASES: Record<string, string[]> = {
	// A column such as `path` is never used as `filePath`, because `filePath` is a path on the server's disk.
	name: ['name', 'title', 'filename', 'documentname', 'path', 'file'],
	text: ['text', 'content', 'pagecontent', 'body', 'markdown', 'plaintext'],
	fileUrl: ['fileurl', 'url', 'link', 'uri', 'href', 'address', 'downloadurl'],
	filePath: ['filepath'],
	storageFileId: ['storagefileid'],
	mimeType: ['mimetype', 'contenttype', 'mediatype'],
	type: ['type'],
	size: ['size', 'filesize', 'bytes'],
	metadata: ['metadata', 'meta'],
};

/** Whether a column with a common name fits its field. An `address` column, for example, may hold a postal address. */
const FITS: Record<string, (column: unknown) => boolean> = {
	fileUrl: (column) => /^\s*https?:\/\//i.test(String(column)),
	storageFileId: (column) => isUuid(String(column).trim()),
	size: (column) => typeof typedValue('number', column) === 'number',
	metadata: isJsonObject,
};

const isPlain = (column: unknown) => typeof column !== 'object';

/**
 * Maps columns by name to document fields and `text`. Exact field names take precedence over `ALIASES`.
 *
 * @param except a field name that is not mapped
 * @returns `fields` without blank texts and undefined values (a blank `folder` is kept); `text`: the name of the column
 * with the text; `unused`: the names of the filled columns that match nothing
 */
export function mapColumns(columns: IDataObject, except?: string) {
	const isBlank = (column: unknown) => typeof column === 'string' && column.trim() === '';
	const fields: IDataObject = {};
	const others: string[] = [];
	for (const [name, column] of Object.entries(columns)) {
		if (column === undefined || (isBlank(column) && name !== 'folder')) continue;
		if (FIELD_NAMES.has(name) && name !== except) fields[name] = column;
		else if (column !== null) others.push(name);
	}
	const byName = groupBy(others, (name) => name.toLowerCase().replace(/[\s_-]/g, ''));
	const unused = new Set(others);
	let text: string | undefined;
	for (const [field, aliases] of Object.entries(ALIASES)) {
		if (!isNil(fields[field])) continue;
		const fits = FITS[field] ?? isPlain;
		const named = aliases.flatMap((alias) => byName[alias] ?? []);
		const name = named.find((one) => fits(columns[one]));
		if (name === undefined) continue;
		unused.delete(name);
		if (field === 'text') text = name;
		else fields[field] = columns[name];
	}
	return { columns, fields, text, unused: [...unused] };
}

/* Readers for "JSON" and "File of Records" */

/** Makes a function that checks a record and reads its key and its version. */
function recordReader(item: Item) {
	const keyPath = textIfGiven(item, 'documentKeyField');
	const label = item.labelOf('documentKeyField');
	const versionPath = textIfGiven(item, VERSION_FIELD);
	return (given: unknown, parameter: string): FoundDocument => {
		// If a key field is set, a number is accepted as ID, because the key replaces the ID.
		const isNumbered = keyPath && isJsonObject(given) && typeof given.id === 'number';
		const value = isNumbered ? { ...given, id: String(given.id) } : given;
		const checked = item.check(documentWith(value), value, { parameter });
		const version = versionPath ? versionOf(ownValue(checked, versionPath)) : undefined;
		const versions = { version, lacksVersion: versionPath !== undefined && version === undefined };
		const record = versionPath ? omit(checked, versionPath) : checked;
		if (keyPath === undefined) return { record, ...versions };
		const key = ownValue(checked, keyPath);
		const field = `${parameter}: "${label}"`;
		if (!isText(key) && typeof key !== 'number') {
			const rule = `names ${quoted(keyPath)}, which this document does not have`;
			return item.refuse({ field, rule });
		}
		const unnamed = checked.id ? { ...record, id: undefined } : record;
		return { record: unnamed, key: checkedKey(item, key, field), ...versions };
	};
}

function readJson(item: Item): FoundDocument[] {
	const readRecord = recordReader(item);
	const label = item.labelOf('jsonBody');
	const given = [item.setting('jsonBody', z.unknown(), '')].flat();
	return given.map((value, index, { length }) => {
		const parameter = length > 1 ? `Document ${index + 1} of ${label}` : label;
		return jsonDocument(item, readRecord(value, parameter), { parameter });
	});
}

/** Reads the documents of a file of records, in groups. Yields an error for each unreadable record. */
async function* readRecords(item: Item): AsyncGenerator<Array<FoundDocument | ItemError>> {
	const field = binaryOf(item);
	const readRecord = recordReader(item);
	const path = textIfGiven(item, 'textField');
	const documentOf = (read: FileRecord) => {
		const { position: parameter } = read;
		let key: string | undefined;
		try {
			if ('issue' in read) return item.refuse({ field: parameter, rule: read.issue });
			const found = readRecord(read.value, parameter);
			({ key } = found);
			return path === undefined
				? jsonDocument(item, found, { parameter })
				: withText(item, found, path, parameter, field);
		} catch (caught) {
			const error = item.asError(caught);
			error.description = 'This record was not sent. Correct the file, then run the node again.';
			return refusedWith(key, error);
		}
	};
	for await (const group of jsonRecords(textChunks(item, field))) yield group.map(documentOf);
}

/** Why a record without content is rejected. An object may wrap the list of the documents. */
function emptyRule(record: DocumentRecord): string {
	const lists = Object.entries(record).filter(([, value]) => Array.isArray(value));
	const [[name, list] = []] = lists;
	const isWrapper = lists.length === 1 && (list as unknown[]).some(isJsonObject);
	return isWrapper
		? `is one object whose list ${quoted(name)} holds the documents: give that list alone`
		: 'has no ID, name, text, page, chunk, file ID or address';
}

/** Rejects an item of which no field of a document was filled. Names the columns of the item. */
function refuseUnmapped(item: Item): never {
	const columns = Object.keys(item.input.json).slice(0, MAX_COLUMNS_NAMED);
	const found = columns.length > 0 ? `; the item has ${columns.join(', ')}` : '';
	const rule = `must give the document a name, a text, a page, a chunk, a file ID or an address${found}`;
	return item.refuseField('documentFields', rule);
}

const MAX_COLUMNS_NAMED = 5;

/** Makes a document from a record. A record with a key or an ID may be empty. */
function jsonDocument(item: Item, found: FoundDocument, naming: Naming): FoundDocument {
	if (!found.key && !found.record.id && isWithoutContent(found.record))
		item.refuse({ field: fieldName([], naming), rule: emptyRule(found.record) });
	return Object.assign(found, readyRecord(item, found.record, naming));
}

/** Makes a document from a record with a text at `path`. The node uploads the text as a file. */
function withText(
	item: Item,
	found: FoundDocument,
	path: string,
	position: string,
	{ property, binary }: BinaryField,
): FoundDocument {
	const text = ownValue(found.record, path);
	const field = `${position}: "${item.labelOf('textField')}"`;
	if (!isText(text))
		return item.refuse({ field, rule: `names ${quoted(path)}, which holds no text here` });
	if (hasLoneSurrogate(text)) item.refuse({ field, rule: LONE_SURROGATE_RULE });
	const rest: DocumentRecord = omit(found.record, path);
	// Records of different files need different names.
	const line = position.replace(' of the file', '').toLowerCase();
	const name = isText(rest.name) ? rest.name : `${binary.fileName || property}, ${line}`;
	return { ...found, ...textDocument(item, { ...rest, name }, text) };
}
