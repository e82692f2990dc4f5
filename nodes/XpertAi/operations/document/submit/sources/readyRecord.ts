import { isEmpty, isNil, mapValues, omitBy } from 'lodash';

import { fieldLabel, type FieldNaming } from '../../../../execution/issueText';
import type { Item } from '../../../../execution/item';
import { withSortedKeys } from '../../../../payloads/json';
import { dateAsUtcText } from '../../../../payloads/dates';
import type { DocumentRecord } from '../../../../payloads/document';
import { RECORD_FIELD_NAMING } from './documentSettings';
import type { InputDocument } from './inputDocument';

/** Servers store an empty document for a record with none of these fields. */
const CONTENT_FIELDS = ['name', 'fileUrl', 'filePath', 'storageFileId', 'pages', 'chunks'];

export const isWithoutContent = (record: DocumentRecord) =>
	CONTENT_FIELDS.every((name) => isEmpty(record[name]));

/** Default chunk size and overlap of servers. */
const DEFAULT_CHUNK_SIZE = 1000;

const DEFAULT_CHUNK_OVERLAP = 200;

/** Matches the escape `\u0000` in JSON text. Does not match `\\u0000`, which means a backslash and `u0000`. */
const NUL_ESCAPE_PATTERN = /(?<!\\)((?:\\\\)*)\\u0000/g;

/**
 * Prepares a record for the server: adds a text splitter, converts dates in the metadata to UTC, sorts the keys, and
 * removes U+0000.
 *
 * @throws NodeOperationError if the chunk size or overlap is not valid, or the record cannot be written as JSON
 */
export function readyRecord(
	item: Item,
	given: DocumentRecord,
	fieldNaming: FieldNaming = RECORD_FIELD_NAMING,
): Pick<InputDocument, 'record' | 'recordJson' | 'hadNul'> {
	const split = withTextSplitter(given);
	checkChunkSizes(item, split, fieldNaming);
	// Runs compare the JSON, so a record must have the same JSON in whatever order its keys came.
	const record = withSortedKeys(withUtcDates(split));
	const json = item.toJsonText(record, fieldNaming);
	const cleaned = json.replace(NUL_ESCAPE_PATTERN, '$1');
	return cleaned === json
		? { record, recordJson: json }
		: { record: JSON.parse(cleaned) as DocumentRecord, recordJson: cleaned, hadNul: true };
}

/** @throws NodeOperationError if the chunk size or overlap is not valid */
function checkChunkSizes(
	item: Item,
	{ parserConfig }: DocumentRecord,
	fieldNaming: FieldNaming,
): void {
	const size = parserConfig?.chunkSize ?? DEFAULT_CHUNK_SIZE;
	// A missing overlap needs no check: its default fits the chunk size (see `withTextSplitter`).
	const overlap = parserConfig?.chunkOverlap ?? 0;
	const throwIssue = (setting: string, issue: string, value: number) =>
		item.throwIssue({ label: fieldLabel(['parserConfig', setting], fieldNaming), issue, value });
	if (size <= 0) throwIssue('chunkSize', 'must be more than 0', size);
	if (overlap < 0 || overlap >= size)
		throwIssue('chunkOverlap', `must be from 0 to less than the chunk size (${size})`, overlap);
}

/** Converts dates in the metadata to UTC, so that filters can compare them. */
function withUtcDates(record: DocumentRecord): DocumentRecord {
	const { metadata } = record;
	const hasDate = Object.values(metadata ?? {}).some((value) => dateAsUtcText(value) !== value);
	return hasDate ? { ...record, metadata: mapValues(metadata, dateAsUtcText) } : record;
}

/**
 * Adds a `textSplitter` to the parser configuration. Xpert splits files by `textSplitter`, and ignores the settings
 * `chunkSize`, `chunkOverlap` and `delimiter`.
 */
export function withTextSplitter(record: DocumentRecord): DocumentRecord {
	const { parserConfig } = record;
	if (!parserConfig || 'textSplitter' in parserConfig) return record;
	const { chunkSize, chunkOverlap, delimiter } = parserConfig;
	// The default overlap is too large for small chunks.
	const fittingOverlap = chunkSize && Math.min(DEFAULT_CHUNK_OVERLAP, Math.floor(chunkSize / 5));
	// `delimiter` is a list separated by spaces. `separators` is a list separated by commas, so it cannot hold a delimiter
	// with a comma. Line breaks and tabs are escaped in it.
	const separators = (delimiter ?? '')
		.split(' ')
		.filter((one) => one !== '' && !one.includes(','))
		.join(',')
		.replace(/[\n\r\t]/g, (sign) => JSON.stringify(sign).slice(1, -1));
	const textSplitter = omitBy(
		{ chunkSize, chunkOverlap: chunkOverlap ?? fittingOverlap, separators: separators || null },
		isNil,
	);
	if (isEmpty(textSplitter)) return record;
	return { ...record, parserConfig: { ...parserConfig, textSplitter } };
}
