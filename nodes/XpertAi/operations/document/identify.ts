import get from 'lodash/get';
import has from 'lodash/has';
import omit from 'lodash/omit';

import { badInput, quoted } from '../../execution/badInput';
import { readText } from '../../execution/readFields';
import type { ItemReader } from '../../execution/readFields';
import { derivedId, isUuid, withId } from '../../ingest/identity';
import type { DocumentRecord } from '../../payloads/document';

/** Gives a document the id it is kept under. */
export type Identify = (document: DocumentRecord) => DocumentRecord;

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
	const { context, itemIndex } = reader;
	const source = { node: context.getNode(), itemIndex };
	switch (context.getNodeParameter('documentIdMode', itemIndex, 'derived')) {
		case 'server':
			return (document) => omit(document, 'id');
		case 'field':
			return (document) => {
				if (typeof document.id === 'string' && isUuid(document.id)) return document;
				throw badInput(source, "The document's ID", UUID_DEMAND, document.id ?? '');
			};
		default:
			return derivedIdentifier(reader, knowledgebaseId, fromFields);
	}
}

const UUID_DEMAND = 'must be a UUID such as 123e4567-e89b-42d3-a456-426614174000';

function derivedIdentifier(
	reader: ItemReader,
	knowledgebaseId: string,
	fromFields: boolean,
): Identify {
	const { context, itemIndex } = reader;
	const source = { node: context.getNode(), itemIndex };
	const [parameter, label] = fromFields
		? (['documentKey', '"Document Key"'] as const)
		: (['documentKeyField', '"Key Field"'] as const);
	const isSet = keyIsSet(context.getNode().parameters[parameter]);
	if (!isSet) return (document) => document;
	const given: unknown = fromFields
		? context.getNodeParameter(parameter, itemIndex, '')
		: readText(reader, parameter, 'Key Field');
	return (document) => {
		const key: unknown = fromFields ? given : ownValue(document, String(given));
		if ((typeof key === 'string' && key.trim() !== '') || typeof key === 'number') {
			return withId(document, derivedId(knowledgebaseId, String(key)));
		}
		const demand = fromFields
			? 'must not be empty'
			: `names ${quoted(given)}, which this document does not have`;
		throw badInput(source, label, demand);
	};
}

/** The value at a path of the document's own keys; `constructor.name` is none of them. */
function ownValue(document: DocumentRecord, path: string): unknown {
	return has(document, path) ? get(document, path) : undefined;
}

/** An expression that comes out empty for one document must not leave it without an id unnoticed. */
function keyIsSet(parameter: unknown): boolean {
	return typeof parameter === 'string' && parameter.trim() !== '' && parameter !== '=';
}
