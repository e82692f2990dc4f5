import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { z } from 'zod';

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

/** What is done with a run that is there. */
type Work = (item: Item, send: Send, ids: RunIds) => Promise<IDataObject>;

/** Thread: Get Run: how it stands now. */
const getRun: Work = async (item, send, ids) => {
	const settings = item.settings(runByIdSettings);
	const inTime = timed(item, send);
	const standing = await readRunState(inTime, ids);
	return await standingJson(item, inTime, ids, standing, settings);
};

/** Thread: Wait for Run: how it has ended. */
const waitForRun: Work = async (item, send, ids) => {
	const settings = item.settings(runByIdSettings);
	const { deadlineMinutes, whenStopped, whenLate } = settings.options;
	const inTime = timed(item, send, deadlineMinutes * MINUTE_MS);
	// The stream of a run that has ended may not be kept any more.
	const standing = await readRunState(inTime, ids);
	const { failure } = standing.result ?? {};
	const isOver = standing.result && !(failure && isTransient(failure));
	const { assistantId } = standing;
	const followed = isOver ? standing.result : await followRun(inTime, ids);
	const left = { ...inTime, whenStopped, whenLate };
	const result =
		followed && (await abandonRun(left, ids.threadId, followed, async () => ids.runId));
	return await standingJson(item, inTime, ids, { assistantId, result }, settings);
};

/** Thread: Cancel Run: whether it was cancelled, and how it has ended otherwise. */
const cancel: Work = async (item, send, ids) => {
	const { cancelled, result, assistantId } = await cancelRunById(timed(item, send), ids);
	if (result?.failure) throw resultError(item, result, ids);
	const status = cancelled ? 'cancelled' : (result?.status ?? 'running');
	return { cancelled, status, ...ids, assistantId: assistantId ?? null };
};

const WORK = { getRun, waitForRun, cancelRun: cancel };

/**
 * Does it for all items, a few at once.
 *
 * @throws the NodeApiError or NodeOperationError of the first item that failed when On Error is "Stop Workflow"
 */
export async function execute(
	{ context, items }: Execution,
	operation: keyof typeof WORK,
): Promise<INodeExecutionData[]> {
	const errands = items.map((item) => {
		const run = async () => item.output(await WORK[operation](item, item.send, idsIn(item)));
		return { item, asReply: false, run };
	});
	return await runInOrder(context, errands, atOnceOf(items));
}

/** What sends requests for an item: until its deadline, or with a limit to each of them. */
function timed(item: Item, send: Send, deadlineMs = Infinity): Client {
	const signal = item.context.getExecutionCancelSignal();
	const deadline = systemClock.now() + deadlineMs;
	const given = { clock: systemClock, deadline, signal };
	if (Number.isFinite(deadlineMs)) return withDeadline({ ...given, send });
	const timeoutMs = item.number('options.timeout', timeoutSeconds) * 1000;
	const limited: Send = async (request) => await send({ ...request, timeoutMs });
	return withDeadline({ ...given, send: limited });
}

function idsIn(item: Item): RunIds {
	const threadId = item.id('threadId');
	const runId = item.filledText('runId').trim();
	item.checkId({ subject: `"${item.labelOf('runId')}"`, id: runId });
	return { threadId, runId };
}

async function standingJson(
	item: Item,
	inTime: Client,
	ids: RunIds,
	{ result: ended, ...known }: RunState,
	{ simplify, options }: z.infer<typeof runByIdSettings>,
): Promise<IDataObject> {
	const conversationId = ended?.conversationId ?? known.conversationId;
	const assistantId = known.assistantId ?? (ended?.assistantId as string | undefined) ?? null;
	const thread = { ...ids, ...(conversationId ? { conversationId } : {}) };
	if (!ended) {
		const running = { output: null, status: 'running', assistantId };
		return forAudience(item, { ...running, ...thread });
	}
	const result = await withThread(inTime, ids, ended);
	if (result.status !== 'completed' && result.status !== 'interrupted')
		throw resultError(item, result, thread);
	const fields = answerFields(result, options);
	const json = resultJson({ ...result, assistantId }, fields, thread, simplify);
	return simplify ? forAudience(item, json, options.citations) : json;
}
