import { hash, randomUUID } from 'crypto';

import type { Item } from '../../../execution/item';
import type { ReadyDocument } from '../../../ingest/readyDocuments';
import { withParentFolder } from '../../../ingest/folders';
import { HASH_KIND_MARKS } from '../../../ingest/memory';
import type { DocumentRecord } from '../../../payloads/document';
import { unsignedAddress } from '../../../payloads/signedAddress';
import { derivedId, isUuid } from '../../../payloads/ids';
import type { DocumentReport } from './documentReport';
import type { InputDocument } from './sources/inputDocument';

export type SubmitDocument = ReadyDocument<DocumentReport>;

/** The record as JSON. Reuses the JSON of the found document if possible, to save time. */
function jsonWithId(found: InputDocument, record: DocumentRecord, id: string) {
	const { record: read, recordJson = '' } = found;
	const isSame = record.parent === read.parent && record.folder === read.folder;
	if (!isSame || recordJson.length <= 2) return JSON.stringify(record);
	if (read.id === undefined) return `{"id":"${id}",${recordJson.slice(1)}`;
	return read.id === id ? recordJson : JSON.stringify(record);
}

/** The IDs of pages or chunks. */
const withOnlyIds = (parts: DocumentRecord['pages']) => parts?.map(({ id }) => ({ id }));

/** The hash of a version or of a record, with a prefix from `HASH_KIND_MARKS`. */
export function hashOf(
	{ sizeInBytes, recordJson, record: { fileUrl } }: SubmitDocument,
	version?: string,
): string {
	if (version !== undefined) return HASH_KIND_MARKS.version + hash('sha256', version, 'binary');
	// Leaves out the signature of a URL, because the signature differs in each run.
	const unsigned = () => JSON.stringify(unsignedAddress(fileUrl ?? ''));
	const given = fileUrl ? recordJson.replace(JSON.stringify(fileUrl), unsigned) : recordJson;
	// Normalizes the text, so that a file name has the same hash in NFC and in NFD. ASCII text needs no normalization.
	const text = sizeInBytes === recordJson.length ? given : given.normalize('NFC');
	return HASH_KIND_MARKS.content + hash('sha256', text, 'binary');
}

/**
 * Makes a document that can be sent: with its ID, folder, JSON and `report`. The ID is derived from the key, or else the
 * document's own, or else random. Without a file, `record` keeps no content, because the JSON has it.
 *
 * @param idNamespace the namespace of the key (see `keyNamespace`)
 * @param isKeptToEnd whether the report is kept to the end of the run
 */
export function makeReadyDocument(
	found: InputDocument,
	item: Item,
	{ knowledgebaseId, idNamespace }: Record<'knowledgebaseId' | 'idNamespace', string>,
	isKeptToEnd: boolean,
): SubmitDocument {
	const { key, readFile, hadNul } = found;
	const fixedId = key === undefined ? found.record.id : derivedId(idNamespace, key);
	// With a random ID, the request can be repeated without storing the document twice.
	const id = fixedId || randomUUID();
	const record = withParentFolder({ ...found.record, id }, knowledgebaseId);
	const hasFileToUpload = readFile !== undefined;
	// An ID that is not a UUID is not stable either, because the server may replace it.
	const lacksStableId = key === undefined && !isUuid(fixedId ?? '');
	const name = record.name ?? undefined;
	const report: DocumentReport = { item, name, key, id, hadNul, hasFileToUpload, isKeptToEnd };
	const recordJson = jsonWithId(found, record, id);
	const [pages, chunks] = [record.pages, record.chunks].map(withOnlyIds);
	// The content is in the JSON. A second copy would only need memory. A document with a file keeps its content, because
	// its JSON is made again after the upload.
	if (!readFile) Object.assign(record, { metadata: null, pages, chunks });
	const sizeInBytes = Buffer.byteLength(recordJson);
	return { record, recordJson, sizeInBytes, report, id, lacksStableId, key, readFile };
}
