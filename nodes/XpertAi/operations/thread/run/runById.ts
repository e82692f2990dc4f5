import type { IDataObject } from 'n8n-workflow';

import { readAnswerOutput } from '../../../execution/outputFor';
import { timeoutSeconds } from '../../../execution/runOperation';
import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import { withProgress } from '../../../execution/progress';
import type { Client } from '../../../runs/run';
import { withFacts } from '../../../runs/runResult';
import { abandonRun, cancelRunById, readRunState } from '../../../runs/runState';
import { waitForRunResult, withThread } from '../../../runs/runThread';
import type { RunIds } from '../../../threads/runsApi';
import { isTransient } from '../../../transport/classifyFailure';
import { SINGLE_REQUEST_LIMITS } from '../../../transport/call';
import { MINUTE_MS } from '../../../transport/clock';
import type { Send } from '../../../transport/request';
import { answerOf, forAudience } from './answerFields';
import { clientOf } from './ask';
import { resultError } from './errors';
import { runSettings } from './options';
import { executeByThread } from './threadQueues';

/* Each operation reads the parameters of an item, and returns what is then done for the JSON of the output item. */

/** Thread: Get Run or, if it waits, Wait for Run. */
function readAnswer(item: Item, ids: RunIds, waits: boolean): () => Promise<IDataObject> {
	const request = { item, ...item.settings(runSettings), ...readAnswerOutput(item) };
	const { deadlineMinutes, whenGivenUp } = request.options;
	const reader = waits ? undefined : clientWithTimeout(item);
	return async () => {
		const client = reader?.() ?? clientOf(item, deadlineMinutes * MINUTE_MS);
		const run = { ...client, ...ids, whenGivenUp };
		// The stream of an ended run may no longer be stored.
		const state = await readRunState(run);
		const isUnread = state.status === 'unread';
		const isKnown = state.status === 'running' || (isUnread && state.isThere === true);
		const mayGoOn = isKnown || (isUnread && isTransient(state.failure));
		const wait = async () => await waitForRunResult(run, { isKnown });
		const progress = (minutes: number) => `waiting for run ${ids.runId}, ${minutes} minutes`;
		const followed = mayGoOn && waits ? await withProgress(item.context, progress, wait) : state;
		const result = await withThread(run, await abandonRun(run, withFacts(followed, ids)));
		if (result.status === 'running')
			return forAudience(item, { output: null, status: result.status, ...ids });
		if (result.status === 'unread') throw resultError(item, { ...result, status: 'failed' });
		if (result.status !== 'completed' && result.status !== 'interrupted')
			throw resultError(item, result);
		return answerOf(request, result).json;
	};
}

/** Thread: Cancel Run. */
function cancelRun(item: Item, ids: RunIds): () => Promise<IDataObject> {
	const clientNow = clientWithTimeout(item);
	return async () => {
		const result = await cancelRunById({ ...clientNow(), ...ids });
		const { status } = result;
		if ('failure' in result && result.failure)
			throw resultError(item, { ...result, status: 'failed', ...ids });
		return { cancelled: status === 'cancelled', status, ...ids };
	};
}

export type OperationById = 'getRun' | 'waitForRun' | 'cancelRun';

/** Runs an operation on existing runs for all items, a few at once. */
export async function execute(execution: Execution, operation: OperationById) {
	const workOf = (item: Item) => {
		const ids = idsIn(item);
		if (operation === 'cancelRun') return cancelRun(item, ids);
		return readAnswer(item, ids, operation === 'waitForRun');
	};
	return await executeByThread(execution, {
		// Runs on the same thread need no order.
		read: (item) => ({ threadId: undefined, work: workOf(item) }),
		run: async ({ work }) => await work(),
	});
}

/** No timer lasts longer. */
const LONGEST_MS = 35_791 * MINUTE_MS;

/** Makes a client with a timeout for each request, and a deadline that leaves time for all tries of one. */
function clientWithTimeout(item: Item): () => Client {
	const { send } = item;
	const timeoutMs = item.setting('options.timeout', timeoutSeconds) * 1000;
	const { maxTries, maxElapsedMs } = SINGLE_REQUEST_LIMITS;
	const deadlineMs = Math.min(maxTries * timeoutMs + maxElapsedMs, LONGEST_MS);
	// A request that is sent late has less time than that.
	const sendInTime: Send = async (request) =>
		await send({ ...request, timeoutMs: Math.min(timeoutMs, request.totalMs ?? timeoutMs) });
	return () => clientOf(item, deadlineMs, sendInTime);
}

function idsIn(item: Item): RunIds {
	const threadId = item.id('threadId');
	const runId = item.filledText('runId').trim();
	item.checkId({ field: `"${item.labelOf('runId')}"`, id: runId });
	return { threadId, runId };
}
