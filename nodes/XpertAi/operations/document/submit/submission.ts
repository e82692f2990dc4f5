import get from 'lodash/get';
import type { IExecuteFunctions } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import { CircuitBreaker } from '../../../ingest/circuitBreaker';
import { isForeignNotFound } from '../../../transport/classifyFailure';
import type { Send } from '../../../transport/request';
import { SubmitReport } from './report';
import type { SubmitSettings } from './settings';
import { readDocuments } from './sources/readers';
import type { SourceDocuments } from './sources/readers';
import { Warnings } from './warnings';

/**
 * Marks failures as long as this API has not answered any request: whoever tries out a wrong address need not wait
 * until Retry For is over.
 */
function markUnanswered(send: Send): Send {
	let hasAnswered = false;
	return async (request) => {
		const outcome = await send(request);
		if (outcome.ok || hasAnswered) {
			hasAnswered = true;
			return outcome;
		}
		const { failure } = outcome;
		hasAnswered = failure.status !== undefined && !isForeignNotFound(failure);
		return hasAnswered ? outcome : { ok: false, failure: { ...failure, unanswered: true } };
	};
}

/** The state of one execution of Submit. */
export class Submission {
	readonly report: SubmitReport;
	readonly warnings = new Warnings();
	readonly circuitBreaker: CircuitBreaker;
	/** Items whose source is not known, as they could not be read. */
	unassigned = 0;
	/** Sends with the credential of the first item, which all items share. */
	readonly send: Send;
	/** Aborted when the execution is stopped. */
	readonly signal?: AbortSignal;

	constructor(
		/** The item whose settings apply to all items. */
		readonly first: Item,
		readonly settings: SubmitSettings,
	) {
		this.send = outermostMode(first.context) === 'manual' ? markUnanswered(first.send) : first.send;
		this.signal = first.context.getExecutionCancelSignal();
		this.report = new SubmitReport(first, settings);
		this.circuitBreaker = new CircuitBreaker(settings.stopAfterFailures);
	}

	/** Whether documents may still be sent. */
	get canSend(): boolean {
		return this.canRead && this.circuitBreaker.reason === undefined;
	}

	/** Whether documents may still be read, if only to report that they are not sent. */
	get canRead(): boolean {
		return this.report.stopError === undefined && !this.signal?.aborted;
	}

	/**
	 * Reads the documents of an item, in their order.
	 *
	 * @throws NodeOperationError naming the field, the item and what is expected
	 */
	read(item: Item): SourceDocuments {
		const documents = readDocuments(item);
		if (Array.isArray(documents)) this.report.documentsRead += documents.length;
		return documents;
	}
}

/**
 * How the outermost execution was started; n8n calls a sub-workflow `integrated`. n8n 2.20 and later pass on the mode
 * of the outermost execution, except to a workflow that is an agent's tool. Otherwise only the mode of the calling
 * workflow is known, which is `integrated` if that is a sub-workflow itself.
 */
export function outermostMode(context: IExecuteFunctions): unknown {
	const mode = context.getMode();
	if (mode !== 'integrated') return mode;
	return (
		get(context, 'additionalData.rootExecutionMode') ??
		get(context, 'runExecutionData.parentExecution.executionContext.source', mode)
	);
}
