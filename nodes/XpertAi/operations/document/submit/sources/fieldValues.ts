import cloneDeep from 'lodash/cloneDeep';
import has from 'lodash/has';
import isEmpty from 'lodash/isEmpty';
import unset from 'lodash/unset';

import { quoted } from '../../../../execution/badInput';
import type { Naming } from '../../../../execution/badInput';
import { textChunks } from '../../../../execution/binary';
import type { Item } from '../../../../execution/item';
import { textIfGiven } from '../../../../execution/keys';
import { jsonRecords } from '../../../../ingest/jsonRecords';
import { document, isDocumentField } from '../../../../payloads/document';
import type { DocumentRecord } from '../../../../payloads/document';
import { isJsonObject } from '../../../../transport/answer';
import { identifier, ownIdIsSent, ownValue } from './identity';
import type { FlawedDocument, FoundDocument, Identified, Identify } from './identity';
import { readyRecord, textDocument } from './sourceDocument';
import { DOCUMENT_NAMING, documentFromFields } from './mapping';

/** Reads documents that an item gives as JSON or fields, which may have their own IDs. */
interface GivenDocuments {
	/** Applied to a document before it is checked: a numeric ID may serve as a key, unless it is sent as ID. */
	prepare: (document: unknown) => unknown;
	identify: Identify;
	/** @throws NodeOperationError if the document cannot be written as JSON */
	toDocument: (identified: Identified) => FoundDocument;
}

/**
 * @param naming names parts of the documents in messages; by default the JSON body
 * @param fromFields whether each document is made of its item's fields
 * @throws NodeOperationError if the choice of Document ID is not valid
 */
export function givenDocuments(
	item: Item,
	naming: Naming = { parameter: item.labelOf('jsonBody') },
	fromFields = false,
): GivenDocuments {
	const isSent = ownIdIsSent(item, fromFields);
	return {
		prepare: (given) =>
			!isSent && isJsonObject(given) && typeof given.id === 'number'
				? { ...given, id: String(given.id) }
				: given,
		identify: identifier(item, fromFields),
		toDocument: (identified) => {
			const record = readyRecord(identified.record);
			item.jsonText(record, naming);
			return { ...identified, record };
		},
	};
}

/**
 * The document made of an item's fields.
 *
 * @throws NodeOperationError naming the field
 */
export function mappedDocument(item: Item): FoundDocument {
	const { toDocument, identify, prepare } = givenDocuments(item, DOCUMENT_NAMING, true);
	const { record, unusedColumns } = documentFromFields(item, prepare);
	const found = toDocument(identify(record));
	if (!isEmptyDocument(found)) return { ...found, unusedColumns };
	const columns = Object.keys(item.json);
	const has = columns.length > 0 ? `; the item has ${columns.slice(0, 5).join(', ')}` : '';
	const demand = `must give the document a name, a text, a page, a chunk, a file ID or an address${has}`;
	return item.refuse({ subject: `"${item.labelOf('documentFields')}"`, demand });
}

/** Whether nothing was mapped: with none of these fields, the server would store an empty row. */
function isEmptyDocument({ record, key }: Identified): boolean {
	const { id, name, pages, chunks, storageFileId, fileUrl, filePath, disabled } = record;
	if (name || fileUrl || filePath || storageFileId) return false;
	if (!isEmpty(pages) || !isEmpty(chunks)) return false;
	// On Xpert, a document with only its ID and `disabled` is disabled or enabled.
	return !((id || key) && typeof disabled === 'boolean');
}

/**
 * Reads the documents of an item's file of records, one at a time.
 *
 * @throws NodeOperationError if the item has no such file
 */
export async function* documentsInFile(item: Item): AsyncGenerator<FoundDocument | FlawedDocument> {
	const field = item.binary();
	const given = givenDocuments(item, { parameter: field.parameter });
	const textField = textIfGiven(item, 'textField') ?? '';
	for await (const read of jsonRecords(textChunks(item, field))) {
		const { place } = read;
		try {
			if ('flaw' in read) throw item.refusal({ subject: place, demand: read.flaw });
			const record = item.check(document, given.prepare(read.value), { parameter: place });
			const list = read.isWholeFile ? wrappedList(record, textField) : undefined;
			if (list !== undefined) {
				const demand = `is one object whose list ${quoted(list)} holds the records. Write that list alone into it`;
				throw item.refusal({ subject: 'The file', demand });
			}
			const identified = given.identify(record, place);
			yield textField === ''
				? given.toDocument(identified)
				: withText(item, identified, textField, place, field.binary.fileName);
		} catch (caught) {
			const flaw = item.asError(caught);
			flaw.description = RECORD_LEFT_OUT;
			yield { flaw };
		}
	}
}

const RECORD_LEFT_OUT =
	'This record was not sent. Correct it in the file, then run the node again.';

/** The key of the only list in an object that is no record itself, if the list holds objects. */
function wrappedList(record: DocumentRecord, textField: string): string | undefined {
	const { fileUrl, filePath, storageFileId } = record;
	const hasFile = fileUrl || filePath || storageFileId || has(record, textField);
	const lists = Object.entries(record).filter(([, inside]) => Array.isArray(inside));
	const [name, list] = lists.length === 1 && !hasFile ? (lists[0] ?? []) : [];
	return name !== undefined && !isDocumentField(name) && (list as unknown[]).every(isJsonObject)
		? name
		: undefined;
}

/** A document whose text, at `path` in its record, is uploaded as a file. */
function withText(
	item: Item,
	found: Identified,
	path: string,
	place: string,
	fileName?: string,
): FoundDocument {
	const text = ownValue(found.record, path);
	const subject = `${place}: "${item.labelOf('textField')}"`;
	if (typeof text !== 'string' || text.trim() === '')
		return item.refuse({ subject, demand: `names ${quoted(path)}, which holds no text here` });
	item.checkWhole(text, subject);
	const rest = cloneDeep(found.record);
	unset(rest, path);
	const { name } = rest;
	// The default name contains the file's name: records of several files would otherwise have the same name.
	const defaultName = fileName
		? `${fileName}, ${place.replace(' of the file', '').toLowerCase()}`
		: place;
	const title = typeof name === 'string' && name.trim() !== '' ? name : defaultName;
	return { ...found, ...textDocument(item, { ...rest, name: title }, text) };
}
