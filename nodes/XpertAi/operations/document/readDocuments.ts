import omitBy from 'lodash/omitBy';
import type { IDataObject } from 'n8n-workflow';

import { badInput, checkInput } from '../../execution/badInput';
import { isJsonMode } from '../../execution/readBody';
import { readFields, readJson } from '../../execution/readFields';
import type { ItemReader } from '../../execution/readFields';
import { document, documents } from '../../payloads/document';
import type { DocumentRecord } from '../../payloads/document';
import { isJsonObject } from '../../transport/answer';
import { DISPLAY_NAMES } from '../shared/fields';
import { chunksField, pagesField } from './pages';

const JSON_FIELDS = [
	'metadata',
	'parserConfig',
	'sourceConfig',
	'options',
	'draft',
	'pages',
	'chunks',
];

/**
 * The documents of one input item: one from its fields, or those of its JSON.
 *
 * @throws NodeOperationError naming the field, the item and what is expected
 */
export function readDocuments(reader: ItemReader): DocumentRecord[] {
	const source = { node: reader.context.getNode(), itemIndex: reader.itemIndex };
	if (!isJsonMode(reader)) {
		return [
			checkInput(document, mappedDocument(reader), {
				...source,
				fields: [pagesField, chunksField],
			}),
		];
	}
	const parameter = DISPLAY_NAMES.jsonBody;
	const raw: unknown = reader.context.getNodeParameter('jsonBody', reader.itemIndex, undefined);
	const json = readJson(reader, parameter, raw);
	if (json === undefined) throw badInput(source, `"${parameter}"`, 'must not be empty');
	return checkInput(documents, json, { ...source, parameter });
}

/** Columns with the names of document fields, or the fields mapped by hand; pages and chunks are added to either. */
function mappedDocument(reader: ItemReader): IDataObject {
	const mapped = mappedColumns(reader);
	const typed = readFields(reader, [pagesField, chunksField]);
	const lists = ['pages', 'chunks'] as const;
	for (const list of lists) {
		const added = typed[list];
		if (Array.isArray(added) && added.length > 0) {
			mapped[list] = [...(Array.isArray(mapped[list]) ? mapped[list] : []), ...added];
		}
	}
	return mapped;
}

function mappedColumns(reader: ItemReader): IDataObject {
	const { context, itemIndex } = reader;
	const mapper: unknown = context.getNodeParameter('documentFields', itemIndex, {});
	const automatic = isJsonObject(mapper) && mapper.mappingMode === 'autoMapInputData';
	const columns = automatic
		? context.getInputData()[itemIndex]?.json
		: isJsonObject(mapper)
			? mapper.value
			: {};
	const known = omitBy(
		columns as IDataObject,
		(value, name) => value === undefined || !(name in document.shape),
	);
	const filled = automatic ? known : omitBy(known, (value) => value === null || value === '');
	for (const name of JSON_FIELDS) {
		if (typeof filled[name] === 'string') {
			filled[name] = readJson(reader, name, filled[name]) as IDataObject[string];
		}
	}
	return filled;
}
