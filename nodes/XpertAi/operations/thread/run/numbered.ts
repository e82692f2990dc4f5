import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';

import { timeoutSeconds } from '../../../execution/declared';
import { forEachItem } from '../../../execution/eachItem';
import { MOST_AT_ONCE } from '../../../execution/fields';
import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import type { NumberedRun } from '../../../runs/byNumber';
import { cancelRunning, followRun } from '../../../runs/followNumbered';
import { standingOf } from '../../../runs/judgeNumbered';
import type { Standing } from '../../../runs/judgeNumbered';
import type { InTime } from '../../../runs/run';
import { MINUTE_MS, systemClock } from '../../../transport/clock';
import { verdictError } from './errors';
import { verdictJson } from './runItem';
import { toldBy } from './told';

const atOnce = z.number().int().min(1).max(MOST_AT_ONCE);

/** At most what a timer of Node.js can wait. */
const waiting = z.number().positive().min(0.001).max(35_791);

/** How Run and Wait tells an answer when nobody says otherwise. */
const AS_AT_FIRST = {
	citations: 'numbers' as const,
	listSources: false,
	returnIntermediateSteps: false,
};

/** What is done with a run that is there. */
type Work = (item: Item, inTime: InTime, named: NumberedRun) => Promise<IDataObject>;

/** Thread: Get Run: how it stands now. */
export const getRun: Work = async (item, inTime, named) =>
	standingJson(item, named, await standingOf(inTime, named));

/** Thread: Wait for Run: how it has ended. */
export const waitForRun: Work = async (item, inTime, named) => {
	const deadline = inTime.clock.now() + item.number('options.deadlineMinutes', waiting) * MINUTE_MS;
	return standingJson(item, named, await followRun({ ...inTime, deadline }, named));
};

/** Thread: Cancel Run: whether it was cancelled, and how it has ended otherwise. */
export const cancelRun: Work = async (item, inTime, named) => {
	const came = await cancelRunning(inTime, named);
	if (!came.cancelled) {
		const failure = came.verdict?.failure;
		if (came.verdict && failure) throw verdictError(item, came.verdict, named);
		const status = came.verdict?.status === 'failed' ? 'failed' : came.verdict?.status;
		return { cancelled: false, status: status ?? 'running', ...named };
	}
	return { cancelled: true, status: 'cancelled', ...named, assistantId: came.assistantId ?? null };
};

/**
 * Does it for all items, a few at once.
 *
 * @throws the NodeApiError or NodeOperationError of the first item that failed when On Error is "Stop Workflow"
 */
export async function execute(
	{ context, send, items }: Execution,
	work: Work,
): Promise<INodeExecutionData[]> {
	const signal = context.getExecutionCancelSignal();
	const concurrency = items[0]?.number('options.concurrency', atOnce);
	const one = async (item: Item) => {
		const timeoutMs = item.number('options.timeout', timeoutSeconds) * 1000;
		const inTime: InTime = {
			send: async (request) => await send({ ...request, timeoutMs }),
			...{ clock: systemClock, deadline: Infinity, signal },
		};
		return [await work(item, inTime, namedBy(item))];
	};
	return await forEachItem(items, one, concurrency);
}

function namedBy(item: Item): NumberedRun {
	const runId = item.filledText('runId').trim();
	item.checkId({ subject: `"${item.labelOf('runId')}"`, id: runId });
	return { threadId: item.id('threadId'), runId };
}

function standingJson(
	item: Item,
	named: NumberedRun,
	{ verdict, conversationId, assistantId }: Standing,
): IDataObject {
	const thread = { ...named, ...(conversationId ? { conversationId } : {}) };
	if (!verdict)
		return { output: null, status: 'running', assistantId: assistantId ?? null, ...thread };
	if (verdict.status !== 'completed' && verdict.status !== 'interrupted')
		throw verdictError(item, verdict, thread);
	const told = toldBy(verdict, AS_AT_FIRST);
	return verdictJson({ ...verdict, assistantId }, told, thread, item.switch('simplify'));
}
