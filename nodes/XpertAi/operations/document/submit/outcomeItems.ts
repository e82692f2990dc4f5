import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { rawOutput } from '../../../execution/audience';
import type { AnswerOutput } from '../../../execution/audience';
import { quoted } from '../../../execution/badInput';
import type { Item } from '../../../execution/item';
import type { ItemError } from '../../../execution/outputs';
import { asJson } from '../../../execution/outputs';
import type { ReadyDocument } from '../../../ingest/batches';
import type { ProcessingEnd, ProcessingState } from '../../../ingest/processingStatus';
import type { DocumentOutcome } from '../../../ingest/storing';
import { isJsonObject } from '../../../transport/answer';
import { failureMessage } from '../../../transport/failure';
import { adviceFor, storingError } from './advice';
import type { Origin } from './sources/identity';

/** The output item with the outcome of a document. */
export function outcomeItem(
	result: DocumentOutcome<Origin>,
	output: AnswerOutput,
): INodeExecutionData {
	const { document, batch, attempts, outcome } = result;
	const { item } = document.origin;
	const facts = detailsOf(document, outcome);
	if (result.outcome === 'notSent') {
		const hint = `The hints of the node say why. With 0 in "${item.labelOf('options.stopAfterFailures')}" it sends all the same.`;
		const error = item.operationError(result.reason ?? NOT_SENT, result.reason ? undefined : hint);
		return item.failed(error, facts);
	}
	if (result.outcome !== 'stored') {
		const error = storingError(document, result.failure);
		if (outcome === 'unknown') error.message = `${error.message}. ${MAY_BE_STORED}`;
		const { status } = result.failure;
		return item.failed(error, { ...facts, status, attempts, batch });
	}
	const record = isJsonObject(result.record) ? result.record : undefined;
	if (!output.simplify) return item.output(rawOutput(output, record ?? asJson(document.record)));
	const { name = facts.name, id = document.id } = record ?? {};
	const { status } = result;
	const stored = detailsOf(document, outcome, { processing: 'none' });
	return item.output({ ...stored, name, id, status, attempts, batch });
}

/** The fields in the output of every document. */
function detailsOf(
	{ id, key, record: { name } }: ReadyDocument<Origin>,
	outcome: Origin['outcome'],
	more: IDataObject = {},
): IDataObject {
	return { name: name ?? undefined, outcome, ...more, ...(key === undefined ? {} : { key }), id };
}

const NOT_SENT = 'Not sent: documents before it came to nothing, all for the same reason';
const MAY_BE_STORED = 'It is not known whether this document is stored';

/** The output item of a document that an earlier run stored with the same content. */
export function unchangedItem(document: ReadyDocument<Origin>): INodeExecutionData {
	return document.origin.item.output(detailsOf(document, 'unchanged'));
}

/** The output item of a record that could not be sent. */
export function flawItem(item: Item, flaw: ItemError): INodeExecutionData {
	return item.failed(flaw, { outcome: 'rejected' });
}

const FLAWS: Partial<Record<ProcessingState, string>> = {
	error: 'could not be processed',
	cancel: 'was stored, but its processing was cancelled',
	none: 'is stored, but not being processed',
};

const STUCK =
	'The document is stored, but an earlier run has started its processing and the server shows no progress';

/**
 * Why a stored document cannot be found; `undefined` where it can, where it is still in process, or where that is not
 * known.
 */
export function processingFlaw(end: ProcessingEnd): string | undefined {
	const { state, processMsg, failure, hasNoRoute, isStuck } = end;
	if (hasNoRoute) return undefined;
	if (isStuck) return STUCK;
	if (failure)
		return `The document is stored, but its processing could not be started. ${failureMessage(failure)}`;
	const flaw = FLAWS[state];
	return flaw && `The document ${flaw}${processMsg ? `: ${processMsg}` : ''}`;
}

/**
 * The output item of a stored document with the state of its processing; an error item if it has a flaw.
 *
 * @param flaw why it cannot be found
 */
export function processedItem(
	item: Item,
	output: INodeExecutionData,
	{ state, processMsg }: ProcessingEnd,
	flaw: string | undefined,
): INodeExecutionData {
	const details: IDataObject = { processing: state, ...(processMsg ? { processMsg } : {}) };
	if (state === 'finish' && output.json.outcome === 'stored') details.outcome = 'found';
	if (flaw === undefined) return { ...output, json: { ...output.json, ...details } };
	const { id, name, key, outcome } = output.json;
	const known = outcome === 'unchanged' ? outcome : 'stored';
	const error = item.operationError(flaw, adviceFor(flaw));
	return item.failed(error, { name, outcome: known, ...details, key, id });
}

/** The output item of a document that a later one of the run replaced; on the error output, if there is one. */
export function replacedItem(item: Item, { json }: INodeExecutionData): INodeExecutionData {
	const { name, key, id } = json;
	const details = { name, outcome: 'replaced', ...(key === undefined ? {} : { key }), id };
	if (item.context.getNode().onError !== 'continueErrorOutput') return item.output(details);
	const what = key === undefined ? 'ID' : `key (${quoted(key)})`;
	const error = item.operationError(
		`A later document of this run came with the same ${what} and replaced this one`,
		'Give each document a key of its own, such as its path or the ID of its row.',
	);
	return item.failed(error, details);
}
