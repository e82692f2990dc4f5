import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { z } from 'zod';

import { atOnceOf, timeoutSeconds } from '../../../execution/declared';
import { forEachItem } from '../../../execution/eachItem';
import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import type { NumberedRun } from '../../../runs/byNumber';
import { cancelRunning, followRun } from '../../../runs/followNumbered';
import { standingOf } from '../../../runs/judgeNumbered';
import type { Standing } from '../../../runs/judgeNumbered';
import { whenLeft } from '../../../runs/leaving';
import type { InTime } from '../../../runs/run';
import { MINUTE_MS, systemClock } from '../../../transport/clock';
import { verdictError } from './errors';
import { numberedSettings } from './options';
import { verdictJson } from './runItem';
import { forReader, toldBy } from './told';

/** What is done with a run that is there. */
type Work = (item: Item, inTime: InTime, named: NumberedRun) => Promise<IDataObject>;

/** Thread: Get Run: how it stands now. */
const getRun: Work = async (item, inTime, named) => {
	const settings = item.settings(numberedSettings);
	return standingJson(item, named, await standingOf(timed(item, inTime), named), settings);
};

/** Thread: Wait for Run: how it has ended. */
const waitForRun: Work = async (item, inTime, named) => {
	const settings = item.settings(numberedSettings);
	const { deadlineMinutes, whenStopped, whenLate } = settings.options;
	const deadline = inTime.clock.now() + deadlineMinutes * MINUTE_MS;
	const { verdict: ended, ...known } = await followRun({ ...inTime, deadline }, named);
	const left = { ...inTime, whenStopped, whenLate };
	const verdict = await whenLeft(left, named.threadId, ended, async () => named.runId);
	return standingJson(item, named, { ...known, verdict }, settings);
};

/** Thread: Cancel Run: whether it was cancelled, and how it has ended otherwise. */
const cancelRun: Work = async (item, inTime, named) => {
	const { cancelled, verdict, assistantId } = await cancelRunning(timed(item, inTime), named);
	if (verdict?.failure) throw verdictError(item, verdict, named);
	const status = cancelled ? 'cancelled' : (verdict?.status ?? 'running');
	return { cancelled, status, ...named, assistantId: assistantId ?? null };
};

const WORK = { getRun, waitForRun, cancelRun };

/**
 * Does it for all items, a few at once.
 *
 * @throws the NodeApiError or NodeOperationError of the first item that failed when On Error is "Stop Workflow"
 */
export async function execute(
	{ context, items }: Execution,
	operation: keyof typeof WORK,
): Promise<INodeExecutionData[]> {
	const signal = context.getExecutionCancelSignal();
	const inTime = { clock: systemClock, deadline: Infinity, signal };
	const one = async (item: Item) => [
		await WORK[operation](item, { ...inTime, send: item.send }, namedBy(item)),
	];
	return await forEachItem(items, one, atOnceOf(items));
}

/** The same with a limit to each request. */
function timed(item: Item, inTime: InTime): InTime {
	const timeoutMs = item.number('options.timeout', timeoutSeconds) * 1000;
	return { ...inTime, send: async (request) => await inTime.send({ ...request, timeoutMs }) };
}

function namedBy(item: Item): NumberedRun {
	const threadId = item.id('threadId');
	const runId = item.filledText('runId').trim();
	item.checkId({ subject: `"${item.labelOf('runId')}"`, id: runId });
	return { threadId, runId };
}

function standingJson(
	item: Item,
	named: NumberedRun,
	{ verdict, conversationId, assistantId }: Standing,
	{ simplify, options }: z.infer<typeof numberedSettings>,
): IDataObject {
	const thread = { ...named, ...(conversationId ? { conversationId } : {}) };
	if (!verdict) {
		const running = { output: null, status: 'running', assistantId: assistantId ?? null };
		return forReader(item, { ...running, ...thread });
	}
	if (verdict.status !== 'completed' && verdict.status !== 'interrupted')
		throw verdictError(item, verdict, thread);
	const told = toldBy(verdict, options);
	const json = verdictJson({ ...verdict, assistantId }, told, thread, simplify);
	return simplify ? forReader(item, json, options.citations) : json;
}
