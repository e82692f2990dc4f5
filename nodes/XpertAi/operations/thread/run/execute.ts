import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import { mayContinue, tellUser } from '../../../execution/outputs';
import type { ItemError } from '../../../execution/outputs';
import type { RunInput } from '../../../runs/input';
import { inThreadOrder } from '../../../runs/threadOrder';
import type { Turn } from '../../../runs/threadOrder';
import { systemClock } from '../../../transport/clock';
import type { Send } from '../../../transport/request';
import { Chat } from './chat';
import { failedRun, failureAsReply } from './errors';
import { readOrder } from './order';
import type { Order } from './order';
import { runItem } from './runItem';

/**
 * Runs all items, those of the same thread one after another, and keeps their order in the output.
 *
 * @param kind what is said to the assistant
 * @throws the NodeApiError or NodeOperationError of the first item that failed when On Error is "Stop Workflow"
 */
export async function execute(
	{ context, send, items }: Execution,
	kind: RunInput['kind'],
): Promise<INodeExecutionData[]> {
	const orders = items.map((item) => orderOf(item, kind));
	const first = orders.find((order): order is Order => 'options' in order);
	const concurrency = first?.options.concurrency ?? 1;
	const isStopped = () => context.getExecutionCancelSignal()?.aborted === true;
	const stops = ({ asReply }: Failed) => (asReply ? isStopped() : !mayContinue(context));
	let stopError = orders.find((order): order is Failed => 'error' in order && stops(order))?.error;
	const work = orders.map((order) => ({
		threadId: 'error' in order ? undefined : order.threadId,
		run: async (turn?: Turn): Promise<INodeExecutionData | undefined> => {
			const result = 'error' in order ? order : await attempt(send, order, turn);
			if ('output' in result) return result.output;
			if (stops(result)) stopError ??= result.error;
			return result.asReply
				? order.item.output(failureAsReply(result.error))
				: failedRun(order.item, result.error);
		},
	}));
	const results = await inThreadOrder(work, concurrency, () => stopError === undefined);
	if (stopError) throw stopError;
	const output = results.flatMap((result) => result ?? []);
	hintAtForgotten(context, output);
	return output;
}

/** Tells the user of answers whose threads do not hold them, which a workflow that goes on does not show. */
function hintAtForgotten(context: IExecuteFunctions, output: INodeExecutionData[]): void {
	const forgotten = output.filter(({ json }) => json.remembered === false).length;
	if (forgotten === 0) return;
	const answers = forgotten === 1 ? 'One answer is' : `${forgotten} answers are`;
	const why = 'another run at the same time has overwritten the messages';
	tellUser(context, [`${answers} not on the thread: ${why}.`]);
}

interface Failed {
	item: Item;
	error: ItemError;
	/** Whether it is to come out as if the assistant had said it. */
	asReply: boolean;
}

/** Every item is read before anything is sent, so that with Stop a bad one starts no run. */
function orderOf(item: Item, kind: RunInput['kind']): Order | Failed {
	let asReply = false;
	try {
		asReply = item.switch('options.failuresAsReplies');
		return readOrder(item, kind, asReply);
	} catch (caught) {
		return { item, error: item.asError(caught), asReply };
	}
}

async function attempt(
	send: Send,
	order: Order,
	turn: Turn | undefined,
): Promise<{ output: INodeExecutionData } | Failed> {
	const { item, failuresAsReplies: asReply, options } = order;
	const chat = options.enableStreaming ? Chat.of(item, options.citations) : undefined;
	try {
		return { output: item.output(await runItem(send, order, systemClock, turn, chat)) };
	} catch (caught) {
		const error = item.asError(caught);
		chat?.note(error.message);
		return { item, error, asReply };
	} finally {
		chat?.end();
	}
}
