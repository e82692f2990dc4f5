import groupBy from 'lodash/groupBy';
import isNil from 'lodash/isNil';
import mapKeys from 'lodash/mapKeys';
import mapValues from 'lodash/mapValues';
import omitBy from 'lodash/omitBy';
import type { FieldType, IDataObject } from 'n8n-workflow';

import { textField } from '../../../../execution/fields';
import type { Item } from '../../../../execution/item';
import { isoText, jsonValue, typedValue } from '../../../../execution/values';
import { isUuid } from '../../../../payloads/common';
import { document, documentWith, isDocumentField } from '../../../../payloads/document';
import type { DocumentField } from '../../../../payloads/document';
import { documentFieldName, documentFieldType } from '../../../../pickers/documentFields';
import { isJsonObject } from '../../../../transport/answer';
import { parserConfigField } from '../../../shared/fields';

const FIELD_TYPES: Record<string, FieldType | undefined> = mapValues(
	document.shape,
	documentFieldType,
);

/** The names of document fields in messages, as the mapper shows them. */
export const DOCUMENT_NAMING = {
	fields: Object.keys(document.shape).map((name) =>
		name === 'parserConfig' ? parserConfigField('') : textField(name, documentFieldName(name)),
	),
};

/**
 * The document made of an item's fields.
 *
 * @param prepare applied before the document is checked
 * @returns also the columns that match no field of a document
 * @throws NodeOperationError naming the field, the item and what is expected
 */
export function documentFromFields(item: Item, prepare: (document: unknown) => unknown) {
	const columns = columnsOf(item);
	const { fields, text, unused: unusedColumns } = mapColumns(columns);
	const mapped = withTypes(item, fields);
	// A text column becomes a page, unless the item has pages or chunks.
	if (text !== undefined && (mapped.pages || mapped.chunks)) unusedColumns.push(text);
	else if (text !== undefined) mapped.pages = [{ pageContent: String(columns[text]) }];
	const record = item.check(documentWith(mapped), prepare(mapped), DOCUMENT_NAMING);
	return { record, unusedColumns };
}

/**
 * The columns to map: those of the item, or those filled in by hand. For each item, n8n would resolve all of the
 * mapper, including the list of all fields that the editor stores. So only the values are read, unless an expression
 * gives the whole.
 */
function columnsOf(item: Item): IDataObject {
	const stored = item.context.getNode().parameters.documentFields;
	const mapper = isJsonObject(stored) ? stored : item.parameter('documentFields', {});
	const { mappingMode, value } = (mapper ?? {}) as IDataObject;
	// A row that its table calls disabled may be meant to be found: that takes a mapping by hand.
	if (mappingMode === 'autoMapInputData')
		return mapKeys(item.json, (_, name) => (name === 'disabled' ? 'Disabled' : name));
	const byHand = mapper === stored ? item.parameter('documentFields.value', {}) : value;
	return isJsonObject(byHand) ? omitBy(byHand, isNil) : {};
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
		return (
			isJson ? item.check(jsonValue, value, { parameter: documentFieldName(name) }) : value
		) as typeof column;
	});
}

/**
 * The usual column names for each field, and for the text, best first. Names are compared without case, blanks, hyphens
 * and underscores: `File_Name` is `filename`. Other fields match only their names in the contract, above all those that
 * servers set themselves: a row's `ID` or `created_at` is its own.
 */
const ALIASES = {
	// A path is a name, never a filePath: the server would look for that on its own disk.
	name: ['name', 'title', 'filename', 'documentname', 'path', 'file'],
	text: ['text', 'content', 'pagecontent', 'body', 'markdown', 'plaintext'],
	fileUrl: ['fileurl', 'url', 'link', 'uri', 'href', 'address', 'downloadurl'],
	filePath: ['filepath'],
	storageFileId: ['storagefileid'],
	mimeType: ['mimetype', 'contenttype', 'mediatype'],
	type: ['type'],
	size: ['size', 'filesize', 'bytes'],
	metadata: ['metadata', 'meta'],
} satisfies Partial<Record<DocumentField | 'text', string[]>>;

/** Checks of values for fields that are matched by a usual name: an address may be that of a house. */
const VALUE_CHECKS: Record<string, ((column: unknown) => boolean) | undefined> = {
	fileUrl: (column) => typeof column === 'string' && /^https?:\/\//i.test(column.trim()),
	storageFileId: (column) => typeof column === 'string' && isUuid(column),
	size: (column) => typeof column === 'number',
	metadata: isJsonObject,
};

const normalizedName = (name: string) => name.toLowerCase().replace(/[\s_-]/g, '');

/**
 * Maps columns to the fields of a document by name: first the names of the contract, then the usual names. Empty
 * columns are left out, except an empty folder, which takes the document out of its folder.
 *
 * @returns the fields, the column that holds the text, and the non-empty columns that match nothing
 */
export function mapColumns(columns: IDataObject) {
	const fields: IDataObject = {};
	const others: string[] = [];
	for (const [name, column] of Object.entries(columns)) {
		const isBlank = typeof column === 'string' && column.trim() === '';
		if (column === undefined || (isBlank && name !== 'folder')) continue;
		if (isDocumentField(name)) fields[name] = column;
		else if (column !== null) others.push(name);
	}
	const byName = groupBy(others, normalizedName);
	const unused = new Set(others);
	let text: string | undefined;
	for (const [target, aliases] of Object.entries(ALIASES)) {
		if (!isNil(fields[target])) continue;
		const fits = VALUE_CHECKS[target] ?? ((column: unknown) => typeof column !== 'object');
		const named = aliases.flatMap((alias) => byName[alias] ?? []);
		const name = named.find((one) => fits(columns[one]));
		if (name === undefined) continue;
		unused.delete(name);
		if (target === 'text') text = name;
		else fields[target] = columns[name];
	}
	return { fields, text, unused: [...unused] };
}
