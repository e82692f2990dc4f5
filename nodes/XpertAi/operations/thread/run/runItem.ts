import isEmpty from 'lodash/isEmpty';
import isUndefined from 'lodash/isUndefined';
import omitBy from 'lodash/omitBy';
import pick from 'lodash/pick';
import type { IDataObject } from 'n8n-workflow';

import { rawOutput } from '../../../execution/audience';
import { hasFilterValues } from '../../../runs/input';
import type { ThreadIds } from '../../../runs/openConversation';
import type { RunResult } from '../../../runs/result';
import { withDeadline } from '../../../runs/run';
import type { RunRoutes } from '../../../runs/run';
import { runAndWait } from '../../../runs/runThread';
import type { Turn } from './threadOrder';
import { MINUTE_MS } from '../../../transport/clock';
import type { Clock } from '../../../transport/clock';
import type { Chat } from './chat';
import { resultError } from './errors';
import type { Order } from './order';
import { deleteUnused, prepareInTurn } from './prepare';
import { answerFields, forAudience } from './answerFields';

/**
 * Runs an item's thread and waits for the result.
 *
 * @returns the JSON of the output item, with its thread and conversation
 * @throws NodeApiError with reason, thread and item if the run has no answer
 */
export async function runItem(
	order: Order,
	clock: Clock,
	turn: Turn | undefined,
	chat: Chat | undefined,
	routes: RunRoutes,
): Promise<IDataObject> {
	const started = clock.now();
	const { item, options, simplify } = order;
	const signal = item.context.getExecutionCancelSignal();
	const deadline = started + options.deadlineMinutes * MINUTE_MS;
	const client = withDeadline({ send: item.send, clock, signal, deadline });
	const { whenBusy, whenStopped, whenLate, inOneRequest, cancelSilentMinutes } = options;
	const { thread: created, body } = await prepareInTurn(order, client, turn);
	const result = await runAndWait({
		...client,
		threadId: created.threadId,
		body,
		...(chat && options.enableStreaming && { listener: chat }),
		isNew: order.runOn === 'new',
		...{ whenBusy, whenStopped, whenLate, inOneRequest, routes },
		cancelSilentMs: cancelSilentMinutes * MINUTE_MS,
	});
	const conversationId = created.conversationId ?? result.conversationId;
	const { runId } = result;
	const thread: ThreadIds = {
		...created,
		...(conversationId ? { conversationId } : {}),
		...(runId ? { runId } : {}),
	};
	if (order.runOn === 'new') await deleteUnused(client, created, result);
	if (result.status !== 'completed' && result.status !== 'interrupted')
		throw resultError(item, result, thread);
	const fields = answerFields(result, options, hasFilterValues(order.body));
	chat?.complete(fields.output);
	const json = resultJson(result, fields, thread, simplify);
	if (!simplify) return rawOutput(order, json);
	return forAudience(
		item,
		{ ...json, ...timesOf(result, clock.now() - started) },
		options.citations,
	);
}

/** The JSON of a result and its thread: simplified, or as the server answered. */
export function resultJson(
	result: RunResult,
	fields: IDataObject,
	thread: object,
	simplify: boolean,
): IDataObject {
	const { rejected, remembered, discarded, cancelledRun, output = '' } = result;
	// Rare facts are output only when they apply.
	const rare = omitBy({ rejected, remembered, discarded, cancelledRun }, isUndefined);
	const raw = { role: 'ai', content: output, ...pick(fields, 'filter') };
	const answer = simplify ? summaryOf(result, fields) : raw;
	return { ...answer, ...thread, ...rare };
}

function summaryOf(result: RunResult, { output, ...fields }: IDataObject): IDataObject {
	const { otherParts, status, interrupt, assistantId } = result;
	return {
		output,
		...(isEmpty(otherParts) ? {} : { parts: otherParts as IDataObject[] }),
		status,
		assistantId: (assistantId ?? null) as string | null,
		...(interrupt ? { interrupt: interrupt as IDataObject[] } : {}),
		...fields,
	};
}

function timesOf({ recovered }: RunResult, tookMs: number): IDataObject {
	return { seconds: Math.round(tookMs) / 1000, recovered };
}
