import get from 'lodash/get';
import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod';

import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import { CircuitBreaker } from '../../../ingest/circuitBreaker';
import type { Clock } from '../../../transport/clock';
import type { Send } from '../../../transport/request';
import { Warnings } from './warnings';
import { SubmitReport } from './report';
import type { SubmitSettings } from './settings';
import { SOURCES } from './sources';
import * as reading from './sources/reading';
import type { DocumentSource } from './sources/source';

const sourceValue = z.enum(SOURCES.map(({ value }) => value) as [string, ...string[]]);

/** Marks failures for which nothing has answered yet: whoever tries a wrong address need not wait until Retry For is over. */
function markUnanswered(send: Send): Send {
	let hasAnswered = false;
	return async (request) => {
		const outcome = await send(request);
		hasAnswered ||= outcome.ok || outcome.failure.status !== undefined;
		if (outcome.ok || hasAnswered) return outcome;
		return { ok: false, failure: { ...outcome.failure, unanswered: true } };
	};
}

/** One execution of Submit: how it works, what its items bring, and what became of that. */
export class Submission {
	readonly report: SubmitReport;
	readonly warnings = new Warnings();
	readonly circuitBreaker: CircuitBreaker;
	/** Sends with the credential of the first item, which is that of all. */
	readonly send: Send;

	constructor(
		readonly execution: Execution,
		/** The item whose parameters hold for all. */
		readonly first: Item,
		readonly settings: SubmitSettings,
		readonly clock: Clock,
	) {
		this.send = isManualRun(execution.context) ? markUnanswered(first.send) : first.send;
		this.report = new SubmitReport(first, settings);
		this.circuitBreaker = new CircuitBreaker(settings.stopAfterFailures);
	}

	/** Fires when the execution is stopped. */
	get signal(): AbortSignal | undefined {
		return this.execution.context.getExecutionCancelSignal();
	}

	/** Whether anything may still be sent. */
	get canSend(): boolean {
		return this.canRead && this.circuitBreaker.reason === undefined;
	}

	/** Whether documents are still read, be it only to say that they are not sent. */
	get canRead(): boolean {
		return this.report.stopError === undefined && !this.signal?.aborted;
	}

	/**
	 * The documents of an item, in their order.
	 *
	 * @throws NodeOperationError naming the field, the item and what is expected
	 */
	read(item: Item): ReturnType<DocumentSource['read']> {
		const chosen = item.choice('source', sourceValue);
		const source = SOURCES.find(({ value }) => value === chosen);
		const documents = source?.read(item, reading) ?? [];
		if (Array.isArray(documents)) this.report.read += documents.length;
		return documents;
	}
}

/**
 * How the execution was started, for a sub-workflow the outermost one: n8n itself calls a sub-workflow `integrated`.
 * n8n 2.20 and later tell the mode of the outermost execution, except to a workflow that is an agent's tool. There, and
 * in older versions, it is the mode of the calling workflow, which is `integrated` where that is a sub-workflow itself.
 */
export function outermostMode(context: IExecuteFunctions): unknown {
	const mode = context.getMode();
	if (mode !== 'integrated') return mode;
	return (
		get(context, 'additionalData.rootExecutionMode') ??
		get(context, 'runExecutionData.parentExecution.executionContext.source', mode)
	);
}

/** Whether somebody tries the workflow in the editor. */
export const isManualRun = (context: IExecuteFunctions): boolean => outermostMode(context) === 'manual';
