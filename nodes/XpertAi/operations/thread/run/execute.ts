import compact from 'lodash/compact';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { failureAsReply, isTool, NO_ANSWER } from '../../../execution/audience';
import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import { mayContinue } from '../../../execution/outputs';
import type { ItemError } from '../../../execution/outputs';
import type { Chat } from './chat';
import { failedRunItem } from './errors';
import { inThreadOrder } from './threadOrder';
import type { Turn } from './threadOrder';

/** An operation on threads. */
interface ThreadOperation<Order extends { threadId?: string }> {
	/** Reads the parameters of an item, and the thread if it has one already. */
	read: (item: Item) => Order;
	/** The JSON of the output item. */
	run: (order: Order, turn?: Turn, chat?: Chat) => Promise<IDataObject>;
	/** Threads at once. */
	concurrency: (first?: Order) => number;
	/** Whether a failure may be output like an answer. */
	mayReply?: boolean;
	/** The chat that gets the answer. */
	chatOf?: (item: Item, order?: Order) => Chat | undefined;
}

/**
 * Runs an operation for all items, those of the same thread one after another. All items are read before anything is
 * sent, so that with Stop an invalid item starts no run.
 *
 * @returns the output, in the order of the items
 * @throws the NodeApiError or NodeOperationError of the first failed item when On Error is "Stop Workflow"
 */
export async function executeInOrder<Order extends { threadId?: string }>(
	{ context, items }: Execution,
	{ read, run, concurrency, mayReply = false, chatOf }: ThreadOperation<Order>,
): Promise<INodeExecutionData[]> {
	let stopError: ItemError | undefined;
	const errorOf = (item: Item, caught: unknown, asReply: boolean) => {
		const error = item.asError(caught);
		const isStopped = context.getExecutionCancelSignal()?.aborted === true;
		if (asReply ? isStopped : !mayContinue(context)) stopError ??= error;
		return error;
	};
	let first: Order | undefined;
	const work = items.map((item) => {
		let asReply = false;
		let order: Order | undefined;
		let error: ItemError | undefined;
		try {
			asReply = mayReply && item.switch('options.failuresAsReplies', isTool(context));
			order = read(item);
			first ??= order;
		} catch (caught) {
			error = errorOf(item, caught, asReply);
		}
		const runOrder = async (turn?: Turn) => {
			const chat = chatOf?.(item, order);
			try {
				if (error) throw error;
				const json = order && (await run(order, turn, chat));
				chat?.end();
				return item.output(json ?? {});
			} catch (caught) {
				const failure = errorOf(item, caught, asReply);
				// If the workflow stops, n8n shows the error itself.
				if (asReply || mayContinue(context)) chat?.note(asReply ? failure.message : NO_ANSWER);
				chat?.end();
				return asReply ? item.output(failureAsReply(failure)) : failedRunItem(item, failure);
			}
		};
		return { threadId: order?.threadId, run: runOrder };
	});
	const results = await inThreadOrder(work, concurrency(first), () => stopError === undefined);
	if (stopError) throw stopError;
	return compact(results);
}
