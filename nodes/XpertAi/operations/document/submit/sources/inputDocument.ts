import type { Hash } from 'crypto';
import { attempt } from 'lodash';

import type { ItemError } from '../../../../execution/apiError';
import { isMissingPartError } from '../../../../execution/missingExpressionPart';
import type { Item } from '../../../../execution/item';
import type { SourceFile } from '../../../../ingest/readyDocuments';
import type { DocumentRecord } from '../../../../payloads/document';

/** A document that was read from an item and checked. */
export interface InputDocument {
	record: DocumentRecord;
	/** The record as JSON, from `readyRecord`. Not set in Find Changes. */
	recordJson?: string;
	/** The key from which `makeReadyDocument` derives the document ID. */
	key?: string;
	/** A text that changes with the document. Runs compare this text instead of the content. */
	version?: string;
	/** Whether the document has no version, although the user filled in its field. */
	lacksExpectedVersion?: boolean;
	/** Number of metadata values that were left out, because a part of their expression is missing. */
	missingMetadataCount?: number;
	/**
	 * The keys of "Metadata Rows" for this document: `empty` without a value, `lacking` with an expression that lacks a
	 * part. `filled` has all keys of the metadata, also those from the setting Metadata.
	 */
	metadataRowKeys?: Record<'empty' | 'lacking' | 'filled', string[]>;
	/** Reads the file (see `ReadyDocument.readFile`). The node uploads the file before it stores the document. */
	readFile?: (hasher?: Hash) => Promise<SourceFile>;
	/** Whether the node removed U+0000 from the record. Not set if there is a file: see `SourceFile.hadNul`. */
	hadNul?: boolean;
	/** The columns of the item that the document does not use. Only set if "Documents From" is "Fields". */
	unusedColumns?: string[];
}

/** Maps the error of a rejected document to the document key. The key marks the document as present in the source. */
export const documentKeyByError = new WeakMap<object, string>();

/** The documents of an item. A file of records gives groups, with an error for each unreadable record. */
export type ItemDocuments = InputDocument[] | AsyncIterable<Array<InputDocument | ItemError>>;

/**
 * Reads the documents of an item. If the item is rejected, records its key in `documentKeyByError`, if the key is known.
 *
 * @throws NodeOperationError if the item is rejected
 */
export function readOrRejectWithKey(
	item: Item,
	readKey: () => string | undefined,
	read: () => InputDocument[],
): InputDocument[] {
	try {
		return read();
	} catch (caught) {
		// With a missing part, the key would be wrong. If `readKey` throws, `attempt` returns the error, and `errorWithKey`
		// ignores it, because it is no text.
		const key = isMissingPartError(caught) ? undefined : attempt(readKey);
		throw errorWithKey(key, item.asError(caught));
	}
}

/** Records the key of a rejected document in `documentKeyByError`, if the key is known. Returns the same error. */
export function errorWithKey(key: unknown, error: ItemError): ItemError {
	if (typeof key === 'string') documentKeyByError.set(error, key);
	return error;
}
