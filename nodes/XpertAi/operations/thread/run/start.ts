import pick from 'lodash/pick';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import { failed } from '../../../runs/result';
import { withDeadline } from '../../../runs/run';
import type { RunRoutes } from '../../../runs/run';
import { startInTurn } from '../../../runs/start';
import type { Turn } from './threadOrder';
import { MINUTE_MS, systemClock } from '../../../transport/clock';
import { resultError } from './errors';
import { runInOrder } from './execute';
import type { FailedItem } from './execute';
import { readStart } from './order';
import type { StartOrder } from './order';
import { deleteUnused, prepareInTurn } from './prepare';
import { forAudience } from './answerFields';

/**
 * Starts the runs of all items, those of the same thread one after another.
 *
 * @throws the NodeApiError or NodeOperationError of the first failed item when On Error is "Stop Workflow"
 */
export async function execute({ context, items }: Execution): Promise<INodeExecutionData[]> {
	const orders = items.map(readItem);
	const first = orders.find((order): order is StartOrder => 'options' in order);
	const jobs = orders.map((order) => {
		if ('error' in order) return order;
		const { item, threadId } = order;
		const run = async (turn?: Turn) => item.output(await startItem(order, turn));
		return { item, threadId, asReply: false, run };
	});
	return await runInOrder(context, jobs, first?.options.concurrency);
}

const routesMissing = ({ failure }: RunRoutes) =>
	failed(
		failure,
		'This server starts no runs in the background',
		'Use Thread: Ask and Wait, which works on every server.',
	);

/** All items are read before anything is sent, so that with Stop an invalid item starts no run. */
function readItem(item: Item): StartOrder | FailedItem {
	try {
		return readStart(item);
	} catch (caught) {
		return { item, error: item.asError(caught), asReply: false };
	}
}

/**
 * Starts the run of an item.
 *
 * @returns its run ID, thread and status
 * @throws NodeApiError with reason, thread and item if the run was not started, or may not have been
 */
async function startItem(order: StartOrder, turn: Turn | undefined): Promise<IDataObject> {
	const { item, runOn, options } = order;
	const { whenBusy, deadlineMinutes, cancelSilentMinutes } = options;
	const client = withDeadline({
		send: item.send,
		clock: systemClock,
		signal: item.context.getExecutionCancelSignal(),
		deadline: systemClock.now() + deadlineMinutes * MINUTE_MS,
	});
	const { thread, body } = await prepareInTurn(order, client, turn);
	const isNew = runOn === 'new';
	const routes: RunRoutes = { areMissing: false };
	const started = (await startInTurn({
		...{ ...client, threadId: thread.threadId, body, whenBusy, isNew },
		...{ cancelSilentMs: cancelSilentMinutes * MINUTE_MS, routes },
	})) ?? { result: routesMissing(routes) };
	if ('result' in started && isNew) await deleteUnused(client, thread, started.result);
	if ('result' in started) throw resultError(item, started.result, thread);
	const { runId, assistantId, conversationId = thread.conversationId, ...more } = started;
	return forAudience(item, {
		...{ runId, threadId: thread.threadId },
		...(conversationId ? { conversationId } : {}),
		...{ assistantId: (assistantId ?? null) as string | null, status: 'running' },
		...(pick(more, ['discarded', 'cancelledRun']) as IDataObject),
	});
}
