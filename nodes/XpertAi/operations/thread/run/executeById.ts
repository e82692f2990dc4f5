import { attempt, isError } from 'lodash';
import type { IDataObject } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import { readOutput } from '../../../execution/outputs';
import { atOnceOf, forEachItem } from '../../../execution/runOperation';
import { cancelRunById } from '../../../runs/cancelRun';
import { readStateById, waitById } from '../../../runs/runById';
import type { RunIds } from '../../../threads/runsApi';
import { MINUTE_MS } from '../../../transport/clock';
import { answerOf, forAudience } from './answerOutput';
import { AT_ONCE, runSettingsSchema } from './options';
import { clientOf, clientWithTimeout, runProgress } from './runClient';
import { resultError } from './runErrors';

export type OperationById = 'getRun' | 'waitForRun' | 'cancelRun';

/**
 * Executes Thread: Get Run, Wait for Run and Cancel Run, several items at once.
 *
 * @throws the NodeApiError or NodeOperationError of the first failed item, if On Error is "Stop Workflow"
 */
export async function executeById({ items }: Execution, operation: OperationById) {
	const work = async (item: Item) => {
		atOnceOf([item], AT_ONCE);
		const ids = { threadId: item.filledText('threadId'), runId: item.filledText('runId') };
		return [
			await (operation === 'cancelRun' ? cancelRun(item, ids) : readAnswer(item, ids, operation)),
		];
	};
	const atOnce = attempt(() => atOnceOf(items, AT_ONCE));
	return await forEachItem(items, work, isError(atOnce) ? 1 : atOnce);
}

/** Reads the answer of one run. Wait for Run waits until the run ends. */
async function readAnswer(
	item: Item,
	ids: RunIds,
	operation: 'getRun' | 'waitForRun',
): Promise<IDataObject> {
	const waits = operation === 'waitForRun';
	const request = { item, ...item.settings(runSettingsSchema), ...readOutput(item) };
	const { deadlineMinutes, whenGivenUp } = request.options;
	const client = waits ? clientOf(item, deadlineMinutes * MINUTE_MS) : clientWithTimeout(item);
	const run = { ...client, ...ids, facts: { ...ids }, whenGivenUp };
	item.progress = runProgress(ids);
	const result = await (waits ? waitById(run) : readStateById(run));
	if (result.status === 'running')
		return forAudience(item, { output: null, status: result.status, ...ids });
	if (result.status === 'unread') throw resultError(item, { ...result, status: 'failed' });
	if (!('output' in result)) throw resultError(item, result);
	return answerOf(request, result).json;
}

/** Executes Thread: Cancel Run for one item. */
async function cancelRun(item: Item, ids: RunIds): Promise<IDataObject> {
	const result = await cancelRunById({ ...clientWithTimeout(item), ...ids, facts: {} });
	const { status } = result;
	if ('failure' in result && result.failure)
		throw resultError(item, { ...result, status: 'failed', ...ids });
	return { cancelled: status === 'cancelled', status, ...ids };
}
