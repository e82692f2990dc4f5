import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { readAnswerOutput } from '../../../execution/audience';
import { timeoutSeconds } from '../../../execution/declared';
import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import type { Client, RunResult } from '../../../runs/run';
import { abandonRun, cancelRunById, readRunState } from '../../../runs/runState';
import { followRun, withThread } from '../../../runs/runThread';
import type { RunIds } from '../../../threads/runsApi';
import { isTransient } from '../../../transport/classifyFailure';
import { MINUTE_MS } from '../../../transport/clock';
import { answerFields, answerJson, forAudience } from './answerFields';
import { clientOf } from './ask';
import { resultError } from './errors';
import { runSettings } from './options';
import { executeInOrder } from './threadOrder';

/** Reads the parameters of an item. @returns what is then done, and gives the JSON of the output item */
type RunOperation = (item: Item, ids: RunIds) => () => Promise<IDataObject>;

/** Thread: Get Run. */
const getRun: RunOperation = (item, ids) => {
	const order = orderOf(item);
	const client = clientWithTimeout(item);
	return async () => await stateJson(order, client, ids, await readRunState(client, ids));
};

const orderOf = (item: Item) => ({
	...{ item, ...item.settings(runSettings), ...readAnswerOutput(item) },
});

/** Thread: Wait for Run. */
const waitForRun: RunOperation = (item, ids) => {
	const order = orderOf(item);
	const { deadlineMinutes, whenStopped, whenLate } = order.options;
	return async () => {
		const client = clientOf(item, deadlineMinutes * MINUTE_MS);
		// The stream of an ended run may no longer be stored.
		const state = await readRunState(client, ids);
		const { status, failure } = state;
		const isKnown = status !== 'running' && !(failure && isTransient(failure));
		const followed = isKnown ? state : await followRun(client, ids);
		const known = { ...followed, ...ids, assistantId: state.assistantId ?? followed.assistantId };
		const result = await abandonRun({ ...client, ...ids, whenStopped, whenLate }, known);
		return await stateJson(order, client, ids, result);
	};
};

/** Thread: Cancel Run. */
const cancelRun: RunOperation = (item, ids) => {
	const client = clientWithTimeout(item);
	return async () => {
		const result = await cancelRunById(client, ids);
		if (result.failure) throw resultError(item, { ...result, ...ids });
		const { status, assistantId } = result;
		return { cancelled: status === 'cancelled', status, ...ids, assistantId: assistantId ?? null };
	};
};

const OPERATIONS = { getRun, waitForRun, cancelRun };

/** Runs an operation on existing runs for all items, a few at once. */
export async function execute(
	execution: Execution,
	operation: keyof typeof OPERATIONS,
): Promise<INodeExecutionData[]> {
	return await executeInOrder(execution, {
		// Runs on the same thread need no order.
		read: (item) => ({ threadId: undefined, work: OPERATIONS[operation](item, idsIn(item)) }),
		run: async ({ work }) => await work(),
	});
}

/** A client with a timeout for each request. */
function clientWithTimeout(item: Item): Client {
	const { send } = item;
	const timeoutMs = item.setting('options.timeout', timeoutSeconds) * 1000;
	return clientOf(item, Infinity, async (request) => await send({ ...request, timeoutMs }));
}

function idsIn(item: Item): RunIds {
	const threadId = item.id('threadId');
	const runId = item.filledText('runId').trim();
	item.checkId({ subject: `"${item.labelOf('runId')}"`, id: runId });
	return { threadId, runId };
}

async function stateJson(
	order: ReturnType<typeof orderOf>,
	client: Client,
	ids: RunIds,
	state: RunResult,
): Promise<IDataObject> {
	const { item, options } = order;
	const { status, assistantId = null } = state;
	if (status === 'running') return forAudience(item, { output: null, status, assistantId, ...ids });
	const result = { ...(await withThread(client, ids, state)), ...ids, assistantId };
	if (status !== 'completed' && status !== 'interrupted') throw resultError(item, result);
	return answerJson(order, result, answerFields(result, options));
}
