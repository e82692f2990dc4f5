import compact from 'lodash/compact';
import uniq from 'lodash/uniq';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import { tellUser } from '../../../execution/outputs';
import { hasFilterValues } from '../../../runs/input';
import type { RunKind } from '../../../runs/input';
import { runAndWait } from '../../../runs/runThread';
import { startInTurn } from '../../../runs/start';
import type { FilterReport } from '../../../threads/filterReport';
import { systemClock } from '../../../transport/clock';
import { answerFields, answerJson, filterHint, forAudience } from './answerFields';
import { Chat } from './chat';
import { resultError } from './errors';
import { readOrder, readStart } from './order';
import type { Order, StartOrder } from './order';
import { deleteUnused, prepare } from './prepare';
import { executeInOrder } from './threadOrder';
import type { Turn } from './threadOrder';

/**
 * Thread: Ask and Wait, Decide and Answer Again.
 *
 * @param kind what to send to the assistant
 */
export async function execute(execution: Execution, kind: RunKind): Promise<INodeExecutionData[]> {
	const read = (item: Item) => readOrder(item, kind);
	const output = await executeInOrder(execution, { read, run: ask, chatOf });
	tellUser(execution.context, hintsAt(output));
	return output;
}

/** Thread: Start Run. */
export async function executeStart(execution: Execution): Promise<INodeExecutionData[]> {
	return await executeInOrder(execution, { read: readStart, run: start });
}

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
async function ask(order: Order, turn?: Turn, chat?: Chat): Promise<IDataObject> {
	const started = systemClock.now();
	const { item, options } = order;
	const run = await prepare(order, turn);
	const listener = options.enableStreaming ? chat : undefined;
	const result = await runAndWait({ ...run, listener });
	const { status, recovered = false } = result;
	await deleteUnused(run, result);
	if (status !== 'completed' && status !== 'interrupted') throw resultError(item, result);
	const fields = answerFields(result, options, hasFilterValues(order.body));
	chat?.complete(fields.output);
	const seconds = Math.round(systemClock.now() - started) / 1000;
	return answerJson(order, result, fields, { seconds, recovered });
}

/**
 * Starts the run of an item.
 *
 * @returns its run ID, thread and status
 * @throws NodeApiError with reason, thread and item if the run was not started, or may not have been
 */
async function start(order: StartOrder, turn?: Turn): Promise<IDataObject> {
	const { item } = order;
	const run = await prepare(order, turn);
	const { threadId, conversationId } = run;
	const started = await startInTurn(run);
	const { runId, assistantId = null, discarded, cancelledRun } = started;
	if (runId === undefined) {
		await deleteUnused(run, started);
		throw resultError(item, { ...started, threadId, conversationId });
	}
	return forAudience(item, {
		...{ runId, threadId, conversationId, assistantId, status: 'running' },
		...{ discarded, cancelledRun },
	});
}
