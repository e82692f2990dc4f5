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
 * Runs all items, those of the same thread one after another. The output keeps the order of the items.
 *
 * @param kind what to send to the assistant
 * @throws the NodeApiError or NodeOperationError of the first failed item when On Error is "Stop Workflow"
 */
export async function execute(
	{ context, items }: Execution,
	kind: RunInput['kind'],
): Promise<INodeExecutionData[]> {
	const orders = items.map((item) => readItem(item, kind));
	const first = orders.find((order): order is Order => 'options' in order);
	// Items with the same server share what is known of its routes.
	const routesOf = memoize<(send: Send) => RunRoutes>(() => ({ areMissing: false }));
	const jobs = orders.map((order) => {
		if ('error' in order) return order;
		const { item, threadId, failuresAsReplies: asReply } = order;
		const run = async (turn?: Turn) => await runJob(order, turn, routesOf(item.send));
		return { item, threadId, asReply, run };
	});
	const output = await runInOrder(context, jobs, first?.options.concurrency);
	hintAtLostAnswers(context, output);
	hintAtFilters(context, output);
	return output;
}

/** The work for one item, and its thread if it has one already. */
interface Job {
	item: Item;
	threadId?: string;
	/** Whether a failure is output like an answer. */
	asReply: boolean;
	run: (turn?: Turn) => Promise<INodeExecutionData>;
}

/**
 * Runs all jobs, those of the same thread one after another.
 *
 * @param concurrency threads at once
 * @returns the output, in the order of the jobs
 * @throws the NodeApiError or NodeOperationError of the first failed item when On Error is "Stop Workflow"
 */
export async function runInOrder(
	context: IExecuteFunctions,
	jobs: Array<Job | FailedItem>,
	concurrency = 1,
): Promise<INodeExecutionData[]> {
	const isStopped = () => context.getExecutionCancelSignal()?.aborted === true;
	const stops = ({ asReply }: FailedItem) => (asReply ? isStopped() : !mayContinue(context));
	const isFailed = (one: Job | FailedItem): one is FailedItem => 'error' in one;
	let stopError = jobs.find((one): one is FailedItem => isFailed(one) && stops(one))?.error;
	const outputOf = ({ item, error, asReply }: FailedItem) =>
		asReply ? item.output(failureAsReply(error)) : failedRunItem(item, error);
	const work = jobs.map((one) => ({
		threadId: isFailed(one) ? undefined : one.threadId,
		run: async (turn?: Turn): Promise<INodeExecutionData | undefined> => {
			if (isFailed(one)) {
				endChat(one, Chat.of(one.item));
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

/** Shows a hint if threads lack answers: the workflow continues without an error. */
function hintAtLostAnswers(context: IExecuteFunctions, output: INodeExecutionData[]): void {
	const lost = output.filter(({ json }) => json.remembered === false).length;
	if (lost === 0) return;
	const answers = lost === 1 ? 'One answer is' : `${lost} answers are`;
	const why = 'another run at the same time has overwritten the messages';
	tellUser(context, [`${answers} not on the thread: ${why}.`]);
}

/** Shows hints about searches that were not filtered as intended: the runs report success. */
function hintAtFilters(context: IExecuteFunctions, output: INodeExecutionData[]): void {
	const hints = output.map(({ json }) => filterHint(json.filter as FilterReport | undefined));
	tellUser(context, uniq(compact(hints)));
}

/** A failed item. */
export interface FailedItem extends Pick<Job, 'item' | 'asReply'> {
	error: ItemError;
}

/** All items are read before anything is sent, so that with Stop an invalid item starts no run. */
function readItem(item: Item, kind: RunInput['kind']): Order | FailedItem {
	let asReply = false;
	try {
		asReply = item.switch('options.failuresAsReplies', isTool(item.context));
		return readOrder(item, kind, asReply);
	} catch (caught) {
		return { item, error: item.asError(caught), asReply };
	}
}

async function runJob(
	order: Order,
	turn: Turn | undefined,
	routes: RunRoutes,
): Promise<INodeExecutionData> {
	const { item, options, failuresAsReplies: asReply } = order;
	// A sub-workflow may be the tool of an agent, which the node cannot detect; without streaming it stays silent there.
	const isSilent = !options.enableStreaming && item.context.getMode() === 'integrated';
	const chat = isSilent ? undefined : Chat.of(item, options.citations);
	try {
		const json = await runItem(order, systemClock, turn, chat, routes);
		chat?.end();
		return item.output(json);
	} catch (caught) {
		const error = item.asError(caught);
		endChat({ item, error, asReply }, chat);
		throw error;
	}
}

/** Ends a chat after a failure. If the workflow stops, n8n shows the error itself. */
function endChat({ item, error, asReply }: FailedItem, chat: Chat | undefined): void {
	if (asReply) chat?.note(error.message);
	else if (mayContinue(item.context)) chat?.note(NO_ANSWER);
	chat?.end();
}
