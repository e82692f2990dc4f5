import get from 'lodash/get';
import has from 'lodash/has';
import omit from 'lodash/omit';
import { z } from 'zod';

import { quoted } from '../../../../execution/badInput';
import type { Item } from '../../../../execution/item';
import { derivedId } from '../../../../payloads/derivedId';
import { UUID_DEMAND, isUuid } from '../../../../payloads/common';
import type { DocumentRecord } from '../../../../payloads/document';

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
	/** Whether its id is left to the server because the user wants it so. */
	idByServer?: boolean;
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

const idMode = z.enum(['derived', 'field', 'server']);

/**
 * How the documents of an item get their ids (Document ID).
 *
 * @returns gives a document its id
 * @throws NodeOperationError where the mode or the key cannot be read; what it returns, when a document lacks its key or its UUID
 */
export function identifier(item: Item, fromFields: boolean): Identify {
	switch (idModeOf(item)) {
		case 'server':
			return (document) => ({ record: omit(document, 'id'), idByServer: true });
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
	return mode === 'field' || (mode === 'derived' && !hasKey(item, fromFields));
}

function idModeOf(item: Item): z.infer<typeof idMode> {
	return item.choice('documentIdMode', idMode);
}

function derivedIdentifier(item: Item, fromFields: boolean): Identify {
	if (!hasKey(item, fromFields)) return (document) => ({ record: document });
	const parameter = fromFields ? 'documentKey' : 'documentKeyField';
	const given = item.text(parameter);
	const label = `"${item.labelOf(parameter)}"`;
	return (document, place) => {
		const key: unknown = fromFields ? given : ownValue(document, given);
		if ((typeof key === 'string' && key.trim() !== '') || typeof key === 'number') {
			item.checkWhole(String(key), place ? `${place}: ${label}` : label);
			return { record: document, key: String(key) };
		}
		if (fromFields) return item.refuse({ subject: label, demand: 'must not be empty' });
		const subject = place ? `${place}: ${label}` : label;
		const demand = `names ${quoted(given)}, which this document does not have`;
		return item.refuse({ subject, demand });
	};
}

/** The value at a path of the document's own keys; `constructor.name` is none of them. */
export function ownValue(document: DocumentRecord, path: string): unknown {
	return has(document, path) ? get(document, path) : undefined;
}

/** An expression that comes out empty for one document must not leave it without an id unnoticed. */
function hasKey({ context }: Item, fromFields: boolean): boolean {
	const parameter = context.getNode().parameters[fromFields ? 'documentKey' : 'documentKeyField'];
	return typeof parameter === 'string' && parameter.trim() !== '' && parameter !== '=';
}
