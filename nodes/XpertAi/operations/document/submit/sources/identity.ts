import get from 'lodash/get';
import has from 'lodash/has';
import omit from 'lodash/omit';
import type { INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';

import { quoted } from '../../../../execution/badInput';
import type { Item } from '../../../../execution/item';
import { checkedKey, keyIfGiven, textIfGiven } from '../../../../execution/keys';
import type { ItemError } from '../../../../execution/outputs';
import { UUID_DEMAND, isUuid } from '../../../../payloads/common';
import { derivedId } from '../../../../payloads/derivedId';
import type { DocumentRecord } from '../../../../payloads/document';
import { isJsonObject } from '../../../../transport/answer';
import type { UploadFile } from '../../../../transport/multipart';
import type { OutcomeName } from '../counts';

/** A document as read and checked by its source. Its ID is derived when its turn comes. */
export interface FoundDocument {
	record: DocumentRecord;
	/** The key that its ID is derived from; without a key, the document keeps its own ID. */
	key?: string;
	/** Whether the user wants it to have a new id each time. */
	newEachTime?: boolean;
	/** The file to upload first; its address is not in the record yet. */
	file?: () => UploadFile | Promise<UploadFile>;
	/** Whether it is a table that is sent as text, because servers cannot read it otherwise. */
	readAsText?: boolean;
	/** Columns of its item that match no field of a document (Map Automatically). */
	unusedColumns?: string[];
}

/** How the documents of an item get their IDs. */
interface Identification {
	/** Applied to a document before it is checked: a numeric ID may serve as a key, unless it is sent as ID. */
	prepare: (document: unknown) => unknown;
	/**
	 * Gives a document its key. Its pages and chunks get no ID: on Xpert, a page sent again with its ID and changed
	 * content deletes its document (service behaviour).
	 *
	 * @param place where the document is, for messages, if the item has several
	 * @throws NodeOperationError if the document lacks its key or its UUID
	 */
	identify: (document: DocumentRecord, place?: string) => FoundDocument;
}

/**
 * The owner of keys: the knowledgebase or, if it is named, the source. So two sources may use one key for two
 * documents.
 *
 * @param sourceName empty if the source has no name
 */
export function keyOwner(knowledgebaseId: string, sourceName: string): string {
	return sourceName === '' ? knowledgebaseId : derivedId(knowledgebaseId, `source ${sourceName}`);
}

const idMode = z.enum(['derived', 'field', 'new']);

const keepId: Identification['prepare'] = (document) => document;

const idAsText: Identification['prepare'] = (document) =>
	isJsonObject(document) && typeof document.id === 'number'
		? { ...document, id: String(document.id) }
		: document;

/**
 * How the documents of an item get their IDs (Document ID).
 *
 * @param keySetting the setting with the key of the item's document, or with the path of the key in each document
 * @throws NodeOperationError if the mode or the key cannot be read
 */
export function identification(
	item: Item,
	keySetting: 'documentKey' | 'documentKeyField',
): Identification {
	const parameter = `documentSettings.${keySetting}`;
	const mode = item.setting('documentSettings.documentIdMode', idMode);
	if (mode === 'new')
		return {
			prepare: idAsText,
			identify: (document) => ({ record: omit(document, 'id'), newEachTime: true }),
		};
	if (mode === 'field')
		return {
			prepare: keepId,
			identify: (record, place) => {
				if (typeof record.id === 'string' && isUuid(record.id)) return { record };
				const subject = place ? `${place}: the document's ID` : "The document's ID";
				return item.refuse({ subject, demand: UUID_DEMAND, value: record.id ?? '' });
			},
		};
	const isPath = keySetting === 'documentKeyField';
	const given = isPath ? textIfGiven(item, parameter) : keyIfGiven(item, parameter);
	if (given === undefined) return { prepare: keepId, identify: (record) => ({ record }) };
	if (!isPath) return { prepare: idAsText, identify: (record) => ({ record, key: given }) };
	const label = `"${item.labelOf(parameter)}"`;
	const identify: Identification['identify'] = (record, place) => {
		const key = ownValue(record, given);
		const subject = place ? `${place}: ${label}` : label;
		if ((typeof key === 'string' && key.trim() !== '') || typeof key === 'number')
			return { record, key: checkedKey(item, key, subject) };
		const demand = `names ${quoted(given)}, which this document does not have`;
		return item.refuse({ subject, demand });
	};
	return { prepare: idAsText, identify };
}

/** The value at a path of a document's own keys; inherited keys such as `constructor` do not count. */
export function ownValue(document: DocumentRecord, path: string): unknown {
	return has(document, path) ? get(document, path) : undefined;
}

/** The origin of a document: its item, and what became of it. */
export interface Origin {
	item: Item;
	name?: string;
	outcome?: OutcomeName;
	/** Whether it is kept to the end of the run. */
	isTracked?: boolean;
	/** Whether its file is uploaded before it is sent. */
	isUploaded?: boolean;
	/** Whether a later document of the run has the same key or ID. */
	isReplaced?: boolean;
	/** Its output item, unless only a summary is wanted. */
	output?: INodeExecutionData;
}

/** Why one record of an item is no document. */
export interface FlawedDocument {
	flaw: ItemError;
}
