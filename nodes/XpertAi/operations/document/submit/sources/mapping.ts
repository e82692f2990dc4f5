import castArray from 'lodash/castArray';
import difference from 'lodash/difference';
import isNil from 'lodash/isNil';
import map from 'lodash/map';
import mapValues from 'lodash/mapValues';
import omitBy from 'lodash/omitBy';
import sortBy from 'lodash/sortBy';
import uniqBy from 'lodash/uniqBy';
import type { FieldType, IDataObject } from 'n8n-workflow';

import { textField } from '../../../../execution/fields';
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

/** The names of document fields in messages, as the mapper shows them. */
export const DOCUMENT_NAMING = { fields: namedFields() };

function namedFields(): Field[] {
	const groups = [pagesField, chunksField, parserConfigField('')];
	return Object.keys(document.shape).map(
		(name) => groups.find((one) => one.name === name) ?? textField(name, documentFieldName(name)),
	);
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
	const { columns, fields: mapped, text, unused: unusedColumns } = mappedColumns(item);
	const parts = item.values([pagesField, chunksField]) as Record<string, IDataObject[]>;
	for (const [list, added] of Object.entries(parts))
		mapped[list] = [...castArray(mapped[list] ?? []), ...added] as IDataObject[];
	// A text column becomes a page, unless the item has pages or chunks.
	if (text !== undefined && (mapped.pages || mapped.chunks)) unusedColumns.push(text);
	else if (text !== undefined) mapped.pages = [{ pageContent: String(columns[text]) }];
	return { record: item.check(document, prepare(mapped), DOCUMENT_NAMING), unusedColumns };
}

/** The columns mapped to document fields: automatically by name, or by hand. */
function mappedColumns(item: Item) {
	const { mappingMode, value } = mapperOf(item);
	const byHand = isJsonObject(value) ? omitBy(value, isNil) : {};
	const columns: IDataObject = mappingMode === 'autoMapInputData' ? item.json : byHand;
	const mapped = mapColumns(columns);
	return { ...mapped, columns, fields: withTypes(item, mapped.fields) };
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

/** Converts columns to the types of their fields: tables hold numbers as text, and codes as numbers. */
function withTypes(item: Item, columns: IDataObject): IDataObject {
	return mapValues(columns, (column, name) => {
		// IDs are never converted.
		const type = name === 'id' ? undefined : FIELD_TYPES[name];
		if (type === 'string' || type === 'number' || type === 'boolean')
			return typedValue(type, column) as typeof column;
		const value = isoText(column);
		const isJson = typeof value === 'string' && (type === 'object' || type === 'array');
		return (isJson ? item.parsed(documentFieldName(name), value) : value) as typeof column;
	});
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

/**
 * Maps columns to the fields of a document by name: first the names of the contract, then the usual names. Empty
 * columns are left out, except an empty folder, which takes the document out of its folder.
 */
export function mapColumns(columns: IDataObject) {
	const fields: IDataObject = {};
	const others: string[] = [];
	for (const [name, column] of Object.entries(columns)) {
		if (column === undefined || (column === '' && name !== 'folder')) continue;
		if (isDocumentField(name)) fields[name] = column;
		else if (column !== null) others.push(name);
	}
	const matches = sortBy(
		others.flatMap((name) => findMatch(name, columns[name]) ?? []),
		'rank',
	);
	const best = uniqBy(matches, 'target').filter(({ target }) => !Object.hasOwn(fields, target));
	const unused = difference(others, map(best, 'name'));
	const text = best.find(({ target }) => target === 'text')?.name;
	for (const { target, name } of best) if (name !== text) fields[target] = columns[name];
	return {
		fields,
		/** The column that holds the text. */
		text,
		/** Non-empty columns that match nothing. */
		unused,
	};
}

function findMatch(name: string, column: unknown) {
	const match = RANKED.get(normalizedName(name));
	return match && (VALUE_CHECKS[match.target] ?? isScalar)(column) ? { ...match, name } : undefined;
}
