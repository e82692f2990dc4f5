import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { rawOutput } from '../../../execution/audience';
import type { AnswerOutput } from '../../../execution/audience';
import { quoted } from '../../../execution/badInput';
import { asJson } from '../../../execution/outputs';
import type { ReadyDocument } from '../../../ingest/batches';
import { processingEndOf } from '../../../ingest/processingStatus';
import type {
	ProcessingEnd,
	ProcessingState,
	ProcessingStatus,
} from '../../../ingest/processingStatus';
import type { DocumentOutcome } from '../../../ingest/storing';
import { failureMessage } from '../../../transport/failure';
import { adviceFor, storingError } from './advice';
import type { Origin } from './sources/identity';

/**
 * The outcome of a document of Submit. `unchanged`: an earlier run stored it with the same content; with the status of
 * its processing, if that was fetched.
 */
export type SubmitOutcome =
	| DocumentOutcome<Origin>
	| { document: ReadyDocument<Origin>; outcome: 'unchanged'; status?: ProcessingStatus };

/** The output item with the outcome of a document. */
export function outcomeItem(result: SubmitOutcome, output: AnswerOutput): INodeExecutionData {
	const { document } = result;
	const { item } = document.origin;
	const facts = factsOf(document, result.outcome);
	if (result.outcome === 'unchanged')
		return item.output({
			...facts,
			...(result.status && processingFacts(processingEndOf(result.status))),
		});
	if (result.outcome === 'notSent') {
		const hint = `The hints of the node say why. With 0 in "${item.labelOf('options.stopAfterFailures')}" it sends all the same.`;
		const error = item.operationError(result.reason ?? NOT_SENT, result.reason ? undefined : hint);
		return item.failed(error, facts);
	}
	const { batch, attempts } = result;
	if (result.outcome !== 'stored') {
		const error = storingError(document, result.failure);
		if (result.outcome === 'unknown') error.message = `${error.message}. ${MAY_BE_STORED}`;
		return item.failed(error, { ...facts, status: result.failure.status, attempts, batch });
	}
	const record = asJson(result.record);
	if (!output.simplify) return item.output(rawOutput(output, record));
	const { name = facts.name, id } = record;
	const stored = factsOf(document, 'stored', { processing: 'none' });
	return item.output({ ...stored, name, id, status: result.status, attempts, batch });
}

/** The fields in the output of every document. */
function factsOf(
	{ id, key, record: { name } }: ReadyDocument<Origin>,
	outcome: SubmitOutcome['outcome'],
	more: IDataObject = {},
): IDataObject {
	return { name: name ?? undefined, outcome, ...more, ...(key !== undefined && { key }), id };
}

const NOT_SENT = 'Not sent: documents before it came to nothing, all for the same reason';
const MAY_BE_STORED = 'It is not known whether this document is stored';

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
	{ item, outcome }: Origin,
	{ json }: INodeExecutionData,
	end: ProcessingEnd,
	flaw: string | undefined,
): INodeExecutionData {
	const facts = processingFacts(end);
	if (flaw !== undefined) {
		const { id, name, key } = json;
		const error = item.operationError(flaw, adviceFor(flaw));
		return item.failed(error, { name, outcome, ...facts, key, id });
	}
	// Without Simplify, the output is the server's record.
	return item.output({ ...json, ...facts, ...(json.outcome && { outcome }) });
}

function processingFacts({ state, processMsg }: ProcessingEnd): IDataObject {
	return { processing: state, ...(processMsg && { processMsg }) };
}

/** The output item of a document that a later one of the run replaced; on the error output, if there is one. */
export function replacedItem({ item }: Origin, { json }: INodeExecutionData): INodeExecutionData {
	const { name, key, id } = json;
	const facts = { name, outcome: 'replaced', ...(key !== undefined && { key }), id };
	if (item.context.getNode().onError !== 'continueErrorOutput') return item.output(facts);
	const what = key === undefined ? 'ID' : `key (${quoted(key)})`;
	const error = item.operationError(
		`A later document of this run came with the same ${what} and replaced this one`,
		'Give each document a key of its own, such as its path or the ID of its row.',
	);
	return item.failed(error, facts);
}
