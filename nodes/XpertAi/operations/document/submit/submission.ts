import get from 'lodash/get';
import type { IExecuteFunctions } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import { mayContinue, type ItemError } from '../../../execution/outputs';
import { CircuitBreaker } from '../../../ingest/circuitBreaker';
import { isForeignNotFound } from '../../../transport/classifyFailure';
import type { Send } from '../../../transport/request';
import type { Origin } from './outcomes';
import type { SubmitSettings } from './settings';
import { readDocuments, type SourceDocuments } from './sources/readers';
import { asHint, counted } from './wording';
import { addFact, newTally, type SubmitFact } from './tally';

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
	readonly tally = newTally();
	readonly circuitBreaker: CircuitBreaker;
	/** Sends with the credential of the first item, which all items share. */
	readonly send: Send;
	/** Aborted when the execution is stopped. */
	readonly signal?: AbortSignal;
	/** With Stop, the first document that failed: nothing is sent after it. */
	stoppedBy?: Origin;
	/** With Stop, the first error that concerns one source alone: the others go on before the run fails. */
	refusal?: ItemError;
	/** Items whose source is not known, as they could not be read. */
	unassigned = 0;

	constructor(
		/** The item whose settings apply to all items. */
		readonly first: Item,
		readonly settings: SubmitSettings,
		/** Reads the documents of an item, in their order. */
		readonly read: (item: Item) => SourceDocuments = readDocuments,
	) {
		this.send = outermostMode(first.context) === 'manual' ? markUnanswered(first.send) : first.send;
		this.signal = first.context.getExecutionCancelSignal();
		this.circuitBreaker = new CircuitBreaker(settings.stopAfterFailures);
	}

	/** Whether documents may still be sent. */
	get canSend(): boolean {
		return this.canRead && this.circuitBreaker.reason === undefined;
	}

	/** Whether documents may still be read, if only to report that they are not sent. */
	get canRead(): boolean {
		return this.stoppedBy === undefined && !this.signal?.aborted;
	}

	/** Records what happened. */
	take(fact: SubmitFact): void {
		const failed = addFact(this.tally, fact, this.settings);
		if (failed && !mayContinue(this.first.context)) this.stoppedBy ??= failed;
	}

	/** Records why the next document of an item cannot be read. */
	takeFlaw(item: Item, error: unknown): void {
		const origin: Origin = { item };
		this.take({ outcome: 'begun', origin });
		this.take({ outcome: 'unreadable', document: { origin }, error });
	}

	/** Records a hint for the user. */
	remark(...texts: string[]): void {
		for (const text of texts) this.tally.remarks.add(text);
	}

	/** Records a hint that begins with a number of documents, unless it is 0. */
	remarkOn(count: number, text: string): void {
		if (count > 0)
			this.remark(asHint(`${counted(count, 'document was', 'documents were')} ${text}`));
	}

	/** Records an error that concerns no single document. With Stop, it ends the run when all sources had their turn. */
	refuse(error: ItemError): void {
		if (mayContinue(this.first.context)) this.tally.refusals.push(error);
		else this.refusal ??= error;
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
