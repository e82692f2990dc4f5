import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import { beginRun } from '../../../runs/begin';
import type { InTime } from '../../../runs/run';
import { beginInTurn } from '../../../runs/takingTurns';
import type { Turn } from '../../../runs/threadOrder';
import { MINUTE_MS, systemClock } from '../../../transport/clock';
import { verdictError } from './errors';
import { inOrder } from './execute';
import type { Failed } from './execute';
import { readStart } from './order';
import type { StartOrder } from './order';
import { prepareInTurn } from './prepare';
import { forReader } from './told';

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
	return await inOrder(context, errands, first?.options.concurrency);
}

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
 * @returns its number, where it goes on and that it does
 * @throws NodeApiError with the reason, the thread and the item when it was not started, or may not have been
 */
async function startItem(order: StartOrder, turn: Turn | undefined): Promise<IDataObject> {
	const { item, runOn, options } = order;
	const { whenBusy, deadlineMinutes } = options;
	const inTime: InTime = {
		send: item.send,
		clock: systemClock,
		signal: item.context.getExecutionCancelSignal(),
		deadline: systemClock.now() + deadlineMinutes * MINUTE_MS,
	};
	const { made, body } = await prepareInTurn(order, inTime, turn);
	const where = { isNew: runOn === 'new', takesTurns: runOn === 'key' };
	const sent = { ...inTime, threadId: made.threadId, body, whenBusy, ...where };
	const began = (await beginInTurn(sent)) ?? (await beginRun(sent));
	if ('verdict' in began) throw verdictError(item, began.verdict, made);
	const { runId, assistantId, conversationId = made.conversationId } = began;
	return forReader(item, {
		...{ runId, threadId: made.threadId },
		...(conversationId ? { conversationId } : {}),
		...{ assistantId: assistantId ?? null, status: 'running' },
	});
}
