import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';

import type { Item } from '../../execution/item';
import type { CodedOperation, Execution } from '../../execution/operation';
import { mayContinue } from '../../execution/outputs';
import type { ItemError } from '../../execution/outputs';
import { inThreadOrder } from '../../runs/threadOrder';
import { systemClock } from '../../transport/clock';
import type { Send } from '../../transport/request';
import { runFields } from './run/fields';
import { readOrder } from './run/order';
import type { Order } from './run/order';
import { runItem } from './run/runItem';

export const run: CodedOperation = {
	value: 'run',
	name: 'Run and Wait',
	action: 'Ask an assistant',
	description:
		'Ask an assistant and wait for its answer, also for many minutes. A wait that breaks is taken up again.',
	endpoint: 'E4',
	fields: runFields,
	execute,
};

const atOnce = z.number().int().min(1).max(50);

/** Runs all items, those of the same thread one after another, and keeps their order in the output. */
async function execute({ context, send, items }: Execution): Promise<INodeExecutionData[]> {
	const [first] = items;
	if (!first) return [];
	const concurrency = first.number('options.concurrency', atOnce);
	const orders = items.map(orderOf);
	let stopError = orders.find(
		(order): order is Failed => 'error' in order && !mayContinue(context),
	)?.error;
	const work = orders.map((order) => ({
		threadId: 'error' in order ? undefined : order.threadId,
		run: async (): Promise<INodeExecutionData | undefined> => {
			const result = 'error' in order ? order : await attempt(send, order);
			if ('output' in result) return result.output;
			if (!mayContinue(context)) stopError ??= result.error;
			return order.item.failed(result.error, factsOf(result.error));
		},
	}));
	const results = await inThreadOrder(work, concurrency, () => stopError === undefined);
	if (stopError) throw stopError;
	return results.flatMap((result) => result ?? []);
}

interface Failed {
	item: Item;
	error: ItemError;
}

/** Every item is read before anything is sent, so that with Stop a bad one starts no run. */
function orderOf(item: Item): Order | Failed {
	try {
		return readOrder(item);
	} catch (caught) {
		return { item, error: item.asError(caught) };
	}
}

async function attempt(send: Send, order: Order): Promise<{ output: INodeExecutionData } | Failed> {
	const { item } = order;
	try {
		return { output: item.output(await runItem(send, order, systemClock)) };
	} catch (caught) {
		return { item, error: item.asError(caught) };
	}
}

/** The thread of a failed run, so that the user can look it up. */
function factsOf(error: ItemError): IDataObject {
	const { threadId, conversationId, verdict } = (error.context.data ?? {}) as IDataObject;
	return threadId === undefined ? {} : { threadId, conversationId, status: verdict };
}
