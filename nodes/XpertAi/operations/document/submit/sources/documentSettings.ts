import { get, isEmpty, pick } from 'lodash';
import { isExpression } from 'n8n-workflow';

import type { FieldValues } from '../../../../execution/fieldBuilders';
import { fieldValuesSchema } from '../../../../execution/fieldSchemas';
import { isNothing, unresolvedValue } from '../../../../execution/givenValues';
import { valueOrThrowIfMissing } from '../../../../execution/identityFields';
import { fieldLabel, type FieldNaming } from '../../../../execution/issueText';
import type { Item } from '../../../../execution/item';
import { isJsonObject } from '../../../../payloads/json';
import { documentSchemaFor } from '../../../../payloads/document';
import { parserFields } from '../../../shared/parserFields';
import { valuesOfRows } from '../../../shared/typedRows';
import { documentNameField, documentSettingsField } from '../fields';

/** One array for all items, because `fieldValuesSchema` caches one schema per array object. */
const SETTINGS_FIELDS = [documentSettingsField];

const PARSER_SETTING_NAMES = parserFields.map(({ name }) => name);

/** How error messages name "Name" and the fields in "Document Settings". */
export const RECORD_FIELD_NAMING = {
	fields: [documentNameField, documentSettingsField],
	fieldByPath: Object.fromEntries(
		(documentSettingsField.options ?? []).map(({ name }) => [
			PARSER_SETTING_NAMES.includes(name) ? `parserConfig.${name}` : name,
			`documentSettings.${name}`,
		]),
	),
} satisfies FieldNaming;

/**
 * Reads the record fields from Document Settings.
 *
 * @param directory the directory of the document's file, for the setting "Folder From Directory"
 * @returns an object:
 * - `record`: the record.
 * - `missingMetadataCount`: the number of rows with a missing part, plus 1 if the expression of Metadata gave nothing.
 * - `metadataRowKeys`: the keys of rows without a value (`empty`) and with a missing part (`lacking`), and all keys of the
 *   metadata (`filled`), also those from the setting Metadata.
 * @throws NodeOperationError naming the setting
 */
export function readDocumentSettings(item: Item, directory = '') {
	const chosen = item.parameter('documentSettings');
	const hasFolder = isJsonObject(chosen) && 'folder' in chosen;
	const folderField = fieldLabel(['folder'], RECORD_FIELD_NAMING);
	// A Folder expression that gives nothing counts as an empty Folder. One that lacks only a part is an error.
	const documentSettings = hasFolder
		? { ...chosen, folder: valueOrThrowIfMissing(item, folderField, chosen.folder) }
		: chosen;
	const fields = SETTINGS_FIELDS;
	const typed = item.check(fieldValuesSchema(fields), { documentSettings }, { fields });
	const settings = (typed.documentSettings ?? {}) as FieldValues;
	const parserConfig = pick(settings, PARSER_SETTING_NAMES);
	const folder = folderOf(settings, directory);
	const given = {
		...pick(settings, 'metadata', 'mimeType', 'type'),
		// An empty Folder setting takes the document out of its current folder.
		...((folder || hasFolder) && { folder }),
		...(!isEmpty(parserConfig) && { parserConfig }),
	};
	const emptyRows: string[] = [];
	const lackingRows: string[] = [];
	const metadataRows = valuesOfRows(item, 'Metadata Rows', settings.metadataRows, {
		whenEmpty: (key) => void emptyRows.push(key),
		whenMissing: (_, key) => void lackingRows.push(key),
	});
	const record = item.check(documentSchemaFor(given), given, RECORD_FIELD_NAMING);
	const metadata = { ...record.metadata, ...metadataRows };
	// A row without a value does no harm if the setting Metadata fills its key.
	const filled = Object.keys(metadata);
	return {
		// Without values from rows, the metadata stays as it is, and may be unset.
		record: isEmpty(metadataRows) ? record : { ...record, metadata },
		missingMetadataCount: lackingRows.length + (isMetadataMissing(item, chosen) ? 1 : 0),
		metadataRowKeys: { empty: emptyRows, lacking: lackingRows, filled },
	};
}

/** The folder setting, and below it the directory of the file if "Folder From Directory" is on. */
function folderOf({ folder, folderFromDirectory }: FieldValues, directory: string): string {
	const path = directory.replaceAll('\\', '/').replace(/^[a-z]:/i, '');
	return [folder, folderFromDirectory && path].filter(Boolean).join('/');
}

/** Whether the expression of the setting Metadata gave nothing. */
const isMetadataMissing = ({ node }: Item, settings: unknown): boolean =>
	isExpression(unresolvedValue(node, 'documentSettings.metadata')) &&
	isNothing(get(settings, 'metadata'));
