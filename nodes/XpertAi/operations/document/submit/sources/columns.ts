import { groupBy, isNil } from 'lodash';
import type { IDataObject } from 'n8n-workflow';

import { convertToType } from '../../../../execution/fieldSchemas';
import type { FieldNaming } from '../../../../execution/issueText';
import { isJsonObject } from '../../../../payloads/json';
import { isUuid } from '../../../../payloads/ids';
import { documentParameters } from '../../../../pickers/documentFields';
import { parserFields } from '../../../shared/parserFields';

export const DOCUMENT_FIELDS = documentParameters.map((field) =>
	field.name === 'parserConfig' ? { ...field, options: parserFields } : field,
);

const FIELD_KEYS = new Set(DOCUMENT_FIELDS.map(({ name }) => name));

/** How error messages name the fields of a document. */
export const DOCUMENT_FIELD_NAMING: FieldNaming = {
	fields: DOCUMENT_FIELDS,
	parameterLabel: 'Document Fields',
};

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
const FIT_CHECKS: Record<string, (column: unknown) => boolean> = {
	fileUrl: (column) => /^\s*https?:\/\//i.test(String(column)),
	storageFileId: (column) => isUuid(String(column).trim()),
	size: (column) => typeof convertToType('number', column) === 'number',
	metadata: isJsonObject,
};

const isScalar = (column: unknown) => typeof column !== 'object';

/**
 * Maps columns by name to document fields and the text. An exact field name takes precedence over `ALIASES`, unless its
 * column is null.
 *
 * @param excluded a document field that no column is mapped to, even with its exact name. It must have no `ALIASES`.
 * @returns `columns` as given; `fields` without blank texts and undefined values (a blank `folder` is kept);
 * `textColumn`: the name of the column with the text; `unused`: the names of the other filled columns, also of those with
 * an alias whose field another column fills, or whose value does not fit the field
 */
export function mapColumns(columns: IDataObject, excluded?: string) {
	const isBlankText = (column: unknown) => typeof column === 'string' && column.trim() === '';
	const fields: IDataObject = {};
	const others: string[] = [];
	for (const [name, column] of Object.entries(columns)) {
		if (column === undefined || (isBlankText(column) && name !== 'folder')) continue;
		if (FIELD_KEYS.has(name) && name !== excluded) fields[name] = column;
		else if (column !== null) others.push(name);
	}
	const byAlias = groupBy(others, (name) => name.toLowerCase().replace(/[\s_-]/g, ''));
	const unused = new Set(others);
	let textColumn: string | undefined;
	for (const [field, aliases] of Object.entries(ALIASES)) {
		if (!isNil(fields[field])) continue;
		const fits = FIT_CHECKS[field] ?? isScalar;
		const candidates = aliases.flatMap((alias) => byAlias[alias] ?? []);
		const name = candidates.find((candidate) => fits(columns[candidate]));
		if (name === undefined) continue;
		unused.delete(name);
		if (field === 'text') textColumn = name;
		else fields[field] = columns[name];
	}
	return { columns, fields, textColumn, unused: [...unused] };
}
