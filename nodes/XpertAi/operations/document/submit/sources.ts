import { createHash } from 'crypto';

import cloneDeep from 'lodash/cloneDeep';
import isEmpty from 'lodash/isEmpty';
import omit from 'lodash/omit';
import unset from 'lodash/unset';
import { z } from 'zod';

import { quoted } from '../../../execution/badInput';
import type { Naming } from '../../../execution/badInput';
import { binaryChunks } from '../../../execution/binary';
import type { Item } from '../../../execution/item';
import type { ItemError } from '../../../execution/outputs';
import type { ReadyDocument } from '../../../ingest/batches';
import { isUuid } from '../../../payloads/common';
import { jsonRecords } from '../../../ingest/jsonRecords';
import { withTextSplitter } from '../../../ingest/textSplitter';
import { document, documentList } from '../../../payloads/document';
import { isDocument } from '../../../payloads/isDocument';
import { isJsonObject } from '../../../transport/answer';
import { identifier, ownIdIsSent, ownValue, withId } from './identity';
import type { Identified } from './identity';
import { addressDocument, fileDocument, textDocument, textFile } from './madeDocuments';
import { DOCUMENT_NAMING, documentFromFields } from './mapping';

/** Where a document came from and where it stands in the output. */
export interface Origin {
	item: Item;
	position: number;
}

/**
 * A document as a source gives it: read and checked, so that it can be sent; its id and its JSON text are
 * made when its turn comes. Without the file's address, where its file is still to be uploaded.
 */
export interface FoundDocument extends Identified {
	/** The file to upload before it is sent. */
	file?: ReadyDocument<Origin>['file'];
	/** What is in that file, to tell whether it has changed. */
	contents?: () => AsyncIterable<Uint8Array> | string[];
	/** Whether a table is sent as text, because servers cannot read it otherwise. */
	readAsText?: boolean;
}

const source = z.enum(['text', 'files', 'addresses', 'fields', 'json', 'records']);

/** What the input items are (Documents From). */
export function sourceOf(item: Item): z.infer<typeof source> {
	return item.choice('source', source);
}

/** Whether documents of the item may have a file that is uploaded before they are sent. */
export function mayHaveFiles(item: Item): boolean {
	const from = sourceOf(item);
	if (from === 'records') return item.text('textField').trim() !== '';
	return from === 'text' || from === 'files';
}

/**
 * The documents of one item that is no file of records, each under its id.
 *
 * @param owner what keys belong to (`keyOwner`)
 * @param unusedColumns gathers the columns that match no field of a document
 * @throws NodeOperationError when the item cannot be read
 */
export function itemDocuments(
	item: Item,
	owner: string,
	unusedColumns: Set<string>,
): FoundDocument[] {
	switch (sourceOf(item)) {
		case 'text':
			return [textDocument(item, owner)];
		case 'files':
			return [fileDocument(item, owner)];
		case 'addresses':
			return [addressDocument(item, owner)];
		case 'json':
			return documentsInJson(item);
		default:
			return [mappedDocument(item, unusedColumns)];
	}
}

function mappedDocument(item: Item, unusedColumns: Set<string>): FoundDocument {
	const prepared = idPreparation(item, true);
	const made = documentFromFields(item, { prepared, unusedColumns });
	const identified = identifier(item, true)(made);
	if (isEmptyDocument(identified)) throw emptyDocument(item);
	return wholeDocument(item, identified, DOCUMENT_NAMING);
}

function documentsInJson(item: Item): FoundDocument[] {
	const identify = identifier(item, false);
	const found = item.jsonBody(documentList(idPreparation(item, false)));
	const naming = { parameter: item.labelOf('jsonBody') };
	return found.map((one, index) => {
		const place = found.length > 1 ? `Document ${index + 1} of "JSON Body"` : undefined;
		return wholeDocument(item, identify(one, place), naming);
	});
}

/** Nothing was mapped to it: without any of these the server keeps a row that means nothing. */
function isEmptyDocument({ record, key }: Identified): boolean {
	const { id, name, pages, chunks, storageFileId, fileUrl, filePath, disabled } = record;
	if (name || fileUrl || filePath || storageFileId) return false;
	if (!isEmpty(pages) || !isEmpty(chunks)) return false;
	// On Xpert, a document with nothing but its ID is taken out of answers, or let into them again, that way.
	return !((id || key) && typeof disabled === 'boolean');
}

function emptyDocument(item: Item): ItemError {
	const columns = Object.keys(item.json);
	const has = columns.length > 0 ? `; the item has ${columns.slice(0, 5).join(', ')}` : '';
	const demand = `must give the document a name, a text, a page, a chunk, a file ID or an address${has}`;
	return item.refusal({ subject: `"${item.labelOf('documentFields')}"`, demand });
}

/** What is done to a document before it is checked: a row's number may be a key, if it is not sent as id. */
function idPreparation(item: Item, fromFields: boolean): (document: unknown) => unknown {
	if (ownIdIsSent(item, fromFields)) return (document) => document;
	return (document) =>
		isJsonObject(document) && typeof document.id === 'number'
			? { ...document, id: String(document.id) }
			: document;
}

/**
 * The documents of an item's file of records, each under its id, read as they are asked for.
 *
 * @throws NodeOperationError when the item has no such file
 */
export async function* recordsOf(
	item: Item,
	owner: string,
): AsyncGenerator<FoundDocument | { flaw: ItemError }> {
	const field = item.binary();
	const identify = identifier(item, false);
	const prepared = idPreparation(item, false);
	const textField = item.text('textField').trim();
	const naming = { parameter: field.parameter };
	for await (const record of jsonRecords(binaryChunks(item, field))) {
		const place = `Line ${record.line} of the file`;
		try {
			if ('flaw' in record) throw item.refusal({ subject: place, demand: record.flaw });
			const value = prepared(record.value);
			const checked = isDocument(value) ? value : item.check(document, value, { parameter: place });
			const identified = identify(checked, place);
			yield textField === ''
				? wholeDocument(item, identified, naming)
				: recordWithText(item, { identified, owner, textField, place });
		} catch (caught) {
			const flaw = item.asError(caught);
			flaw.description = RECORD_LEFT_OUT;
			yield { flaw };
		}
	}
}

const RECORD_LEFT_OUT =
	'This record was not sent. Correct it in the file, then run the node again.';

/** A document that is sent as the source has it. */
function wholeDocument(item: Item, identified: Identified, naming: Naming): FoundDocument {
	const record = withTextSplitter(identified.record);
	item.checkText(record, naming);
	return { ...identified, record };
}

/** A record whose text is uploaded as its file. */
function recordWithText(
	item: Item,
	given: { identified: Identified; owner: string; textField: string; place: string },
): FoundDocument {
	const { identified, textField, place } = given;
	const { key, idByServer } = identified;
	const record = withId(identified, given.owner);
	const text = ownValue(record, textField);
	if (typeof text !== 'string' || text.trim() === '') {
		const demand = `names ${quoted(textField)}, which holds no text here`;
		throw item.refusal({ subject: `${place}: "${item.labelOf('textField')}"`, demand });
	}
	item.checkWhole(text, `${place}: "${item.labelOf('textField')}"`);
	const rest = cloneDeep(record);
	unset(rest, textField);
	const { id, name } = record;
	const called = typeof name === 'string' && name.trim() !== '' ? name : place;
	const file = textFile(
		item,
		omit(rest, 'name', 'id'),
		{ name: called, id: id ?? undefined },
		text,
	);
	return { ...file, key, idByServer };
}

/** A document ready to be sent, once its file is uploaded where it has one. */
export function readyDocument(
	found: FoundDocument,
	origin: Origin,
	owner: string,
): ReadyDocument<Origin> {
	const { key, file } = found;
	const record = withId(found, owner);
	const { id, name } = record;
	const json = JSON.stringify(record);
	return {
		json,
		bytes: Buffer.byteLength(json),
		origin,
		...(typeof id === 'string' && isUuid(id) ? { id } : {}),
		...(typeof name === 'string' ? { name } : {}),
		...(key === undefined ? {} : { key }),
		...(file ? { file } : {}),
	};
}

/** What is compared with earlier runs: what the document says and what is in its file, never where the file lies. */
export async function contentOf(
	{ json }: ReadyDocument<Origin>,
	contents: NonNullable<FoundDocument['contents']>,
): Promise<string> {
	const hash = createHash('sha256');
	for await (const piece of contents()) hash.update(piece);
	return `${json} ${hash.digest('base64')}`;
}
