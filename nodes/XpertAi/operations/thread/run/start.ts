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
import type { Failed } from './execute';
import { readStart } from './order';
import type { StartOrder } from './order';
import { deleteUnused, prepareInTurn } from './prepare';
import { forAudience } from './answerFields';

/**
 * Starts the runs of all items, those of the same thread one after another.
 *
 * @throws the NodeApiError or NodeOperationError of the first item that failed when On Error is "Stop Workflow"
 */
export async function execute({ context, items }: Execution): Promise<INodeExecutionData[]> {
	const orders = items.map(orderOf);
	const first = orders.find((order): order is StartOrder => 'options' in order);
	const errands = orders.map((order) => {
		if ('error' in order) return order;
		const { item, threadId } = order;
		const run = async (turn?: Turn) => item.output(await startItem(order, turn));
		return { item, threadId, asReply: false, run };
	});
	return await runInOrder(context, errands, first?.options.concurrency);
}

const noRoutes = ({ failure }: RunRoutes) =>
	failed(
		failure,
		'This server starts no runs in the background',
		'Use Thread: Ask and Wait, which works on every server.',
	);

/** Every item is read before anything is sent, so that with Stop a bad one starts no run. */
function orderOf(item: Item): StartOrder | Failed {
	try {
		return readStart(item);
	} catch (caught) {
		return { item, error: item.asError(caught), asReply: false };
	}
}

/**
 * Starts the run of an item.
 *
 * @returns its ID, where it goes on and that it does
 * @throws NodeApiError with the reason, the thread and the item when it was not started, or may not have been
 */
async function startItem(order: StartOrder, turn: Turn | undefined): Promise<IDataObject> {
	const { item, runOn, options } = order;
	const { whenBusy, deadlineMinutes, cancelSilentMinutes } = options;
	const inTime = withDeadline({
		send: item.send,
		clock: systemClock,
		signal: item.context.getExecutionCancelSignal(),
		deadline: systemClock.now() + deadlineMinutes * MINUTE_MS,
	});
	const { made, body } = await prepareInTurn(order, inTime, turn);
	const isNew = runOn === 'new';
	const routes: RunRoutes = { areMissing: false };
	const begun = (await startInTurn({
		...{ ...inTime, threadId: made.threadId, body, whenBusy, isNew },
		...{ cancelSilentMs: cancelSilentMinutes * MINUTE_MS, routes },
	})) ?? { result: noRoutes(routes) };
	if ('result' in begun && isNew) await deleteUnused(inTime, made, begun.result);
	if ('result' in begun) throw resultError(item, begun.result, made);
	const { runId, assistantId, conversationId = made.conversationId, ...more } = begun;
	return forAudience(item, {
		...{ runId, threadId: made.threadId },
		...(conversationId ? { conversationId } : {}),
		...{ assistantId: (assistantId ?? null) as string | null, status: 'running' },
		...(pick(more, ['discarded', 'cancelledRun']) as IDataObject),
	});
}
