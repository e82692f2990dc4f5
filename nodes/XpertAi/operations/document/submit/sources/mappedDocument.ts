import { isNil, mapValues, memoize, omit, omitBy, pick } from 'lodash';
import type { IDataObject } from 'n8n-workflow';

import type { FieldValues } from '../../../../execution/fieldBuilders';
import { fieldValuesSchema } from '../../../../execution/fieldSchemas';
import { isParameterFilled } from '../../../../execution/givenValues';
import { valueOrThrowIfMissing } from '../../../../execution/identityFields';
import { fieldLabel } from '../../../../execution/issueText';
import type { Item } from '../../../../execution/item';
import { isJsonObject } from '../../../../payloads/json';
import { documentSchemaFor } from '../../../../payloads/document';
import { HOW_TO_SEND_A_TEXT } from '../fields';
import { DOCUMENT_FIELD_NAMING, DOCUMENT_FIELDS, mapColumns } from './columns';
import type { InputDocument } from './inputDocument';
import { isWithoutContent, readyRecord } from './readyRecord';

/**
 * Returns the document fields with the given space-separated names. Memoized, because the cache of `fieldValuesSchema` needs
 * the same array object each time.
 */
const fieldsNamed = memoize((names: string) =>
	DOCUMENT_FIELDS.filter(({ name }) => names.split(' ').includes(name)),
);

/**
 * Makes a document from the fields of an item. Converts values to the types of the fields.
 *
 * @throws NodeOperationError if a value is not valid, or if the document has neither a name nor content and does not
 * enable or disable a stored document
 */
export function readMappedDocument(item: Item): InputDocument {
	const { columns, fields, textColumn, unused: unusedColumns } = mappedColumns(item);
	const hasKey = isParameterFilled(item.node, 'documentKey');
	const schema = fieldValuesSchema(fieldsNamed(Object.keys(fields).sort().join(' ')));
	const typed = item.check(schema, omit(fields, 'id'), DOCUMENT_FIELD_NAMING);
	const mapped: FieldValues = {
		// Keeps an empty folder, which the schema drops: it takes the document out of its current folder. `typed` overwrites
		// any other folder.
		...pick(fields, 'folder'),
		...typed,
		// The ID is taken as given, because the schema would convert it. A key replaces the ID.
		...(!hasKey && pick(fields, 'id')),
	};
	// Pages and chunks already hold the text of the document.
	if (textColumn !== undefined && (mapped.pages || mapped.chunks)) unusedColumns.push(textColumn);
	else if (textColumn !== undefined) mapped.pages = [{ pageContent: String(columns[textColumn]) }];
	const record = item.check(documentSchemaFor(mapped), mapped, DOCUMENT_FIELD_NAMING);
	// Only a record that enables or disables a stored document may be empty. On Xpert, any other empty record could
	// clear a stored document.
	const isSwitch = typeof record.disabled === 'boolean' && (hasKey || record.id);
	if (!isSwitch && isWithoutContent(record)) throwEmptyDocument(item);
	return { ...readyRecord(item, record, DOCUMENT_FIELD_NAMING), unusedColumns };
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
		valueOrThrowIfMissing(item, fieldLabel([name], DOCUMENT_FIELD_NAMING), value),
	) as IDataObject;
	return mapColumns(omitBy(present, isNil));
}

/** Rejects an item that gives the document neither a name nor content. The error names the first columns of the item. */
function throwEmptyDocument(item: Item): never {
	const columns = Object.keys(item.input.json).slice(0, MAX_COLUMNS_NAMED);
	const found = columns.length > 0 ? `; the item has ${columns.join(', ')}` : '';
	const issue = `must give the document a name, a text, a page, a chunk, a file ID or an address${found}`;
	return item.throwFieldIssue(
		'documentFields',
		issue,
		undefined,
		item.emptyItemAdvice ??
			`Give "File URL" the address of its file, or send its text ${HOW_TO_SEND_A_TEXT}.`,
	);
}

const MAX_COLUMNS_NAMED = 5;
