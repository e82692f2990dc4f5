import { z } from 'zod';

import { checkedKey, keyIfGiven } from '../../../../execution/identityFields';
import { readVersion, VERSION_PARAMETER, wantsVersion } from '../documentVersion';
import type { Item } from '../../../../execution/item';
import { DOCUMENTS_FROM, type DocumentsFrom } from '../fields';
import { readAddressDocument, stableAddress } from './addresses';
import { readMappedDocument } from './mappedDocument';
import { pathOfFile, readFileDocument } from './files';
import { type InputDocument, type ItemDocuments, readOrRejectWithKey } from './inputDocument';
import { readJsonDocuments } from './json';
import { readRecordDocuments } from './records';
import { NAME_PARAMETER, nameOfText, readTextDocument } from './text';

const documentsFromOptionSchema = z.enum(
	Object.keys(DOCUMENTS_FROM) as [DocumentsFrom, ...DocumentsFrom[]],
);

const READERS: Record<DocumentsFrom, (item: Item) => ItemDocuments> = {
	text: (item) => readKeyedDocument(item, readTextDocument, nameOfText, NAME_PARAMETER),
	files: (item) => readKeyedDocument(item, readFileDocument, pathOfFile, 'binaryPropertyName'),
	addresses: (item) => readKeyedDocument(item, readAddressDocument, stableAddress, 'url'),
	fields: (item) => readKeyedDocument(item, readMappedDocument),
	json: readJsonDocuments,
	records: readRecordDocuments,
};

/**
 * Reads the documents of an item. The parameter "Documents From" selects the reader.
 *
 * @returns the documents; a file of records is read, and can throw, only when the caller iterates the result
 * @throws NodeOperationError naming the field, the item and the requirement
 */
export function readDocuments(item: Item): ItemDocuments {
	return READERS[item.setting('source', documentsFromOptionSchema)](item);
}

/**
 * Reads the single document of an item, with its key and version.
 *
 * @param read may return the default key with the document. Then `defaultKey` is called only for a rejected item, whose
 * key is needed, too (see `readOrRejectWithKey`).
 * @param defaultKey returns the key to use if "Document Key" is empty
 * @param parameter the node parameter to name in error messages about the default key
 * @throws NodeOperationError if the item is rejected
 */
function readKeyedDocument(
	item: Item,
	read: (item: Item) => InputDocument,
	defaultKey?: (item: Item) => string,
	parameter = '',
): InputDocument[] {
	// `readOrRejectWithKey` calls this without `found` if the item is rejected.
	const readKey = (found?: InputDocument) => {
		const given = keyIfGiven(item, 'documentKey');
		if (given !== undefined || !defaultKey) return given;
		return checkedKey(item, found?.key ?? defaultKey(item), `"${item.labelOf(parameter)}"`);
	};
	return readOrRejectWithKey(item, readKey, () => {
		const version = readVersion(item, VERSION_PARAMETER);
		const lacksExpectedVersion = version === undefined && wantsVersion(item, VERSION_PARAMETER);
		const found = read(item);
		return [{ ...found, key: readKey(found), version, lacksExpectedVersion }];
	});
}
