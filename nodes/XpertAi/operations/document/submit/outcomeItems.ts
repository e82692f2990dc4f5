import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import type { ItemError } from '../../../execution/outputs';
import type { ReadyDocument } from '../../../ingest/batches';
import { processingWord } from '../../../ingest/processing';
import type { ProcessingStatus, ProcessingWord } from '../../../ingest/processing';
import type { DocumentOutcome } from '../../../ingest/submit';
import { isJsonObject } from '../../../transport/answer';
import { adviceFor } from './advice';
import type { SubmitReport } from './report';
import type { Origin } from './sources';

/** The item that tells what became of a document. */
export function outcomeItem(
	result: DocumentOutcome<Origin>,
	simplify: boolean,
): INodeExecutionData {
	const { document, batch, attempts, outcome } = result;
	const { item } = document.origin;
	const { id, name, key } = document;
	if (result.outcome !== 'stored') {
		const error = item.apiError(result.failure);
		if (outcome === 'unknown') error.message = `${error.message}. ${MAY_BE_STORED}`;
		const { status } = result.failure;
		return item.failed(error, { name, outcome, key, id, status, attempts, batch });
	}
	const record = isJsonObject(result.record) ? result.record : undefined;
	const sent = () => JSON.parse(document.json) as IDataObject;
	const json: IDataObject = simplify
		? {
				name: record?.name ?? name,
				outcome,
				processing: 'none',
				...(key === undefined ? {} : { key }),
				id: record?.id ?? id,
				status: result.status,
				attempts,
				batch,
			}
		: (record ?? sent());
	return item.output(json);
}

const MAY_BE_STORED = 'It is not known whether this document is stored';

/** The item of a document that an earlier run has stored with the same content. */
export function unchangedItem({
	id,
	name,
	key,
	origin,
}: ReadyDocument<Origin>): INodeExecutionData {
	return origin.item.output({
		name,
		outcome: 'unchanged',
		...(key === undefined ? {} : { key }),
		id,
	});
}

/** The item of a record that could not be sent. */
export function flawItem(item: Item, flaw: ItemError): INodeExecutionData {
	return item.failed(flaw, { outcome: 'rejected' });
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
	item: Item,
	output: INodeExecutionData,
	status: ProcessingStatus | undefined,
	flaw: string | undefined,
): INodeExecutionData {
	const facts: IDataObject = { processing: processingWord(status) };
	if (status?.processMsg) facts.processMsg = status.processMsg;
	if (flaw === undefined) return { ...output, json: { ...output.json, ...facts } };
	const { id, name, key, outcome } = output.json;
	const known = outcome === 'unchanged' ? outcome : 'stored';
	const error = item.operationError(flaw, adviceFor(flaw));
	return item.failed(error, { name, outcome: known, ...facts, key, id });
}

/** The one item of Output = Summary. */
export function summaryItem(
	context: IExecuteFunctions,
	{ summary }: SubmitReport,
	seconds: number,
	notes: string[],
): INodeExecutionData {
	const { requests, ...counts } = summary.requests;
	const json: IDataObject = {
		...summary.counts,
		...(notes.length > 0 ? { notes } : {}),
		failed: summary.failed as unknown as IDataObject[],
		seconds: Math.round(seconds * 1000) / 1000,
		attempts: requests,
		...counts,
	};
	return { json, pairedItem: context.getInputData().map((_, item) => ({ item })) };
}
