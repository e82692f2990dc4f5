import { get, has, omit } from 'lodash';
import { z } from 'zod';

import { checkedKey } from '../../../../execution/identityFields';
import { asVersion, VERSION_FIELD_PARAMETER } from '../documentVersion';
import { fieldLabel, type FieldNaming, shownValue } from '../../../../execution/issueText';
import type { Item } from '../../../../execution/item';
import { textIfGiven } from '../../../../execution/parameterReader';
import { isJsonObject } from '../../../../payloads/json';
import { type DocumentRecord, documentSchemaFor } from '../../../../payloads/document';
import type { InputDocument } from './inputDocument';
import { isWithoutContent, readyRecord } from './readyRecord';

/** Makes a function that checks a record and reads its key and its version. */
export function recordCheckerFor(item: Item) {
	const keyPath = textIfGiven(item, 'documentKeyField');
	const label = item.labelOf('documentKeyField');
	const versionPath = textIfGiven(item, VERSION_FIELD_PARAMETER);
	return (given: unknown, parameterLabel: string): InputDocument => {
		// If a key field is set, a number is accepted as ID, because the key replaces the ID.
		const hasNumberAsId = keyPath && isJsonObject(given) && typeof given.id === 'number';
		const value = hasNumberAsId ? { ...given, id: String(given.id) } : given;
		const checked = item.check(documentSchemaFor(value), value, { parameterLabel });
		const version = versionPath ? asVersion(ownValue(checked, versionPath)) : undefined;
		const lacksExpectedVersion = versionPath !== undefined && version === undefined;
		const record = versionPath ? omit(checked, versionPath) : checked;
		if (keyPath === undefined) return { record, version, lacksExpectedVersion };
		const key = ownValue(checked, keyPath);
		const keyLabel = `${parameterLabel}: "${label}"`;
		if (!isFilledText(key) && typeof key !== 'number') {
			const issue = `names ${shownValue(keyPath)}, which this document does not have`;
			const advice = 'Enter the name of a field that each document has.';
			return item.throwIssue({ label: keyLabel, issue, advice });
		}
		const withoutId = checked.id ? { ...record, id: undefined } : record;
		return {
			record: withoutId,
			key: checkedKey(item, key, keyLabel),
			version,
			lacksExpectedVersion,
		};
	};
}

/**
 * Reads the documents of the parameter JSON Body: one, or a list.
 *
 * @throws NodeOperationError if a document is not valid
 */
export function readJsonDocuments(item: Item): InputDocument[] {
	const readRecord = recordCheckerFor(item);
	const label = item.labelOf('jsonBody');
	const given = [item.setting('jsonBody', z.unknown(), '')].flat();
	return given.map((value, index, { length }) => {
		const parameterLabel = length > 1 ? `Document ${index + 1} of ${label}` : label;
		return jsonDocument(item, readRecord(value, parameterLabel), { parameterLabel });
	});
}

/** Makes a document from a record. A record with a key or an ID may be empty. */
export function jsonDocument(
	item: Item,
	found: InputDocument,
	fieldNaming: FieldNaming,
): InputDocument {
	if (!found.key && !found.record.id && isWithoutContent(found.record))
		item.throwIssue({ label: fieldLabel([], fieldNaming), issue: emptyIssue(found.record) });
	return Object.assign(found, readyRecord(item, found.record, fieldNaming));
}

/** Why a record without content is rejected. An object may wrap the list of the documents. */
function emptyIssue(record: DocumentRecord): string {
	const lists = Object.entries(record).filter(([, value]) => Array.isArray(value));
	const [[name, list] = []] = lists;
	const isWrapper = lists.length === 1 && (list as unknown[]).some(isJsonObject);
	return isWrapper
		? `is one object whose list ${shownValue(name)} holds the documents: give that list alone`
		: 'has no ID, name, text, page, chunk, file ID or address';
}

/** Whether a value is a non-blank text. */
export const isFilledText = (raw: unknown): raw is string =>
	typeof raw === 'string' && raw.trim() !== '';

/** The value at a path of a record. Ignores inherited keys such as `constructor`. */
export function ownValue(record: DocumentRecord, path: string): unknown {
	return has(record, path) ? get(record, path) : undefined;
}
