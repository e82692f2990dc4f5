import isEmpty from 'lodash/isEmpty';
import isNil from 'lodash/isNil';
import mapValues from 'lodash/mapValues';
import type { FieldType, IDataObject } from 'n8n-workflow';

import type { Field } from '../../../../execution/fields';
import type { Item } from '../../../../execution/item';
import { isoText, typedValue } from '../../../../execution/values';
import { isUuid } from '../../../../payloads/common';
import { document, isDocumentField } from '../../../../payloads/document';
import type { DocumentField, DocumentRecord } from '../../../../payloads/document';
import { documentFieldName, documentFieldType } from '../../../../pickers/documentFields';
import { isJsonObject } from '../../../../transport/answer';
import { parserConfigField } from '../../../shared/fields';
import { chunksField, pagesField } from './parts';

const FIELD_TYPES: Record<string, FieldType | undefined> = mapValues(
	document.shape,
	documentFieldType,
);

const PART_FIELDS = [pagesField, chunksField];

/** Fields whose columns may hold JSON text. */
const JSON_FIELDS = new Set(
	Object.keys(FIELD_TYPES).filter((name) => ['object', 'array'].includes(FIELD_TYPES[name] ?? '')),
);

/** The names of document fields in messages, as the mapper shows them. */
export const DOCUMENT_NAMING = { fields: namedFields() };

function namedFields(): Field[] {
	const groups = [pagesField, chunksField, parserConfigField('')];
	return Object.keys(document.shape).map((name) => {
		const group = groups.find((one) => one.name === name);
		const field: Field = { displayName: '', name, type: 'string', default: '', ...group };
		return { ...field, displayName: documentFieldName(name) };
	});
}

/**
 * The document made of an item's fields.
 *
 * @param prepare applied before the document is checked
 * @returns also the columns that match no field of a document
 * @throws NodeOperationError naming the field, the item and what is expected
 */
export function documentFromFields(
	item: Item,
	prepare: (document: unknown) => unknown = (document) => document,
): { record: DocumentRecord; unusedColumns: string[] } {
	const { fields: mapped, text, unused: unusedColumns } = mappedColumns(item);
	const partFields = PART_FIELDS.filter(({ name }) => !isEmpty(item.parameter(name)));
	const typed = partFields.length > 0 ? item.values(partFields) : {};
	addParts(mapped, 'pages', typed.pages);
	addParts(mapped, 'chunks', typed.chunks);
	// A text column becomes a page, unless the item has pages or chunks.
	if (text && (mapped.pages || mapped.chunks)) unusedColumns.push(text.column);
	else if (text) mapped.pages = [{ pageContent: text.value }];
	return { record: item.check(document, prepare(mapped), DOCUMENT_NAMING), unusedColumns };
}

function addParts(mapped: IDataObject, list: 'pages' | 'chunks', parts: unknown): void {
	if (!Array.isArray(parts) || parts.length === 0) return;
	const existing = mapped[list];
	mapped[list] = [...(Array.isArray(existing) ? existing : []), ...parts];
}

/** The columns mapped to document fields: automatically by name, or by hand. */
function mappedColumns(item: Item): MappedColumns {
	const { mappingMode, value } = mapperOf(item);
	if (mappingMode === 'autoMapInputData') {
		const columns = mapColumns(item.json);
		return { ...columns, fields: withTypes(item, columns.fields) };
	}
	const filled: IDataObject = {};
	for (const [name, column] of Object.entries(isJsonObject(value) ? value : {}))
		if ((column !== '' || name === 'folder') && !isNil(column) && isDocumentField(name))
			filled[name] = column;
	return { fields: withTypes(item, filled), unused: [] };
}

/**
 * The state of the mapper. For each item, n8n would resolve all of it, including the list of all fields that the
 * editor stores. So only the values are read, unless an expression gives the whole.
 */
function mapperOf(item: Item): { mappingMode?: unknown; value?: unknown } {
	const stored: unknown = item.context.getNode().parameters.documentFields;
	const mappingMode = isJsonObject(stored) ? stored.mappingMode : undefined;
	if (mappingMode === 'autoMapInputData') return { mappingMode };
	if (mappingMode === 'defineBelow')
		return { mappingMode, value: item.parameter('documentFields.value', {}) };
	const mapper = item.parameter('documentFields', {});
	return isJsonObject(mapper) ? mapper : {};
}

/** Converts values to the types of their fields. */
function withTypes(item: Item, filled: IDataObject): IDataObject {
	for (const name of Object.keys(filled)) {
		const typed = columnValue(name, filled[name]);
		filled[name] = (
			JSON_FIELDS.has(name) && typeof typed === 'string'
				? item.parsed(documentFieldName(name), typed)
				: typed
		) as IDataObject[string];
	}
	return filled;
}

/** Converts a column's value to the type of its field: tables hold numbers as text, and codes as numbers. */
function columnValue(name: string, column: unknown): unknown {
	const type = FIELD_TYPES[name];
	// IDs are never converted.
	if (name === 'id' || (type !== 'string' && type !== 'number' && type !== 'boolean'))
		return isoText(column);
	return typedValue(type, column);
}

/** A field of a document, or its text, which becomes a page. */
type Target = DocumentField | 'text';

/**
 * The usual column names for each field, best first. Names are compared without case, blanks, hyphens and
 * underscores: `File_Name` is `filename`. Other fields match only their names in the contract, above all those that
 * servers set themselves: a row's `ID` or `created_at` is its own.
 */
const ALIASES: Array<[Target, string[]]> = [
	// A path is a name, never a filePath: the server would look for that on its own disk.
	['name', ['name', 'title', 'filename', 'documentname', 'path', 'file']],
	['text', ['text', 'content', 'pagecontent', 'body', 'markdown', 'plaintext']],
	['fileUrl', ['fileurl', 'url', 'link', 'uri', 'href', 'address', 'downloadurl']],
	['filePath', ['filepath']],
	['storageFileId', ['storagefileid']],
	['mimeType', ['mimetype', 'contenttype', 'mediatype']],
	['type', ['type']],
	['size', ['size', 'filesize', 'bytes']],
	['metadata', ['metadata', 'meta']],
	['disabled', ['disabled']],
];

/** Checks of values for fields that are matched by a usual name: an address may be that of a house. */
const VALUE_CHECKS: Partial<Record<Target, (column: unknown) => boolean>> = {
	fileUrl: (column) => typeof column === 'string' && /^https?:\/\//i.test(column.trim()),
	storageFileId: (column) => typeof column === 'string' && isUuid(column),
	size: (column) => typeof column === 'number',
	metadata: isJsonObject,
	disabled: (column) => typeof column === 'boolean',
};

const isScalar = (column: unknown) => typeof column !== 'object';

const normalizedName = (name: string) => name.toLowerCase().replace(/[\s_-]/g, '');

/** The field of each usual name, and its rank; lower is better. */
const RANKED = new Map(
	ALIASES.flatMap(([target, names]) =>
		names.map((name, rank) => [name, { target, rank }] as const),
	),
);

/** The mapping of an item's columns (Map Automatically). */
export interface MappedColumns {
	/** Fields of the document with the values of their columns. */
	fields: IDataObject;
	/** The column that holds the text, if there is one. */
	text?: { column: string; value: string };
	/** Non-empty columns that match nothing. */
	unused: string[];
}

/**
 * Maps columns to the fields of a document by name: first the names of the contract, then the usual names. Empty
 * columns are left out, except an empty folder, which takes the document out of its folder.
 */
export function mapColumns(columns: IDataObject): MappedColumns {
	const fields: IDataObject = {};
	const unused: string[] = [];
	const otherColumns: string[] = [];
	for (const [name, column] of Object.entries(columns)) {
		if (column === undefined || (column === '' && name !== 'folder')) continue;
		if (isDocumentField(name)) fields[name] = column;
		else if (column !== null) otherColumns.push(name);
	}
	if (otherColumns.length === 0) return { fields, unused };
	const matches = new Map<Target, { name: string; rank: number }>();
	for (const name of otherColumns) {
		const match = findMatch(name, columns[name]);
		const before = match && matches.get(match.target);
		const isFree = match && !Object.hasOwn(fields, match.target);
		if (isFree && (before === undefined || match.rank < before.rank)) {
			matches.set(match.target, { name, rank: match.rank });
			if (before) unused.push(before.name);
		} else {
			unused.push(name);
		}
	}
	const text = matches.get('text')?.name;
	matches.delete('text');
	for (const [target, { name }] of matches) fields[target] = columns[name];
	return {
		fields,
		unused,
		...(text === undefined ? {} : { text: { column: text, value: String(columns[text]) } }),
	};
}

function findMatch(name: string, column: unknown): { target: Target; rank: number } | undefined {
	const match = RANKED.get(normalizedName(name));
	return match && (VALUE_CHECKS[match.target] ?? isScalar)(column) ? match : undefined;
}
