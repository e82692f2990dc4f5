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
 * Says which id a document is kept under. Its pages and chunks get none: on Xpert, one that comes again
 * with its id and another content loses its document (service behaviour).
 *
 * @param place where the document stands, for messages, if the item has more than this one
 */
export type Identify = (document: DocumentRecord, place?: string) => Identified;

/** A document, and what its id is made of. */
export interface Identified {
	record: DocumentRecord;
	/** What its id is made of, when its turn comes; without it the id is its own. */
	key?: string;
	/** Whether the user wants it to have a new id each time. */
	newEachTime?: boolean;
}

/**
 * What keys belong to: the knowledgebase, or a source of it that has a name, so that two sources may bring
 * the same key for two documents.
 *
 * @param sourceName empty where it has none
 * @returns what `withId` takes
 */
export function keyOwner(knowledgebaseId: string, sourceName: string): string {
	return sourceName === '' ? knowledgebaseId : derivedId(knowledgebaseId, `source ${sourceName}`);
}

/**
 * The document under the id that is made of its key; one whose id is known is itself.
 *
 * @param owner what the key belongs to
 */
export function withId({ record, key }: Identified, owner: string): DocumentRecord {
	return key === undefined ? record : { ...record, id: derivedId(owner, key) };
}

const idMode = z.enum(['derived', 'field', 'new']);

/**
 * How the documents of an item get their ids (Document ID).
 *
 * @returns gives a document its id
 * @throws NodeOperationError where the mode or the key cannot be read; what it returns, when a document lacks its key or its UUID
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

/** Whether the id a document brings is sent; if not, it may be anything. */
export function ownIdIsSent(item: Item, fromFields: boolean): boolean {
	const mode = idModeOf(item);
	if (mode !== 'derived') return mode === 'field';
	return textIfGiven(item, keyParameter(fromFields)) === undefined;
}

function idModeOf(item: Item): z.infer<typeof idMode> {
	return item.choice('documentSettings.documentIdMode', idMode);
}

function derivedIdentifier(item: Item, fromFields: boolean): Identify {
	const parameter = keyParameter(fromFields);
	const given = fromFields ? keyIfGiven(item, parameter) : textIfGiven(item, parameter);
	if (given === undefined) return (record) => ({ record });
	if (fromFields) return (record) => ({ record, key: given });
	const label = `"${item.labelOf(parameter)}"`;
	return (record, place) => {
		const key = ownValue(record, given);
		const subject = place ? `${place}: ${label}` : label;
		if ((typeof key === 'string' && key.trim() !== '') || typeof key === 'number')
			return { record, key: checkedKey(item, key, subject) };
		const demand = `names ${quoted(given)}, which this document does not have`;
		return item.refuse({ subject, demand });
	};
}

/** The value at a path of the document's own keys; `constructor.name` is none of them. */
export function ownValue(document: DocumentRecord, path: string): unknown {
	return has(document, path) ? get(document, path) : undefined;
}

function keyParameter(fromFields: boolean): string {
	return `documentSettings.${fromFields ? 'documentKey' : 'documentKeyField'}`;
}

/** Where a document came from, its place among the documents of its item, and what became of it. */
export interface Origin {
	item: Item;
	position: number;
	name?: string;
	outcome?: 'found' | 'stored' | 'unchanged' | 'rejected' | 'unknown' | 'notSent';
	/** Whether it is remembered to the end of the run. */
	isTracked?: boolean;
	/** Whether it has a file that is uploaded before it is sent. */
	isUploaded?: boolean;
	/** Whether a later one of the run came with its key or ID. */
	isReplaced?: boolean;
}

/**
 * A document as a source gives it: read and checked, so that it can be sent. Its id is made when its turn comes.
 */
export interface FoundDocument extends Identified {
	/** The file to upload before it is sent; its address is not yet in the record. */
	file?: () => UploadFile | Promise<UploadFile>;
	/** What is in that file, to tell whether it has changed. */
	contents?: () => AsyncIterable<Uint8Array | string> | string[];
	/** Whether a table is sent as text, because servers cannot read it otherwise. */
	readAsText?: boolean;
	/** Columns of its item that match no field of a document (Map Automatically). */
	unusedColumns?: string[];
}

/** Why a part of an item is no document, where others of it may be. */
export interface FlawedDocument {
	flaw: ItemError;
}
