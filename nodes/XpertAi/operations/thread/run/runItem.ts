import isEmpty from 'lodash/isEmpty';
import isUndefined from 'lodash/isUndefined';
import omitBy from 'lodash/omitBy';
import type { IDataObject } from 'n8n-workflow';

import type { ThreadFacts } from '../../../runs/openConversation';
import { runAndWait } from '../../../runs/runAndWait';
import type { InTime, Numbers } from '../../../runs/run';
import type { Turn } from '../../../runs/threadOrder';
import type { Verdict } from '../../../runs/verdict';
import { asJson } from '../../../execution/results';
import { MINUTE_MS } from '../../../transport/clock';
import type { Clock } from '../../../transport/clock';
import type { Chat } from './chat';
import { verdictError } from './errors';
import type { Order } from './order';
import { prepareInTurn } from './prepare';
import { forReader, toldBy } from './told';

/**
 * Runs an item's thread to its verdict.
 *
 * @returns the JSON of the output item, with its thread and, where it is known, the conversation
 * @throws NodeApiError with the reason, the thread and the item when the run has no answer
 */
export async function runItem(
	order: Order,
	clock: Clock,
	turn: Turn | undefined,
	chat: Chat | undefined,
	numbers: Numbers,
): Promise<IDataObject> {
	const started = clock.now();
	const { item, options, simplify } = order;
	const signal = item.context.getExecutionCancelSignal();
	const inTime: InTime = {
		send: item.send,
		clock,
		signal,
		deadline: started + options.deadlineMinutes * MINUTE_MS,
	};
	const { whenBusy, whenStopped, whenLate } = options;
	const { made, body } = await prepareInTurn(order, inTime, turn);
	const verdict = await runAndWait({
		...inTime,
		threadId: made.threadId,
		body,
		...(chat && options.enableStreaming && { listener: chat }),
		isNew: order.runOn === 'new',
		takesTurns: order.runOn === 'key',
		...{ whenBusy, whenStopped, whenLate, numbers },
	});
	const conversationId = made.conversationId ?? verdict.conversationId;
	const { runId } = verdict;
	const thread: ThreadFacts = {
		...made,
		...(conversationId ? { conversationId } : {}),
		...(runId ? { runId } : {}),
	};
	if (verdict.status !== 'completed' && verdict.status !== 'interrupted')
		throw verdictError(item, verdict, thread);
	const told = toldBy(verdict, options);
	chat?.complete(told.output);
	const json = verdictJson(verdict, told, thread, simplify);
	if (!simplify) return json;
	return forReader(
		item,
		{ ...json, ...timesOf(verdict, clock.now() - started) },
		options.citations,
	);
}

/** What a verdict comes out as, with what it told and its thread: in short, or as the server answered. */
export function verdictJson(
	verdict: Verdict,
	told: IDataObject,
	thread: object,
	simplify: boolean,
): IDataObject {
	const facts = { ...thread, ...marksOf(verdict) };
	return simplify
		? { ...summaryOf(verdict, told), ...facts }
		: { ...asJson(verdict.answer), ...facts };
}

/** What is seldom so, and said only where it is. */
function marksOf({ rejected, remembered }: Verdict): IDataObject {
	return omitBy({ rejected, remembered }, isUndefined);
}

function summaryOf(verdict: Verdict, { output, ...told }: IDataObject): IDataObject {
	const { parts, status, interrupt, assistantId } = verdict;
	return {
		output,
		...(isEmpty(parts) ? {} : { parts: parts as IDataObject[] }),
		status,
		assistantId: assistantId ?? null,
		...(interrupt ? { interrupt: interrupt as IDataObject[] } : {}),
		...told,
	};
}

function timesOf({ recovered }: Verdict, tookMs: number): IDataObject {
	return { seconds: Math.round(tookMs) / 1000, recovered };
}
