import type { IDataObject, INodeExecutionData, INodeProperties, NodeApiError } from 'n8n-workflow';
import { z } from 'zod';

import { asNodeError, errorItem, mayContinue } from '../../execution/items';
import { readId, readNumber } from '../../execution/readFields';
import type { ItemReader } from '../../execution/readFields';
import { readTimeoutMs } from '../../execution/runDeclared';
import { serialize } from '../../ingest/batches';
import type { Serialized } from '../../ingest/batches';
import { submitDocuments } from '../../ingest/submit';
import type { DocumentOutcome } from '../../ingest/submit';
import type { DocumentRecord } from '../../payloads/document';
import { isJsonObject } from '../../transport/answer';
import { toNodeApiError } from '../../transport/failure';
import type { Failure } from '../../transport/failure';
import { buildPath } from '../../transport/request';
import type { CodedOperation, OperationContext } from '../operation';
import { bodyProperties } from '../properties';
import { DISPLAY_NAMES, idField, optionsField, simplify, timeoutOption } from '../shared/fields';
import { chunksField, pagesField } from './pages';
import { readDocuments } from './readDocuments';

const BATCH_TIMEOUT_SECONDS = 300;
const DEFAULT_BATCH_SIZE = 100;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;

const documentFields: INodeProperties = {
	displayName: 'Document Fields',
	name: 'documentFields',
	type: 'resourceMapper',
	noDataExpression: true,
	default: { mappingMode: 'defineBelow', value: null },
	required: true,
	typeOptions: {
		resourceMapper: {
			resourceMapperMethod: 'getDocumentFields',
			mode: 'add',
			fieldWords: { singular: 'field', plural: 'fields' },
			addAllFields: true,
			multiKeyMatch: false,
			supportAutoMap: true,
		},
	},
};

const batchSizeOption: INodeProperties = {
	displayName: 'Batch Size',
	name: 'batchSize',
	type: 'number',
	typeOptions: { minValue: 1, numberPrecision: 0 },
	default: DEFAULT_BATCH_SIZE,
	description: 'Max number of documents in one request',
};

const exampleDocuments =
	'[\n  {\n    "name": "manual.md",\n    "pages": [{ "pageContent": "…" }]\n  }\n]';

export const submit: CodedOperation = {
	value: 'submit',
	name: 'Submit',
	action: 'Submit documents to a knowledgebase',
	description:
		'Store documents, many in one request. Documents with a UUID as ID replace earlier ones with the same ID.',
	endpoint: 'E3',
	properties: [
		idField('knowledgebaseId', 'The knowledgebase that receives the documents'),
		...bodyProperties([documentFields, pagesField, chunksField], exampleDocuments),
		simplify,
		optionsField([batchSizeOption, timeoutOption(BATCH_TIMEOUT_SECONDS)]),
	],
	execute,
};

/** A document and where it stands in the output. */
interface Origin {
	itemIndex: number;
	position: number;
	document: DocumentRecord;
}

async function execute({ context, send }: OperationContext): Promise<INodeExecutionData[]> {
	const { output, byKnowledgebase, total } = readAll(context);
	let stored = 0;
	for (const [knowledgebaseId, records] of byKnowledgebase) {
		const reader: ItemReader = { context, itemIndex: records[0]?.origin.itemIndex ?? 0 };
		const path = buildPath('/knowledges/{knowledgebaseId}/bulk', { knowledgebaseId });
		const timeoutMs = readTimeoutMs(reader, BATCH_TIMEOUT_SECONDS);
		const outcomes = await submitDocuments({
			records,
			limits: { maxCount: readBatchSize(reader), maxBytes: MAX_BATCH_BYTES },
			sendBatch: async (body) => await send({ method: 'POST', path, body, timeoutMs }),
			goOn: () => mayContinue(context),
		});
		for (const outcome of outcomes) {
			if (outcome.stored) stored += 1;
			else if (!mayContinue(context))
				throw stopError(context, outcome.failure, outcome.origin, stored, total);
			output[outcome.origin.position] = outputItem(context, outcome);
		}
	}
	return output;
}

/** Reads every item before anything is sent, so that a bad one stops the run with nothing stored. */
function readAll(context: OperationContext['context']) {
	const output: INodeExecutionData[] = [];
	const byKnowledgebase = new Map<string, Array<Serialized<Origin>>>();
	let position = 0;
	for (let itemIndex = 0; itemIndex < context.getInputData().length; itemIndex++) {
		const reader: ItemReader = { context, itemIndex };
		try {
			const id = readId(reader, 'knowledgebaseId', DISPLAY_NAMES.knowledgebaseId);
			const records = byKnowledgebase.get(id) ?? [];
			for (const document of readDocuments(reader)) {
				records.push(serialize(document, { itemIndex, position, document }));
				position += 1;
			}
			byKnowledgebase.set(id, records);
		} catch (caught) {
			const error = asNodeError(context, caught, itemIndex);
			if (!mayContinue(context)) throw error;
			output[position] = errorItem(error, itemIndex);
			position += 1;
		}
	}
	return { output, byKnowledgebase, total: position };
}

function readBatchSize(reader: ItemReader): number {
	return readNumber(
		reader,
		'options.batchSize',
		'Batch Size',
		z.number().int().min(1),
		DEFAULT_BATCH_SIZE,
	);
}

function outputItem(
	context: OperationContext['context'],
	outcome: DocumentOutcome<Origin>,
): INodeExecutionData {
	const { itemIndex, document } = outcome.origin;
	if (!outcome.stored) {
		return errorItem(
			toNodeApiError(outcome.failure, { node: context.getNode(), itemIndex }),
			itemIndex,
		);
	}
	const record = isJsonObject(outcome.record) ? outcome.record : (document as IDataObject);
	const short = context.getNodeParameter('simplify', itemIndex, true) === true;
	const { id, name } = record;
	const json = short
		? { id, name, outcome: 'stored', status: outcome.status, batch: outcome.batch }
		: record;
	return { json, pairedItem: { item: itemIndex } };
}

/** Says how much is stored, because a second run would store documents without an ID again. */
function stopError(
	context: OperationContext['context'],
	failure: Failure,
	{ itemIndex }: Origin,
	stored: number,
	total: number,
): NodeApiError {
	const error = toNodeApiError(failure, { node: context.getNode(), itemIndex });
	error.message = `${error.message}. ${stored} of ${total} documents are stored`;
	error.description = `${error.description ?? ''} Documents of the batch that failed may be stored in part. A second run replaces documents that carry a UUID as ID and stores all others again.`;
	return error;
}
