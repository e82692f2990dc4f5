import { randomUUID } from 'crypto';

import truncate from 'lodash/truncate';
import type { IDataObject, NodeApiError } from 'n8n-workflow';
import { z } from 'zod';

import type { RequestMeaning } from '../../../execution/hints';
import type { Item } from '../../../execution/item';
import { createConversation } from '../../../runs/conversation';
import type { Asking, ThreadFacts } from '../../../runs/conversation';
import { runAndWait } from '../../../runs/runAndWait';
import type { Run } from '../../../runs/run';
import type { Verdict } from '../../../runs/verdict';
import { asJson, isJsonObject } from '../../../transport/answer';
import { MINUTE_MS } from '../../../transport/clock';
import type { Clock } from '../../../transport/clock';
import type { Failure } from '../../../transport/failure';
import { API_ROOT, buildPath } from '../../../transport/request';
import type { Send } from '../../../transport/request';
import { RUN_NAMING, runBodyOf } from './body';

/** Minutes that a timer of Node.js can wait. */
const deadline = z.number().positive().min(0.001).max(35_791);

const whenBusy = z.enum(['wait', 'fail', 'run']);

const threadSource = z.enum(['existing', 'new']);

const SETUP_TIMEOUT_MS = 60_000;
const TITLE_LENGTH = 80;

/** What is to be run for one item, read and checked. */
export interface Order {
	item: Item;
	/** The thread to run; without it, a new conversation is started. */
	threadId?: string;
	body: IDataObject;
	/** The body as it is sent. */
	bodyText: string;
	title: string;
	whenBusy: Run['whenBusy'];
	deadlineMs: number;
	simplify: boolean;
}

/**
 * Reads the parameters of an item's run.
 *
 * @throws NodeOperationError naming the parameter, the item and what is expected
 */
export function readOrder(item: Item): Order {
	const isNew = item.choice('threadSource', threadSource) === 'new';
	const body = runBodyOf(item);
	if (!isJsonObject(body)) {
		const subject = `"${item.labelOf('jsonBody')}"`;
		return item.refuse({ subject, demand: 'must be an object (JSON)', value: body });
	}
	return {
		item,
		...(isNew ? {} : { threadId: item.id('threadId') }),
		body,
		bodyText: item.jsonText(body, item.isJsonBody ? {} : RUN_NAMING),
		title: item.text('options.title') || titleOf(item.parameter('message', '')),
		whenBusy: item.choice('options.whenBusy', whenBusy),
		deadlineMs: item.number('options.deadlineMinutes', deadline) * MINUTE_MS,
		simplify: item.switch('simplify'),
	};
}

/**
 * Runs an item's thread to its verdict.
 *
 * @returns the JSON of the output item, with its thread and, where it is known, the conversation
 * @throws NodeApiError with the reason, the thread and the item when the run has no answer
 */
export async function runItem(send: Send, order: Order, clock: Clock): Promise<IDataObject> {
	const started = clock.now();
	const { item } = order;
	const signal = item.context.getExecutionCancelSignal();
	const isNew = order.threadId === undefined;
	// An id of our own, so that the thread is known also when the answer is lost.
	const threadId = order.threadId ?? randomUUID();
	const made: Created = isNew
		? await startConversation(order, { send, clock, signal }, threadId)
		: { threadId };
	if ('failure' in made) throw runError(item, made.failure, { threadId, verdict: 'failed' });
	const verdict = await runAndWait({
		send,
		threadId: made.threadId,
		body: order.bodyText,
		isNew,
		whenBusy: order.whenBusy,
		deadline: started + order.deadlineMs,
		clock,
		signal,
	});
	const conversationId = made.conversationId ?? verdict.conversationId;
	const thread: ThreadFacts = {
		threadId: made.threadId,
		...(conversationId ? { conversationId } : {}),
	};
	if (verdict.status !== 'completed' && verdict.status !== 'interrupted')
		throw verdictError(item, verdict, thread);
	if (!order.simplify) return { ...asJson(verdict.answer), ...thread };
	return { ...summaryOf(order, verdict), ...thread, ...timesOf(verdict, clock.now() - started) };
}

function summaryOf({ body }: Order, { reply, status, interrupt }: Verdict): IDataObject {
	return {
		reply: reply ?? null,
		status,
		assistantId: body.assistant_id ?? null,
		...(interrupt ? { interrupt: interrupt as IDataObject[] } : {}),
	};
}

function timesOf({ recovered }: Verdict, tookMs: number): IDataObject {
	return { seconds: Math.round(tookMs) / 1000, recovered };
}

type Created = Awaited<ReturnType<typeof createConversation>>;

async function startConversation(
	{ title, deadlineMs }: Order,
	asking: Asking,
	threadId: string,
): Promise<Created> {
	const timeoutMs = Math.min(SETUP_TIMEOUT_MS, deadlineMs);
	return await createConversation(asking, threadId, title ? { title } : {}, timeoutMs);
}

/** Says why there is no answer, and where to look. */
function verdictError(item: Item, verdict: Verdict, thread: ThreadFacts): NodeApiError {
	const { failure, reason, advice, status } = verdict;
	const method = 'POST';
	const path = `${API_ROOT}${buildPath('/threads/{threadId}/runs/wait', { threadId: thread.threadId })}`;
	const error = runError(
		item,
		failure && reason === undefined
			? failure
			: { method, path, ...failure, kind: 'unsuccessful', reason },
		{ ...thread, verdict: status },
	);
	const way = advice ?? (reason === undefined ? undefined : LOOK_IT_UP);
	if (way) error.description = `${way} ${error.description ?? ''}`.trim();
	return error;
}

const LOOK_IT_UP = 'Look the thread up on the server, or read it with Thread: Get.';

/** What statuses mean for E4: the server looks for the assistant first (recorded). */
const RUN_MEANING: RequestMeaning = {
	statusHints: {
		403: 'A key of a user may not run the assistants of a private workspace. Use a key made for that workspace, or for this assistant.',
		404: 'The server has no such assistant, or the token may not see it. Check "Assistant".',
	},
};

/** The error of a run; names the thread, so that the user can look it up. */
function runError(
	item: Item,
	failure: Failure,
	facts: IDataObject & { threadId: string },
): NodeApiError {
	const error = item.apiError(failure, RUN_MEANING);
	error.description = `${error.description ?? ''} Thread: ${facts.threadId}.`.trim();
	error.context.data = { ...(error.context.data as IDataObject), ...facts };
	return error;
}

function titleOf(message: unknown): string {
	return typeof message === 'string' ? truncate(message.trim(), { length: TITLE_LENGTH }) : '';
}
