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

/** How documents of an item are read that are given as they are, and may bring ids of their own. */
interface GivenDocuments {
	/** What is done to a document before it is checked: a row's number may be a key, if it is not sent as id. */
	prepared: (document: unknown) => unknown;
	identify: Identify;
	/** @throws NodeOperationError when the document has no JSON text */
	asGiven: (identified: Identified) => FoundDocument;
}

/**
 * @param naming what names parts of the documents in messages; the JSON body without it
 * @param fromFields whether a document is what the fields of its item say
 * @throws NodeOperationError when the way to its id is none
 */
export function givenDocuments(
	item: Item,
	naming: Naming = { parameter: item.labelOf('jsonBody') },
	fromFields = false,
): GivenDocuments {
	const isSent = ownIdIsSent(item, fromFields);
	return {
		prepared: (given) =>
			!isSent && isJsonObject(given) && typeof given.id === 'number'
				? { ...given, id: String(given.id) }
				: given,
		identify: identifier(item, fromFields),
		asGiven: (identified) => {
			const record = readyRecord(identified.record);
			item.jsonText(record, naming);
			return { ...identified, record };
		},
	};
}

/**
 * The document that the fields of an item make.
 *
 * @throws NodeOperationError naming the field
 */
export function mappedDocument(item: Item): FoundDocument {
	const { asGiven, identify, prepared } = givenDocuments(item, DOCUMENT_NAMING, true);
	const { made, unusedColumns } = documentFromFields(item, prepared);
	const found = asGiven(identify(made));
	if (!isEmptyDocument(found)) return { ...found, unusedColumns };
	const columns = Object.keys(item.json);
	const has = columns.length > 0 ? `; the item has ${columns.slice(0, 5).join(', ')}` : '';
	const demand = `must give the document a name, a text, a page, a chunk, a file ID or an address${has}`;
	return item.refuse({ subject: `"${item.labelOf('documentFields')}"`, demand });
}

/** Nothing was mapped to it: without any of these the server keeps a row that means nothing. */
function isEmptyDocument({ record, key }: Identified): boolean {
	const { id, name, pages, chunks, storageFileId, fileUrl, filePath, disabled } = record;
	if (name || fileUrl || filePath || storageFileId) return false;
	if (!isEmpty(pages) || !isEmpty(chunks)) return false;
	// On Xpert, a document with nothing but its ID is taken out of answers, or let into them again, that way.
	return !((id || key) && typeof disabled === 'boolean');
}

/**
 * The documents of an item's file of records, read as they are asked for.
 *
 * @throws NodeOperationError when the item has no such file
 */
export async function* documentsInFile(item: Item): AsyncGenerator<FoundDocument | FlawedDocument> {
	const field = item.binary();
	const given = givenDocuments(item, { parameter: field.parameter });
	const textField = textIfGiven(item, 'textField') ?? '';
	for await (const read of jsonRecords(textChunks(item, field))) {
		const { place } = read;
		try {
			if ('flaw' in read) throw item.refusal({ subject: place, demand: read.flaw });
			const record = item.check(document, given.prepared(read.value), { parameter: place });
			const list = read.isWholeFile ? listAround(record, textField) : undefined;
			if (list !== undefined) {
				const demand = `is one object whose list ${quoted(list)} holds the records. Write that list alone into it`;
				throw item.refusal({ subject: 'The file', demand });
			}
			const identified = given.identify(record, place);
			yield textField === ''
				? given.asGiven(identified)
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

/** The list in an object that is no record itself, as the only one it has is of objects. */
function listAround(record: DocumentRecord, textField: string): string | undefined {
	const { fileUrl, filePath, storageFileId } = record;
	const isFound = fileUrl || filePath || storageFileId || has(record, textField);
	const lists = Object.entries(record).filter(([, inside]) => Array.isArray(inside));
	const [name, list] = lists.length === 1 && !isFound ? (lists[0] ?? []) : [];
	return name !== undefined && !isDocumentField(name) && (list as unknown[]).every(isJsonObject)
		? name
		: undefined;
}

/** A record whose text is uploaded as its file. */
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
	// The file is named, as records of several files would have the same name.
	const otherwise = fileName
		? `${fileName}, ${place.replace(' of the file', '').toLowerCase()}`
		: place;
	const called = typeof name === 'string' && name.trim() !== '' ? name : otherwise;
	return { ...found, ...textDocument(item, { ...rest, name: called }, text) };
}
