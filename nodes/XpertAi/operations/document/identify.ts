import get from 'lodash/get';
import has from 'lodash/has';
import omit from 'lodash/omit';
import { z } from 'zod';

import { badInput, checkInput, quoted } from '../../execution/badInput';
import { readText } from '../../execution/readFields';
import type { ItemReader } from '../../execution/readFields';
import { derivedId, isUuid } from '../../ingest/identity';
import type { DocumentRecord } from '../../payloads/document';

/**
 * Gives a document the id it is kept under. Its pages and chunks get none: on Xpert, one that comes again
 * with its id and another content loses its document (service behaviour).
 *
 * @param place where the document stands, for messages, if the item has more than this one
 */
export type Identify = (document: DocumentRecord, place?: string) => DocumentRecord;

const idMode = z.enum(['derived', 'field', 'server']);

/**
 * How the documents of an item get their ids (Document ID).
 *
 * @returns a function that throws NodeOperationError when a document lacks its key or its UUID
 */
export function identifier(
	reader: ItemReader,
	knowledgebaseId: string,
	fromFields: boolean,
): Identify {
	const source = { node: reader.context.getNode(), itemIndex: reader.itemIndex };
	switch (readIdMode(reader)) {
		case 'server':
			return (document) => omit(document, 'id');
		case 'field':
			return (document, place) => {
				if (typeof document.id === 'string' && isUuid(document.id)) return document;
				const subject = place ? `${place}: the document's ID` : "The document's ID";
				throw badInput(source, subject, UUID_DEMAND, document.id ?? '');
			};
		case 'derived':
			return derivedIdentifier(reader, knowledgebaseId, fromFields);
	}
}

/** Whether the id a document brings is sent; if not, it may be anything. */
export function ownIdIsSent(reader: ItemReader, fromFields: boolean): boolean {
	const mode = readIdMode(reader);
	return mode === 'field' || (mode === 'derived' && !hasKey(reader, fromFields));
}

function readIdMode({ context, itemIndex }: ItemReader): z.infer<typeof idMode> {
	const given: unknown = context.getNodeParameter('documentIdMode', itemIndex, 'derived');
	const source = { node: context.getNode(), itemIndex, parameter: 'Document ID' };
	return checkInput(idMode, given, source);
}

const UUID_DEMAND = 'must be a UUID such as 123e4567-e89b-42d3-a456-426614174000';

function derivedIdentifier(
	reader: ItemReader,
	knowledgebaseId: string,
	fromFields: boolean,
): Identify {
	const { context, itemIndex } = reader;
	const source = { node: context.getNode(), itemIndex };
	if (!hasKey(reader, fromFields)) return (document) => document;
	const given = fromFields
		? readText(reader, 'documentKey', 'Document Key')
		: readText(reader, 'documentKeyField', 'Key Field');
	return (document, place) => {
		const key: unknown = fromFields ? given : ownValue(document, given);
		if ((typeof key === 'string' && key.trim() !== '') || typeof key === 'number') {
			return { ...document, id: derivedId(knowledgebaseId, String(key)) };
		}
		if (fromFields) throw badInput(source, '"Document Key"', 'must not be empty');
		const subject = place ? `${place}: "Key Field"` : '"Key Field"';
		throw badInput(source, subject, `names ${quoted(given)}, which this document does not have`);
	};
}

/** The value at a path of the document's own keys; `constructor.name` is none of them. */
function ownValue(document: DocumentRecord, path: string): unknown {
	return has(document, path) ? get(document, path) : undefined;
}

/** An expression that comes out empty for one document must not leave it without an id unnoticed. */
function hasKey({ context }: ItemReader, fromFields: boolean): boolean {
	const parameter = context.getNode().parameters[fromFields ? 'documentKey' : 'documentKeyField'];
	return typeof parameter === 'string' && parameter.trim() !== '' && parameter !== '=';
}
