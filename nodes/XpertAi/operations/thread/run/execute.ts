import compact from 'lodash/compact';
import memoize from 'lodash/memoize';
import uniq from 'lodash/uniq';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { failureAsReply, isTool, NO_ANSWER } from '../../../execution/audience';
import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import { mayContinue, tellUser } from '../../../execution/outputs';
import type { ItemError } from '../../../execution/outputs';
import type { RunInput } from '../../../runs/input';
import type { RunRoutes } from '../../../runs/run';
import type { FilterReport } from '../../../threads/filterReport';
import { inThreadOrder } from './threadOrder';
import type { Turn } from './threadOrder';
import { systemClock } from '../../../transport/clock';
import type { Send } from '../../../transport/request';
import { Chat } from './chat';
import { failedRunItem } from './errors';
import { readOrder } from './order';
import type { Order } from './order';
import { runItem } from './runItem';
import { filterHint } from './answerFields';

/**
 * Runs all items, those of the same thread one after another, and keeps their order in the output.
 *
 * @param kind what is said to the assistant
 * @throws the NodeApiError or NodeOperationError of the first item that failed when On Error is "Stop Workflow"
 */
export async function execute(
	{ context, items }: Execution,
	kind: RunInput['kind'],
): Promise<INodeExecutionData[]> {
	const orders = items.map((item) => orderOf(item, kind));
	const first = orders.find((order): order is Order => 'options' in order);
	// Items of one server find out together what it lacks.
	const routesOf = memoize<(send: Send) => RunRoutes>(() => ({ areMissing: false }));
	const errands = orders.map((order) => {
		if ('error' in order) return order;
		const { item, threadId, failuresAsReplies: asReply } = order;
		const run = async (turn?: Turn) => await attempt(order, turn, routesOf(item.send));
		return { item, threadId, asReply, run };
	});
	const output = await runInOrder(context, errands, first?.options.concurrency);
	hintAtForgotten(context, output);
	hintAtFilters(context, output);
	return output;
}

/** What is to be done for an item, on its thread where it has one already. */
interface Errand {
	item: Item;
	threadId?: string;
	/** Whether a failure is to come out as if the assistant had said it. */
	asReply: boolean;
	run: (turn?: Turn) => Promise<INodeExecutionData>;
}

/**
 * Does what is to be done for all items, for those of the same thread one after another.
 *
 * @param concurrency threads at once
 * @returns their output, in their order
 * @throws the NodeApiError or NodeOperationError of the first item that failed when On Error is "Stop Workflow"
 */
export async function runInOrder(
	context: IExecuteFunctions,
	errands: Array<Errand | Failed>,
	concurrency = 1,
): Promise<INodeExecutionData[]> {
	const isStopped = () => context.getExecutionCancelSignal()?.aborted === true;
	const stops = ({ asReply }: Failed) => (asReply ? isStopped() : !mayContinue(context));
	const isBad = (one: Errand | Failed): one is Failed => 'error' in one;
	let stopError = errands.find((one): one is Failed => isBad(one) && stops(one))?.error;
	const outputOf = ({ item, error, asReply }: Failed) =>
		asReply ? item.output(failureAsReply(error)) : failedRunItem(item, error);
	const work = errands.map((one) => ({
		threadId: isBad(one) ? undefined : one.threadId,
		run: async (turn?: Turn): Promise<INodeExecutionData | undefined> => {
			if (isBad(one)) {
				tellFailure(one, Chat.of(one.item));
				return outputOf(one);
			}
			try {
				return await one.run(turn);
			} catch (caught) {
				const failure = { ...one, error: one.item.asError(caught) };
				if (stops(failure)) stopError ??= failure.error;
				return outputOf(failure);
			}
		},
	}));
	const results = await inThreadOrder(work, concurrency, () => stopError === undefined);
	if (stopError) throw stopError;
	return results.flatMap((result) => result ?? []);
}

/** Tells the user of answers whose threads do not hold them, which a workflow that goes on does not show. */
function hintAtForgotten(context: IExecuteFunctions, output: INodeExecutionData[]): void {
	const forgotten = output.filter(({ json }) => json.remembered === false).length;
	if (forgotten === 0) return;
	const answers = forgotten === 1 ? 'One answer is' : `${forgotten} answers are`;
	const why = 'another run at the same time has overwritten the messages';
	tellUser(context, [`${answers} not on the thread: ${why}.`]);
}

/** Tells the user of answers whose search was not filtered as it was meant to be, of which the runs say nothing. */
function hintAtFilters(context: IExecuteFunctions, output: INodeExecutionData[]): void {
	const said = output.map(({ json }) => filterHint(json.filter as FilterReport | undefined));
	tellUser(context, uniq(compact(said)));
}

/** An item that has come to nothing. */
export interface Failed extends Pick<Errand, 'item' | 'asReply'> {
	error: ItemError;
}

/** Every item is read before anything is sent, so that with Stop a bad one starts no run. */
function orderOf(item: Item, kind: RunInput['kind']): Order | Failed {
	let asReply = false;
	try {
		asReply = item.switch('options.failuresAsReplies', isTool(item.context));
		return readOrder(item, kind, asReply);
	} catch (caught) {
		return { item, error: item.asError(caught), asReply };
	}
}

async function attempt(
	order: Order,
	turn: Turn | undefined,
	routes: RunRoutes,
): Promise<INodeExecutionData> {
	const { item, options, failuresAsReplies: asReply } = order;
	// A sub-workflow may be an agent's tool, which cannot be told: switched off, streaming stays silent there.
	const isSilent = !options.enableStreaming && item.context.getMode() === 'integrated';
	const chat = isSilent ? undefined : Chat.of(item, options.citations);
	try {
		const json = await runItem(order, systemClock, turn, chat, routes);
		chat?.end();
		return item.output(json);
	} catch (caught) {
		const error = item.asError(caught);
		tellFailure({ item, error, asReply }, chat);
		throw error;
	}
}

/** Ends a chat with why there is no answer; what stops the workflow n8n tells itself. */
function tellFailure({ item, error, asReply }: Failed, chat: Chat | undefined): void {
	if (asReply) chat?.note(error.message);
	else if (mayContinue(item.context)) chat?.note(NO_ANSWER);
	chat?.end();
}
