import { attempt, isError } from 'lodash';
import type { IDataObject } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import { readOutputFormat } from '../../../execution/outputs';
import { addHints } from '../../../execution/n8nExecution';
import { concurrencyOf, flatMapItems } from '../../../execution/concurrency';
import { cancelRunById } from '../../../runs/cancelRun';
import { readStateById, waitById } from '../../../runs/runById';
import type { RunIds } from '../../../threads/runsApi';
import { MINUTE_MS } from '../../../transport/clock';
import { answerOutputOf, outputJson } from './answerOutput';
import { CONCURRENCY_PARAMETER, runSettingsSchema } from './runSettings';
import { clientWithDeadline, clientWithTimeout, runProgressTextMaker } from './clients';
import { resultError } from './runErrors';
import { runHints } from './runHints';

export type RunIdOperation = 'getRun' | 'waitForRun' | 'cancelRun';

/**
 * Executes Thread: Get Run, Wait for Run and Cancel Run, for several items at once.
 *
 * @throws the NodeApiError or NodeOperationError of the first failed item, if On Error is "Stop Workflow"
 */
export async function executeRunIdOperation(
	{ context, items }: Execution,
	operation: RunIdOperation,
) {
	const work = async (item: Item) => {
		// Throws if the option is invalid for this item.
		concurrencyOf([item], CONCURRENCY_PARAMETER);
		const ids = { threadId: item.filledText('threadId'), runId: item.filledText('runId') };
		const isCancel = operation === 'cancelRun';
		return [await (isCancel ? cancelRun(item, ids) : readAnswer(item, ids, operation))];
	};
	// An invalid option is reported by `work`, for each item.
	const concurrency = attempt(() => concurrencyOf(items, CONCURRENCY_PARAMETER));
	const output = await flatMapItems(items, work, isError(concurrency) ? 1 : concurrency);
	if (operation !== 'cancelRun') addHints(context, runHints(context, output));
	return output;
}

/**
 * Reads the answer of one run. The operation "Wait for Run" first waits until the run ends.
 *
 * @returns the JSON of the output item. With "Get Run", `output` is null while the run is active.
 * @throws NodeApiError if the run failed or could not be read, or if "Wait for Run" stopped waiting: at the deadline,
 * or after a stop of the execution
 */
async function readAnswer(
	item: Item,
	ids: RunIds,
	operation: 'getRun' | 'waitForRun',
): Promise<IDataObject> {
	const waits = operation === 'waitForRun';
	const request = { item, ...item.settings(runSettingsSchema), ...readOutputFormat(item) };
	const { deadlineMinutes, whenGivenUp } = request.options;
	const client = waits
		? clientWithDeadline(item, deadlineMinutes * MINUTE_MS)
		: clientWithTimeout(item);
	const run = { ...client, ...ids, facts: { ...ids }, whenGivenUp };
	item.progress = runProgressTextMaker(ids);
	const result = await (waits ? waitById(run) : readStateById(run));
	if (result.status === 'running')
		return outputJson(item, { output: null, status: result.status, ...ids });
	if (result.status === 'unread') throw resultError(item, { ...result, status: 'failed' });
	if (!('output' in result)) throw resultError(item, result);
	return answerOutputOf(request, result).json;
}

/**
 * Executes Thread: Cancel Run for one item.
 *
 * @returns the JSON of the output item. For a run that had ended before, `status` is its state.
 * @throws NodeApiError if a request failed
 */
async function cancelRun(item: Item, ids: RunIds): Promise<IDataObject> {
	const result = await cancelRunById({ ...clientWithTimeout(item), ...ids, facts: {} });
	const { status } = result;
	if ('failure' in result && result.failure)
		throw resultError(item, { ...result, status: 'failed', ...ids });
	return { cancelled: status === 'cancelled', status, ...ids };
}
