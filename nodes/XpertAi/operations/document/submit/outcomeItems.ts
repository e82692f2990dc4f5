import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import type { ItemError } from '../../../execution/outputs';
import type { ReadyDocument } from '../../../ingest/batches';
import type { ProcessingEnd, ProcessingWord } from '../../../ingest/processing';
import type { DocumentOutcome } from '../../../ingest/submit';
import { isJsonObject } from '../../../transport/answer';
import { failureMessage } from '../../../transport/failure';
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

const STUCK =
	'The document is stored, but an earlier run has started its processing and the server shows no progress';

/** Why nobody finds a stored document; `undefined` where it is found, on its way, or nobody can say. */
export function processingFlaw(end: ProcessingEnd): string | undefined {
	const { word, processMsg, failure, hasNoRoute, isStuck } = end;
	if (hasNoRoute) return undefined;
	if (isStuck) return STUCK;
	if (failure)
		return `The document is stored, but its processing could not be started. ${failureMessage(failure)}`;
	const what = FLAWS[word];
	return what && `The document ${what}${processMsg ? `: ${processMsg}` : ''}`;
}

/**
 * The item of a stored document, with how far its processing came; one with a flaw becomes an error item.
 *
 * @param flaw why nobody finds it
 */
export function processedItem(
	item: Item,
	output: INodeExecutionData,
	{ word, processMsg }: ProcessingEnd,
	flaw: string | undefined,
): INodeExecutionData {
	const facts: IDataObject = { processing: word, ...(processMsg ? { processMsg } : {}) };
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
