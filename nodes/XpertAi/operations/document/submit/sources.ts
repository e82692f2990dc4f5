import isEmpty from 'lodash/isEmpty';

import { binaryChunks } from '../../../execution/binary';
import type { Item } from '../../../execution/item';
import type { ItemError } from '../../../execution/outputs';
import type { Prepared } from '../../../ingest/batches';
import { isUuid } from '../../../payloads/common';
import { jsonRecords } from '../../../ingest/jsonRecords';
import { withTextSplitter } from '../../../ingest/textSplitter';
import { document, documentList, isDocument } from '../../../payloads/document';
import type { DocumentRecord } from '../../../payloads/document';
import { isJsonObject } from '../../../transport/answer';
import { identifier, ownIdIsSent } from './identity';
import { DOCUMENT_NAMING, documentFromFields } from './mapping';

/** Where a document came from and where it stands in the output. */
export interface Origin {
	item: Item;
	position: number;
}

/** A document of a file with its JSON text, or why a record of it is none. */
export type SourceEntry = { document: DocumentRecord; text: string } | { flaw: ItemError };

/** Whether the documents of the input items come from files, which are not read into memory. */
export function isFileSource(item: Item): boolean {
	return item.parameter('bodyMode', 'fields') === 'file';
}

/**
 * The documents of one item that is no file, each under its id.
 *
 * @param unusedColumns gathers the columns that match no field of a document
 * @throws NodeOperationError when the item cannot be read
 */
export function itemDocuments(
	item: Item,
	knowledgebaseId: string,
	unusedColumns: Set<string>,
): DocumentRecord[] {
	const fromFields = !item.isJsonBody;
	const identify = identifier(item, knowledgebaseId, fromFields);
	const prepared = idPreparation(item, fromFields);
	if (fromFields) {
		const made = identify(documentFromFields(item, { prepared, unusedColumns }));
		if (isEmptyDocument(made)) throw emptyDocument(item);
		return [withTextSplitter(made)];
	}
	const found = item.jsonBody(documentList(prepared));
	return found.map((one, index) => {
		const place = found.length > 1 ? `Document ${index + 1} of "JSON Body"` : undefined;
		return withTextSplitter(identify(one, place));
	});
}

/** Nothing was mapped to it: without any of these the server keeps a row that means nothing. */
function isEmptyDocument(record: DocumentRecord): boolean {
	const { name, pages, chunks, storageFileId, fileUrl, filePath } = record;
	if ([name, pages, chunks, storageFileId, fileUrl, filePath].some((value) => !isEmpty(value)))
		return false;
	// On Xpert, a document with nothing but its ID is taken out of answers, or let into them again, that way.
	return !(record.id && typeof record.disabled === 'boolean');
}

function emptyDocument(item: Item): ItemError {
	const columns = Object.keys(item.json);
	const has = columns.length > 0 ? `; the item has ${columns.slice(0, 5).join(', ')}` : '';
	const demand = `must give the document a name, a text, a page, a chunk, a file ID or an address${has}`;
	return item.refusal({ subject: '"Document Fields"', demand });
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
 * The documents of an item's file, each under its id, read as they are asked for.
 *
 * @throws NodeOperationError when the item has no such file
 */
export async function* fileEntries(
	item: Item,
	knowledgebaseId: string,
): AsyncGenerator<SourceEntry> {
	const field = item.binary();
	const identify = identifier(item, knowledgebaseId, false);
	const prepared = idPreparation(item, false);
	for await (const record of jsonRecords(binaryChunks(item, field))) {
		const place = `Line ${record.line} of the file`;
		try {
			if ('flaw' in record) throw item.refusal({ subject: place, demand: record.flaw });
			const value = prepared(record.value);
			const checked = isDocument(value) ? value : item.check(document, value, { parameter: place });
			const identified = withTextSplitter(identify(checked, place));
			yield { document: identified, text: documentText(item, identified) };
		} catch (caught) {
			const flaw = item.asError(caught);
			flaw.description = RECORD_LEFT_OUT;
			yield { flaw };
		}
	}
}

const RECORD_LEFT_OUT =
	'This record was not sent. Correct it in the file, then run the node again.';

/**
 * The JSON text of a document, made only once.
 *
 * @throws NodeOperationError naming what of it has none
 */
export function documentText(item: Item, record: DocumentRecord): string {
	if (item.isJsonBody) return item.jsonText(record, { parameter: item.labelOf('jsonBody') });
	const parameter = item.labelOf('binaryPropertyName');
	return item.jsonText(record, isFileSource(item) ? { parameter } : DOCUMENT_NAMING);
}

/** A document ready to be sent. */
export function prepare(
	record: DocumentRecord,
	origin: Origin,
	json = JSON.stringify(record),
): Prepared<Origin> {
	const { id, name } = record;
	return {
		json,
		bytes: Buffer.byteLength(json),
		origin,
		...(typeof id === 'string' && isUuid(id) ? { id } : {}),
		...(typeof name === 'string' ? { name } : {}),
	};
}
