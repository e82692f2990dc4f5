import compact from 'lodash/compact';
import memoize from 'lodash/memoize';
import pick from 'lodash/pick';
import uniq from 'lodash/uniq';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import { tellUser } from '../../../execution/outputs';
import { hasFilterValues } from '../../../runs/input';
import type { RunKind } from '../../../runs/input';
import type { RunRoutes } from '../../../runs/run';
import { runAndWait } from '../../../runs/runThread';
import { startInTurn } from '../../../runs/start';
import type { FilterReport } from '../../../threads/filterReport';
import { systemClock } from '../../../transport/clock';
import type { Send } from '../../../transport/request';
import { answerFields, answerJson, filterHint, forAudience } from './answerFields';
import { Chat } from './chat';
import { resultError } from './errors';
import { executeInOrder } from './execute';
import { readOrder, readStart } from './order';
import type { Order, StartOrder } from './order';
import { deleteUnused, prepare } from './prepare';
import type { Turn } from './threadOrder';

/**
 * Thread: Ask and Wait, Decide and Answer Again.
 *
 * @param kind what to send to the assistant
 */
export async function execute(execution: Execution, kind: RunKind): Promise<INodeExecutionData[]> {
	// Items with the same server share what is known of its routes.
	const routesOf = memoize<(send: Send) => RunRoutes>(() => ({ areMissing: false }));
	const output = await executeInOrder(execution, {
		read: (item) => readOrder(item, kind),
		run: async (order, turn, chat) => await ask(order, routesOf(order.item.send), turn, chat),
		...{ concurrency, chatOf, mayReply: true },
	});
	tellUser(execution.context, hintsAt(output));
	return output;
}

/** Thread: Start Run. */
export async function executeStart(execution: Execution): Promise<INodeExecutionData[]> {
	return await executeInOrder(execution, { read: readStart, run: start, concurrency });
}

const concurrency = (first?: StartOrder) => first?.options.concurrency ?? 1;

function chatOf(item: Item, order?: Order): Chat | undefined {
	// A sub-workflow may be the tool of an agent, which the node cannot detect; without streaming it stays silent there.
	const isSilent =
		order?.options.enableStreaming === false && item.context.getMode() === 'integrated';
	return isSilent ? undefined : Chat.of(item, order?.options.citations);
}

/** Hints about answers that threads lack and searches that were not filtered as intended: the runs report success. */
function hintsAt(output: INodeExecutionData[]): string[] {
	const lost = output.filter(({ json }) => json.remembered === false).length;
	const answers = lost === 1 ? 'One answer is' : `${lost} answers are`;
	const why = 'another run at the same time has overwritten the messages';
	const hints = output.map(({ json }) => filterHint(json.filter as FilterReport | undefined));
	return uniq(compact([lost > 0 && `${answers} not on the thread: ${why}.`, ...hints]));
}

/**
 * Runs an item's thread and waits for the result.
 *
 * @throws NodeApiError with reason, thread and item if the run has no answer
 */
async function ask(
	order: Order,
	routes: RunRoutes,
	turn?: Turn,
	chat?: Chat,
): Promise<IDataObject> {
	const started = systemClock.now();
	const { item, options } = order;
	const { request, thread: prepared } = await prepare(order, routes, turn);
	const result = await runAndWait({
		...request,
		...pick(options, ['whenStopped', 'whenLate', 'inOneRequest']),
		listener: options.enableStreaming ? chat : undefined,
	});
	const { runId, recovered = false, status } = result;
	const conversationId = prepared.conversationId ?? result.conversationId;
	const thread = { ...prepared, conversationId, runId };
	await deleteUnused(request, prepared, result);
	if (status !== 'completed' && status !== 'interrupted') throw resultError(item, result, thread);
	const fields = answerFields(result, options, hasFilterValues(order.body));
	chat?.complete(fields.output);
	const seconds = Math.round(systemClock.now() - started) / 1000;
	return answerJson(order, result, fields, thread, { seconds, recovered });
}

/**
 * Starts the run of an item.
 *
 * @returns its run ID, thread and status
 * @throws NodeApiError with reason, thread and item if the run was not started, or may not have been
 */
async function start(order: StartOrder, turn?: Turn): Promise<IDataObject> {
	const { request, thread } = await prepare(order, { areMissing: false }, turn);
	const started = await startInTurn(request);
	if ('result' in started) {
		await deleteUnused(request, thread, started.result);
		throw resultError(order.item, started.result, thread);
	}
	const { runId, assistantId, conversationId = thread.conversationId, ...more } = started;
	return forAudience(order.item, {
		...{ runId, threadId: thread.threadId, conversationId },
		...{ assistantId: assistantId ?? null, status: 'running' },
		...pick(more, ['discarded', 'cancelledRun']),
	});
}
