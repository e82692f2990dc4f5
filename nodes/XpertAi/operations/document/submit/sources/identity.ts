import get from 'lodash/get';
import has from 'lodash/has';
import omit from 'lodash/omit';
import { z } from 'zod';

import { quoted } from '../../../../execution/badInput';
import type { Item } from '../../../../execution/item';
import { checkedKey, keyIfGiven, textIfGiven } from '../../../../execution/keys';
import type { ItemError } from '../../../../execution/outputs';
import { UUID_DEMAND, isUuid } from '../../../../payloads/common';
import { derivedId } from '../../../../payloads/derivedId';
import type { DocumentRecord } from '../../../../payloads/document';
import type { UploadFile } from '../../../../transport/multipart';

/**
 * Gives a document its ID. Its pages and chunks get none: on Xpert, a page sent again with its ID and changed content
 * deletes its document (service behaviour).
 *
 * @param place where the document is, for messages, if the item has several
 */
export type Identify = (document: DocumentRecord, place?: string) => Identified;

/** A document and its key. */
export interface Identified {
	record: DocumentRecord;
	/** The key that its ID is derived from; without a key, the document keeps its own ID. */
	key?: string;
	/** Whether the user wants it to have a new id each time. */
	newEachTime?: boolean;
}

/**
 * The owner of keys: the knowledgebase or, if it is named, the source. So two sources may use one key for two
 * documents.
 *
 * @param sourceName empty if the source has no name
 * @returns the owner, for `withId`
 */
export function keyOwner(knowledgebaseId: string, sourceName: string): string {
	return sourceName === '' ? knowledgebaseId : derivedId(knowledgebaseId, `source ${sourceName}`);
}

/**
 * Gives a document the ID derived from its key; without a key, it keeps its own.
 *
 * @param owner the owner of the key
 */
export function withId({ record, key }: Identified, owner: string): DocumentRecord {
	return key === undefined ? record : { ...record, id: derivedId(owner, key) };
}

const idMode = z.enum(['derived', 'field', 'new']);

/**
 * How the documents of an item get their IDs (Document ID).
 *
 * @returns gives a document its ID; throws NodeOperationError if the document lacks its key or its UUID
 * @throws NodeOperationError if the mode or the key cannot be read
 */
export function identifier(item: Item, fromFields: boolean): Identify {
	switch (idModeOf(item)) {
		case 'new':
			return (document) => ({ record: omit(document, 'id'), newEachTime: true });
		case 'field':
			return (document, place) => {
				if (typeof document.id === 'string' && isUuid(document.id)) return { record: document };
				const subject = place ? `${place}: the document's ID` : "The document's ID";
				return item.refuse({ subject, demand: UUID_DEMAND, value: document.id ?? '' });
			};
		case 'derived':
			return derivedIdentifier(item, fromFields);
	}
}

/** Whether the ID in a document is sent; if not, it may have any form. */
export function ownIdIsSent(item: Item, fromFields: boolean): boolean {
	const mode = idModeOf(item);
	if (mode !== 'derived') return mode === 'field';
	return textIfGiven(item, keyParameter(fromFields)) === undefined;
}

function idModeOf(item: Item): z.infer<typeof idMode> {
	return item.setting('documentSettings.documentIdMode', idMode);
}

function derivedIdentifier(item: Item, fromFields: boolean): Identify {
	const parameter = keyParameter(fromFields);
	const keySetting = fromFields ? keyIfGiven(item, parameter) : textIfGiven(item, parameter);
	if (keySetting === undefined) return (record) => ({ record });
	if (fromFields) return (record) => ({ record, key: keySetting });
	const label = `"${item.labelOf(parameter)}"`;
	return (record, place) => {
		const key = ownValue(record, keySetting);
		const subject = place ? `${place}: ${label}` : label;
		if ((typeof key === 'string' && key.trim() !== '') || typeof key === 'number')
			return { record, key: checkedKey(item, key, subject) };
		const demand = `names ${quoted(keySetting)}, which this document does not have`;
		return item.refuse({ subject, demand });
	};
}

/** The value at a path of a document's own keys; inherited keys such as `constructor` do not count. */
export function ownValue(document: DocumentRecord, path: string): unknown {
	return has(document, path) ? get(document, path) : undefined;
}

function keyParameter(fromFields: boolean): string {
	return `documentSettings.${fromFields ? 'documentKey' : 'documentKeyField'}`;
}

/** The origin of a document: its item, its position among the documents of the item, and its outcome. */
export interface Origin {
	item: Item;
	position: number;
	name?: string;
	outcome?: 'found' | 'stored' | 'unchanged' | 'rejected' | 'unknown' | 'notSent';
	/** Whether it is kept to the end of the run. */
	isTracked?: boolean;
	/** Whether its file is uploaded before it is sent. */
	isUploaded?: boolean;
	/** Whether a later document of the run has the same key or ID. */
	isReplaced?: boolean;
}

/** A document as read and checked by its source. Its ID is derived when its turn comes. */
export interface FoundDocument extends Identified {
	/** The file to upload first; its address is not in the record yet. */
	file?: () => UploadFile | Promise<UploadFile>;
	/** The content of that file, for the fingerprint. */
	contents?: () => AsyncIterable<Uint8Array | string> | string[];
	/** Whether it is a table that is sent as text, because servers cannot read it otherwise. */
	readAsText?: boolean;
	/** Columns of its item that match no field of a document (Map Automatically). */
	unusedColumns?: string[];
}

/** Why one record of an item is no document. */
export interface FlawedDocument {
	flaw: ItemError;
}
