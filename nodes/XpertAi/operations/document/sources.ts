import isEmpty from 'lodash/isEmpty';

import { badInput, checkInput, jsonText } from '../../execution/badInput';
import { asNodeError } from '../../execution/items';
import type { ItemError } from '../../execution/items';
import { readJsonBody } from '../../execution/readBody';
import { readId } from '../../execution/readFields';
import type { ItemReader } from '../../execution/readFields';
import type { Prepared } from '../../ingest/batches';
import { isUuid } from '../../ingest/identity';
import { jsonRecords } from '../../ingest/jsonRecords';
import { withTextSplitter } from '../../ingest/textSplitter';
import { document, documentList, isDocument } from '../../payloads/document';
import type { DocumentRecord } from '../../payloads/document';
import { isJsonObject } from '../../transport/answer';
import type { OperationContext } from '../operation';
import { binaryChunks, readBinaryField } from '../shared/binaryField';
import { DISPLAY_NAMES } from '../shared/fields';
import { identifier, ownIdIsSent } from './identify';
import { DOCUMENT_NAMES, documentFromFields } from './readDocuments';

type Context = OperationContext['context'];

/** Where a document came from and where it stands in the output. */
export interface Origin {
	itemIndex: number;
	position: number;
}

/** A document of a file with its JSON text, or why a record of it is none. */
export type SourceEntry = { document: DocumentRecord; text: string } | { flaw: ItemError };

/** Whether the documents of the input items come from files, which are not read into memory. */
export function isFileSource(context: Context): boolean {
	return context.getNodeParameter('bodyMode', 0, 'fields') === 'file';
}

/** The knowledgebase an item's documents go to. */
export function readKnowledgebaseId(reader: ItemReader): string {
	return readId(reader, 'knowledgebaseId', DISPLAY_NAMES.knowledgebaseId);
}

/**
 * The documents of one item that is no file, each under its id.
 *
 * @param unusedColumns gathers the columns that match no field of a document
 * @throws NodeOperationError when the item cannot be read
 */
export function itemDocuments(
	reader: ItemReader,
	knowledgebaseId: string,
	unusedColumns: Set<string>,
): DocumentRecord[] {
	const mode = reader.context.getNodeParameter('bodyMode', reader.itemIndex, 'fields');
	const fromFields = mode !== 'json';
	const identify = identifier(reader, knowledgebaseId, fromFields);
	const prepared = idPreparation(reader, fromFields);
	if (fromFields) {
		const made = identify(documentFromFields(reader, { prepared, unusedColumns }));
		if (isEmptyDocument(made)) throw emptyDocument(reader);
		return [withTextSplitter(made)];
	}
	const found = readJsonBody(reader, documentList(prepared));
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

function emptyDocument({ context, itemIndex }: ItemReader): ItemError {
	const source = { node: context.getNode(), itemIndex };
	const columns = Object.keys(context.getInputData()[itemIndex]?.json ?? {});
	const has = columns.length > 0 ? `; the item has ${columns.slice(0, 5).join(', ')}` : '';
	return badInput(
		source,
		'"Document Fields"',
		`must give the document a name, a text, a page, a chunk, a file ID or an address${has}`,
	);
}

/** What is done to a document before it is checked: a row's number may be a key, if it is not sent as id. */
function idPreparation(reader: ItemReader, fromFields: boolean): (document: unknown) => unknown {
	if (ownIdIsSent(reader, fromFields)) return (document) => document;
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
	reader: ItemReader,
	knowledgebaseId: string,
): AsyncGenerator<SourceEntry> {
	const { context, itemIndex } = reader;
	const field = readBinaryField(reader);
	const identify = identifier(reader, knowledgebaseId, false);
	const prepared = idPreparation(reader, false);
	const source = { node: context.getNode(), itemIndex };
	for await (const record of jsonRecords(binaryChunks(reader, field))) {
		const place = `Line ${record.line} of the file`;
		try {
			if ('flaw' in record) throw badInput(source, place, record.flaw);
			const value = prepared(record.value);
			const checked = isDocument(value)
				? value
				: checkInput(document, value, { ...source, parameter: place });
			const identified = withTextSplitter(identify(checked, place));
			yield { document: identified, text: documentText(reader, identified) };
		} catch (caught) {
			const flaw = asNodeError(context, caught, itemIndex);
			flaw.description = RECORD_LEFT_OUT;
			yield { flaw };
		}
	}
}

const RECORD_LEFT_OUT =
	'This record was not sent. Correct it in the file, then run the node again.';

const SOURCE_NAMES = {
	json: DISPLAY_NAMES.jsonBody,
	file: 'Input Binary Field',
};

/**
 * The JSON text of a document, made only once.
 *
 * @throws NodeOperationError naming what of it has none
 */
export function documentText({ context, itemIndex }: ItemReader, record: DocumentRecord): string {
	const mode = context.getNodeParameter('bodyMode', itemIndex, 'fields');
	const names =
		mode === 'json' || mode === 'file' ? { parameter: SOURCE_NAMES[mode] } : DOCUMENT_NAMES;
	return jsonText(record, { node: context.getNode(), itemIndex, ...names });
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
