import { NodeOperationError } from 'n8n-workflow';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { errorItem } from '../../execution/items';
import type { ItemError } from '../../execution/items';
import type { Prepared } from '../../ingest/batches';
import { processingWord } from '../../ingest/processing';
import type { ProcessingStatus, ProcessingWord } from '../../ingest/processing';
import type { DocumentOutcome } from '../../ingest/submit';
import { isJsonObject } from '../../transport/answer';
import { toNodeApiError } from '../../transport/failure';
import type { OperationContext } from '../operation';
import type { Origin } from './sources';

type Context = OperationContext['context'];

/** The item that tells what became of a document. */
export function outcomeItem(
	context: Context,
	result: DocumentOutcome<Origin>,
	simplify: boolean,
): INodeExecutionData {
	const { document, batch, attempts, outcome } = result;
	const { itemIndex } = document.origin;
	const { id, name } = document;
	if (result.outcome !== 'stored') {
		const error = toNodeApiError(result.failure, { node: context.getNode(), itemIndex });
		if (outcome === 'unknown') error.message = `${error.message}. ${MAY_BE_STORED}`;
		const { status } = result.failure;
		return errorItem(error, itemIndex, { name, outcome, id, status, attempts, batch });
	}
	const record = isJsonObject(result.record) ? result.record : undefined;
	const sent = () => JSON.parse(document.json) as IDataObject;
	const json: IDataObject = simplify
		? {
				name: record?.name ?? name,
				outcome,
				id: record?.id ?? id,
				status: result.status,
				attempts,
				batch,
			}
		: (record ?? sent());
	return { json, pairedItem: { item: itemIndex } };
}

const MAY_BE_STORED = 'It is not known whether this document is stored';

/** The item of a document that an earlier run has stored with the same content. */
export function unchangedItem({ id, name, origin }: Prepared<Origin>): INodeExecutionData {
	return { json: { name, outcome: 'unchanged', id }, pairedItem: { item: origin.itemIndex } };
}

/** The item of a record that could not be sent. */
export function flawItem(flaw: ItemError, itemIndex: number): INodeExecutionData {
	return errorItem(flaw, itemIndex, { outcome: 'rejected' });
}

const FLAWS: Partial<Record<ProcessingWord, string>> = {
	error: 'could not be processed',
	cancel: 'was stored, but its processing was cancelled',
	none: 'is stored, but not being processed',
};

/** Why the server has given a document up, or has not begun; `undefined` when it has done neither. */
export function processingFlaw(ended: ProcessingStatus | undefined): string | undefined {
	const what = ended && FLAWS[processingWord(ended)];
	return what && `The document ${what}${ended.processMsg ? `: ${ended.processMsg}` : ''}`;
}

/**
 * The item of a stored document, with how far its processing came; one with a flaw becomes an error item.
 *
 * @param status what the server said last, if its processing started
 * @param flaw why it is not processed
 */
export function processedItem(
	context: Context,
	item: INodeExecutionData,
	status: ProcessingStatus | undefined,
	flaw: string | undefined,
): INodeExecutionData {
	const facts: IDataObject = { processing: processingWord(status) };
	if (status?.processMsg) facts.processMsg = status.processMsg;
	if (flaw === undefined) return { ...item, json: { ...item.json, ...facts } };
	const itemIndex = itemOf(item);
	const error = new NodeOperationError(context.getNode(), flaw, { itemIndex });
	error.message = flaw;
	const { id, name, outcome } = item.json;
	const known = outcome === 'unchanged' ? outcome : 'stored';
	return errorItem(error, itemIndex, { name, outcome: known, id, ...facts });
}

function itemOf({ pairedItem }: INodeExecutionData): number {
	return typeof pairedItem === 'object' && !Array.isArray(pairedItem) ? pairedItem.item : 0;
}
