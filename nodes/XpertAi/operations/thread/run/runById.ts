import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { rawOutput, readAnswerOutput } from '../../../execution/audience';
import { atOnceOf, timeoutSeconds } from '../../../execution/declared';
import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import { cancelRunById, abandonRun } from '../../../runs/cancel';
import { followRun } from '../../../runs/follow';
import { readRunState } from '../../../runs/readRun';
import type { RunState } from '../../../runs/readRun';
import { withDeadline } from '../../../runs/run';
import type { Client } from '../../../runs/run';
import type { RunIds } from '../../../threads/runsApi';
import { withThread } from '../../../runs/runThread';
import { MINUTE_MS, systemClock } from '../../../transport/clock';
import { isTransient } from '../../../transport/classifyFailure';
import type { Send } from '../../../transport/request';
import { resultError } from './errors';
import { runInOrder } from './execute';
import { runByIdSettings } from './options';
import { resultJson } from './runItem';
import { answerFields, forAudience } from './answerFields';

/** An operation on an existing run. */
type RunOperation = (item: Item, send: Send, ids: RunIds) => Promise<IDataObject>;

/** Thread: Get Run. */
const getRun: RunOperation = async (item, send, ids) => {
	const settings = settingsOf(item);
	const client = clientFor(item, send);
	const state = await readRunState(client, ids);
	return await stateJson(item, client, ids, state, settings);
};

/** Read before anything is sent. */
function settingsOf(item: Item) {
	return { ...item.settings(runByIdSettings), ...readAnswerOutput(item) };
}

/** Thread: Wait for Run. */
const waitForRun: RunOperation = async (item, send, ids) => {
	const settings = settingsOf(item);
	const { deadlineMinutes, whenStopped, whenLate } = settings.options;
	const client = clientFor(item, send, deadlineMinutes * MINUTE_MS);
	// The stream of an ended run may no longer be stored.
	const state = await readRunState(client, ids);
	const { failure } = state.result ?? {};
	const hasEnded = state.result && !(failure && isTransient(failure));
	const { assistantId } = state;
	const followed = hasEnded ? state.result : await followRun(client, ids);
	const abandonable = { ...client, whenStopped, whenLate };
	const result =
		followed && (await abandonRun(abandonable, ids.threadId, followed, async () => ids.runId));
	return await stateJson(item, client, ids, { assistantId, result }, settings);
};

/** Thread: Cancel Run. */
const cancel: RunOperation = async (item, send, ids) => {
	const { cancelled, result, assistantId } = await cancelRunById(clientFor(item, send), ids);
	if (result?.failure) throw resultError(item, result, ids);
	const status = cancelled ? 'cancelled' : (result?.status ?? 'running');
	return { cancelled, status, ...ids, assistantId: assistantId ?? null };
};

const OPERATIONS = { getRun, waitForRun, cancelRun: cancel };

/**
 * Runs the operation for all items, a few at once.
 *
 * @throws the NodeApiError or NodeOperationError of the first failed item when On Error is "Stop Workflow"
 */
export async function execute(
	{ context, items }: Execution,
	operation: keyof typeof OPERATIONS,
): Promise<INodeExecutionData[]> {
	const jobs = items.map((item) => {
		const run = async () => item.output(await OPERATIONS[operation](item, item.send, idsIn(item)));
		return { item, asReply: false, run };
	});
	return await runInOrder(context, jobs, atOnceOf(items));
}

/** A client with a deadline, or with a timeout for each request. */
function clientFor(item: Item, send: Send, deadlineMs = Infinity): Client {
	const signal = item.context.getExecutionCancelSignal();
	const deadline = systemClock.now() + deadlineMs;
	const limits = { clock: systemClock, deadline, signal };
	if (Number.isFinite(deadlineMs)) return withDeadline({ ...limits, send });
	const timeoutMs = item.setting('options.timeout', timeoutSeconds) * 1000;
	const limited: Send = async (request) => await send({ ...request, timeoutMs });
	return withDeadline({ ...limits, send: limited });
}

function idsIn(item: Item): RunIds {
	const threadId = item.id('threadId');
	const runId = item.filledText('runId').trim();
	item.checkId({ subject: `"${item.labelOf('runId')}"`, id: runId });
	return { threadId, runId };
}

async function stateJson(
	item: Item,
	client: Client,
	ids: RunIds,
	{ result: ended, ...known }: RunState,
	settings: ReturnType<typeof settingsOf>,
): Promise<IDataObject> {
	const conversationId = ended?.conversationId ?? known.conversationId;
	const assistantId = known.assistantId ?? (ended?.assistantId as string | undefined) ?? null;
	const thread = { ...ids, ...(conversationId ? { conversationId } : {}) };
	if (!ended) {
		const running = { output: null, status: 'running', assistantId };
		return forAudience(item, { ...running, ...thread });
	}
	const result = await withThread(client, ids, ended);
	if (result.status !== 'completed' && result.status !== 'interrupted')
		throw resultError(item, result, thread);
	const { simplify, options } = settings;
	const fields = answerFields(result, options);
	const json = resultJson({ ...result, assistantId }, fields, thread, simplify);
	return simplify ? forAudience(item, json, options.citations) : rawOutput(settings, json);
}
