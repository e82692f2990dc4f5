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
import { parserConfigField } from '../../../shared/parserConfig';
import { chunksField, pagesField } from './parts';

const FIELD_TYPES: Record<string, FieldType | undefined> = mapValues(
	document.shape,
	documentFieldType,
);

const PART_FIELDS = [pagesField, chunksField];

/** Fields a mapped column may hold as JSON text. */
const JSON_FIELDS = new Set(
	Object.keys(FIELD_TYPES).filter((name) => ['object', 'array'].includes(FIELD_TYPES[name] ?? '')),
);

/** How messages name the parts of a document that fields make: as the mapper shows them. */
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
 * The document an item's fields make.
 *
 * @param prepared what is done to it before it is checked
 * @returns also the columns that match no field of a document
 * @throws NodeOperationError naming the field, the item and what is expected
 */
export function documentFromFields(
	item: Item,
	prepared: (document: unknown) => unknown = (document) => document,
): { made: DocumentRecord; unusedColumns: string[] } {
	const { fields: mapped, text, unused: unusedColumns } = mappedColumns(item);
	const filled = PART_FIELDS.filter(({ name }) => !isEmpty(item.parameter(name)));
	const typed = filled.length > 0 ? item.values(filled) : {};
	addParts(mapped, 'pages', typed.pages);
	addParts(mapped, 'chunks', typed.chunks);
	// A column with the text becomes a page, unless the item has pages or chunks.
	if (text && (mapped.pages || mapped.chunks)) unusedColumns.push(text.column);
	else if (text) mapped.pages = [{ pageContent: text.value }];
	return { made: item.check(document, prepared(mapped), DOCUMENT_NAMING), unusedColumns };
}

function addParts(mapped: IDataObject, list: 'pages' | 'chunks', parts: unknown): void {
	if (!Array.isArray(parts) || parts.length === 0) return;
	const already = mapped[list];
	mapped[list] = [...(Array.isArray(already) ? already : []), ...parts];
}

/** Columns that match document fields by their names, or the fields mapped by hand. */
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
 * What the mapper says. n8n resolves all of it for each item that differs, also the list of all fields the
 * editor keeps beside the values: so only the values are asked for, unless an expression gives the whole.
 */
function mapperOf(item: Item): { mappingMode?: unknown; value?: unknown } {
	const kept: unknown = item.context.getNode().parameters.documentFields;
	const mappingMode = isJsonObject(kept) ? kept.mappingMode : undefined;
	if (mappingMode === 'autoMapInputData') return { mappingMode };
	if (mappingMode === 'defineBelow')
		return { mappingMode, value: item.parameter('documentFields.value', {}) };
	const mapper = item.parameter('documentFields', {});
	return isJsonObject(mapper) ? mapper : {};
}

/** The values as their fields take them. */
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

/** A column's value as its field takes it: files of rows hold numbers as text, and tables codes as numbers. */
function columnValue(name: string, column: unknown): unknown {
	const type = FIELD_TYPES[name];
	// What the server knows a document by is not to be guessed at.
	if (name === 'id' || (type !== 'string' && type !== 'number' && type !== 'boolean'))
		return isoText(column);
	return typedValue(type, column);
}

/** A field of a document, or its text, which becomes pages or chunks. */
type Target = DocumentField | 'text';

/**
 * The usual names of columns and what they are mapped to, best first. Names are compared without case,
 * blanks, hyphens and underscores: `File_Name` is `filename`. Fields that are not here take no other
 * name than the contract's, above all those a server keeps itself: a row's `ID` or `created_at` is its own.
 */
const ALIASES: Array<[Target, string[]]> = [
	// A path is a name and never a filePath: the server looks for that on its own disk and does not find it.
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

/** What a column must look like to be taken for a field it is not named after; an address may be that of a house. */
const LOOKS: Partial<Record<Target, (column: unknown) => boolean>> = {
	fileUrl: (column) => typeof column === 'string' && /^https?:\/\//i.test(column.trim()),
	storageFileId: (column) => typeof column === 'string' && isUuid(column),
	size: (column) => typeof column === 'number',
	metadata: isJsonObject,
	disabled: (column) => typeof column === 'boolean',
};

const isScalar = (column: unknown) => typeof column !== 'object';

const bare = (name: string) => name.toLowerCase().replace(/[\s_-]/g, '');

/** What each of the usual names is mapped to and how good it is; the lower, the better. */
const RANKED = new Map(
	ALIASES.flatMap(([target, names]) =>
		names.map((name, rank) => [name, { target, rank }] as const),
	),
);

/** What the columns of an item are mapped to (Map Automatically). */
export interface MappedColumns {
	/** Fields of the document with the values of their columns. */
	fields: IDataObject;
	/** The column that holds the text, if there is one. */
	text?: { column: string; value: string };
	/** Columns with something in them that match nothing. */
	unused: string[];
}

/**
 * Maps columns to the fields of a document by their names: first those of the contract, then the usual
 * ones. Columns left empty are left out, but for an empty folder: the document is in none.
 */
export function mapColumns(columns: IDataObject): MappedColumns {
	const fields: IDataObject = {};
	const unused: string[] = [];
	const others: string[] = [];
	for (const [name, column] of Object.entries(columns)) {
		if (column === undefined || (column === '' && name !== 'folder')) continue;
		if (isDocumentField(name)) fields[name] = column;
		else if (column !== null) others.push(name);
	}
	if (others.length === 0) return { fields, unused };
	const found = new Map<Target, { name: string; rank: number }>();
	for (const name of others) {
		const match = matchOf(name, columns[name]);
		const before = match && found.get(match.target);
		const better = match && !Object.hasOwn(fields, match.target);
		if (better && (before === undefined || match.rank < before.rank)) {
			found.set(match.target, { name, rank: match.rank });
			if (before) unused.push(before.name);
		} else {
			unused.push(name);
		}
	}
	const text = found.get('text')?.name;
	found.delete('text');
	for (const [target, { name }] of found) fields[target] = columns[name];
	return {
		fields,
		unused,
		...(text === undefined ? {} : { text: { column: text, value: String(columns[text]) } }),
	};
}

function matchOf(name: string, column: unknown): { target: Target; rank: number } | undefined {
	const match = RANKED.get(bare(name));
	return match && (LOOKS[match.target] ?? isScalar)(column) ? match : undefined;
}
