import isNil from 'lodash/isNil';
import mapValues from 'lodash/mapValues';
import omitBy from 'lodash/omitBy';
import type { FieldType, IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import { checkInput } from '../../execution/badInput';
import { isoText, readFields, readJson, readText, typedValue } from '../../execution/readFields';
import type { ItemReader } from '../../execution/readFields';
import { readOption } from '../../execution/readOptions';
import { cutText } from '../../ingest/textParts';
import type { CutOptions } from '../../ingest/textParts';
import { document, isDocument } from '../../payloads/document';
import type { DocumentRecord } from '../../payloads/document';
import { documentFieldName, documentFieldType } from '../../pickers/documentFields';
import { isJsonObject } from '../../transport/answer';
import { parserConfigField } from '../shared/parserConfig';
import { mapColumns } from './columns';
import type { MappedColumns } from './columns';
import { chunksField, pagesField } from './pages';
import { textOptions } from './submitFields';

/** Fields a mapped column may hold as JSON text. */
const JSON_FIELDS = [
	'metadata',
	'parserConfig',
	'sourceConfig',
	'options',
	'draft',
	'pages',
	'chunks',
];

/** Names of the mapped fields, as the editor shows them. */
const FIELD_NAMES = mapValues(document.shape, (_, id) => documentFieldName(id));

const FIELD_TYPES: Record<string, FieldType | undefined> = mapValues(
	document.shape,
	documentFieldType,
);

/** How messages name the parts of a document that fields make. */
export const DOCUMENT_NAMES = {
	fields: [pagesField, chunksField, parserConfigField('')],
	labels: FIELD_NAMES,
};

/** What the making of documents from fields may be told, and tells. */
interface Making {
	/** What is done to a document before it is checked. */
	prepared?: (document: unknown) => unknown;
	/** Gathers the columns that match no field of a document. */
	unusedColumns?: Set<string>;
}

/**
 * The document an item's fields make.
 *
 * @throws NodeOperationError naming the field, the item and what is expected
 */
export function documentFromFields(
	reader: ItemReader,
	{ prepared = (made) => made, unusedColumns }: Making = {},
): DocumentRecord {
	const source = { node: reader.context.getNode(), itemIndex: reader.itemIndex };
	const { fields: mapped, text, unused } = mappedColumns(reader);
	const typed = readFields(reader, [pagesField, chunksField]);
	addParts(mapped, 'pages', typed.pages);
	addParts(mapped, 'chunks', typed.chunks);
	const takesColumn = text && !mapped.pages && !mapped.chunks && !saysText(reader);
	const { storeAs, parts } = textParts(
		reader,
		takesColumn ? text.value : readText(reader, 'text', 'Text'),
	);
	addParts(mapped, storeAs, parts);
	if (text && !takesColumn) unused.push(text.column);
	for (const name of unused) unusedColumns?.add(name);
	const made = prepared(mapped);
	if (isDocument(made)) return made;
	return checkInput(document, made, { ...source, ...DOCUMENT_NAMES });
}

function addParts(mapped: IDataObject, list: 'pages' | 'chunks', parts: unknown): void {
	if (!Array.isArray(parts) || parts.length === 0) return;
	const already = mapped[list];
	mapped[list] = [...(Array.isArray(already) ? already : []), ...parts];
}

/** Columns that match document fields by their names, or the fields mapped by hand. */
function mappedColumns(reader: ItemReader): MappedColumns {
	const { context, itemIndex } = reader;
	const mapper: unknown = context.getNodeParameter('documentFields', itemIndex, {});
	const { mappingMode, value } = isJsonObject(mapper) ? mapper : {};
	if (mappingMode === 'autoMapInputData') {
		const columns = mapColumns(context.getInputData()[itemIndex]?.json ?? {});
		return { ...columns, fields: withTypes(reader, columns.fields) };
	}
	const filled = omitBy(
		isJsonObject(value) ? value : {},
		(column, name) => column === '' || isNil(column) || !Object.hasOwn(document.shape, name),
	);
	return { fields: withTypes(reader, filled), unused: [] };
}

/** The values as their fields take them. */
function withTypes(reader: ItemReader, filled: IDataObject): IDataObject {
	for (const name of Object.keys(filled))
		filled[name] = columnValue(name, filled[name]) as IDataObject[string];
	for (const name of JSON_FIELDS) {
		const column = filled[name];
		if (typeof column === 'string')
			filled[name] = readJson(reader, documentFieldName(name), column) as IDataObject[string];
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

/** Whether Text says itself what the text is, be it nothing. */
function saysText({ context }: ItemReader): boolean {
	const { text } = context.getNode().parameters;
	return typeof text === 'string' && text !== '';
}

function textParts(
	reader: ItemReader,
	whole: string,
): { storeAs: 'pages' | 'chunks'; parts: IDataObject[] } {
	const { context, itemIndex } = reader;
	const options: unknown = context.getNodeParameter('textOptions', itemIndex, {});
	const given = isJsonObject(options) ? options : {};
	const storeAs = given.storeAs === 'chunks' ? 'chunks' : 'pages';
	if (whole === '') return { storeAs, parts: [] };
	const parts =
		given.chunkSize === undefined ? [whole] : cutText(whole, readCutOptions(reader, given));
	return { storeAs, parts: parts.map((pageContent) => ({ pageContent })) };
}

const DEFAULT_DELIMITER = '\\n\\n \\n .';

function readCutOptions(reader: ItemReader, given: IDataObject): CutOptions {
	const chunkSize = readOption(reader, textOptions, 'chunkSize', z.number().int().min(1));
	const smaller = z
		.number()
		.int()
		.min(0)
		.max(chunkSize - 1);
	return {
		chunkSize,
		chunkOverlap:
			given.chunkOverlap === undefined
				? 0
				: readOption(reader, textOptions, 'chunkOverlap', smaller),
		delimiter: readText(reader, 'textOptions.delimiter', 'Delimiter', DEFAULT_DELIMITER),
	};
}
