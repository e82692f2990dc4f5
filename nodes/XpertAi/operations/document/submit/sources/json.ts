import { omit } from 'lodash';
import { z } from 'zod';

import type { ItemError } from '../../../../execution/apiError';
import { type BinaryField, chosenBinaryField } from '../../../../execution/binary';
import { textChunks } from '../../../../execution/fileText';
import { checkedKey, asVersion } from '../../../../execution/identityFields';
import { fieldLabel, type FieldNaming, quoted } from '../../../../execution/issueText';
import type { Item } from '../../../../execution/item';
import { textIfGiven } from '../../../../execution/reader';
import { type FileRecord, jsonRecords } from '../../../../ingest/jsonRecords';
import { isJsonObject } from '../../../../payloads/json';
import { type DocumentRecord, documentSchemaFor } from '../../../../payloads/document';
import { hasLoneSurrogate, LONE_SURROGATE_ISSUE } from '../../../../payloads/loneSurrogates';
import { textDocument } from './fileDocument';
import {
	type InputDocument,
	isFilledText,
	ownValue,
	rejectedWithKey,
	VERSION_FIELD_PARAMETER,
} from './inputDocument';
import { isWithoutContent, readyRecord } from './readyRecord';

/** Makes a function that checks a record and reads its key and its version. */
function recordReader(item: Item) {
	const keyPath = textIfGiven(item, 'documentKeyField');
	const label = item.labelOf('documentKeyField');
	const versionPath = textIfGiven(item, VERSION_FIELD_PARAMETER);
	return (given: unknown, parameter: string): InputDocument => {
		// If a key field is set, a number is accepted as ID, because the key replaces the ID.
		const hasNumberAsId = keyPath && isJsonObject(given) && typeof given.id === 'number';
		const value = hasNumberAsId ? { ...given, id: String(given.id) } : given;
		const checked = item.check(documentSchemaFor(value), value, { parameter });
		const version = versionPath ? asVersion(ownValue(checked, versionPath)) : undefined;
		const lacksExpectedVersion = versionPath !== undefined && version === undefined;
		const record = versionPath ? omit(checked, versionPath) : checked;
		if (keyPath === undefined) return { record, version, lacksExpectedVersion };
		const key = ownValue(checked, keyPath);
		const field = `${parameter}: "${label}"`;
		if (!isFilledText(key) && typeof key !== 'number') {
			const issue = `names ${quoted(keyPath)}, which this document does not have`;
			const advice = 'Enter the name of a field that each document has.';
			return item.throwIssue({ field, issue, advice });
		}
		const withoutId = checked.id ? { ...record, id: undefined } : record;
		return { record: withoutId, key: checkedKey(item, key, field), version, lacksExpectedVersion };
	};
}

export function readJsonDocuments(item: Item): InputDocument[] {
	const readRecord = recordReader(item);
	const label = item.labelOf('jsonBody');
	const given = [item.setting('jsonBody', z.unknown(), '')].flat();
	return given.map((value, index, { length }) => {
		const parameter = length > 1 ? `Document ${index + 1} of ${label}` : label;
		return jsonDocument(item, readRecord(value, parameter), { parameter });
	});
}

/** Reads the documents of a file of records, in groups. Yields an error for each unreadable record. */
export async function* readRecords(item: Item): AsyncGenerator<Array<InputDocument | ItemError>> {
	const field = chosenBinaryField(item);
	const readRecord = recordReader(item);
	const path = textIfGiven(item, 'textField');
	const documentOf = (read: FileRecord) => {
		const { position: parameter } = read;
		let key: string | undefined;
		try {
			if ('issue' in read) return item.throwIssue({ field: parameter, issue: read.issue });
			const found = readRecord(read.value, parameter);
			({ key } = found);
			return path === undefined
				? jsonDocument(item, found, { parameter })
				: withText(item, found, path, parameter, field);
		} catch (caught) {
			const error = item.asError(caught);
			const correction =
				'issue' in read
					? 'the file, or set "Documents From" to Files if it holds no records'
					: 'the file, or the field of the node that the message names';
			error.description = `This record was not sent. Correct ${correction}.`;
			return rejectedWithKey(key, error);
		}
	};
	for await (const group of jsonRecords(textChunks(item, field))) yield group.map(documentOf);
}

/** Why a record without content is rejected. An object may wrap the list of the documents. */
function emptyIssue(record: DocumentRecord): string {
	const lists = Object.entries(record).filter(([, value]) => Array.isArray(value));
	const [[name, list] = []] = lists;
	const isWrapper = lists.length === 1 && (list as unknown[]).some(isJsonObject);
	return isWrapper
		? `is one object whose list ${quoted(name)} holds the documents: give that list alone`
		: 'has no ID, name, text, page, chunk, file ID or address';
}

/** Makes a document from a record. A record with a key or an ID may be empty. */
function jsonDocument(item: Item, found: InputDocument, fieldNames: FieldNaming): InputDocument {
	if (!found.key && !found.record.id && isWithoutContent(found.record))
		item.throwIssue({ field: fieldLabel([], fieldNames), issue: emptyIssue(found.record) });
	return Object.assign(found, readyRecord(item, found.record, fieldNames));
}

/**
 * Makes a document from a record with a text at `path`. The node uploads the text as a file.
 *
 * @param position the place of the record, e.g. `Line 3 of the file`
 */
function withText(
	item: Item,
	found: InputDocument,
	path: string,
	position: string,
	{ property, binary }: BinaryField,
): InputDocument {
	const text = ownValue(found.record, path);
	const field = `${position}: "${item.labelOf('textField')}"`;
	if (!isFilledText(text))
		return item.throwIssue({ field, issue: `names ${quoted(path)}, which holds no text here` });
	if (hasLoneSurrogate(text)) item.throwIssue({ field, issue: LONE_SURROGATE_ISSUE });
	const rest: DocumentRecord = omit(found.record, path);
	const place = position.replace(' of the file', '').toLowerCase();
	// Begins with the file name, because records of different files need different names.
	const name = isFilledText(rest.name) ? rest.name : `${binary.fileName || property}, ${place}`;
	return { ...found, ...textDocument(item, { ...rest, name }, text) };
}
