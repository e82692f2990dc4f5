import { z } from 'zod';

import { answerWithList, isJsonObject } from '../transport/answer';
import type { Clock } from '../transport/clock';
import type { Failure } from '../transport/failure';
import type { Send } from '../transport/request';
import { certainlyNotDone, isTransient } from '../transport/meaning';
import { SINGLE_REQUEST_LIMITS } from '../transport/retryPolicy';
import { sendWithRetries } from '../transport/sendWithRetries';

const READ_TIMEOUT_MS = 30_000;

/** How often a conversation is asked for again when it cannot be told whether it was made. */
const CREATE_TRIES = 3;

/** What is needed to ask for a conversation. */
export interface Asking {
	send: Send;
	clock: Clock;
	signal?: AbortSignal;
}

/** A conversation, as far as a run needs it; a field of another type counts as not there. */
export const conversationRecord = z.object({
	id: z.string().optional().catch(undefined),
	threadId: z.string().optional().catch(undefined),
	status: z.string().optional().catch(undefined),
	error: z.unknown(),
	operation: z
		.object({ tasks: z.array(z.unknown()) })
		.optional()
		.catch(undefined),
});

/** What the server tells of the conversation a thread belongs to. */
export interface ConversationFacts {
	/** Why the server did not answer; nothing else is known then. */
	failure?: Failure;
	/** None when no conversation of the token's owner has the thread. */
	conversationId?: string;
	status?: string;
	/** Why its last run failed, if it did. */
	error?: string;
	/** What its run waits for a person to decide. */
	tasks: unknown[];
}

/**
 * Looks up the conversation of a thread (E5), where runs leave the reason of a failure and what they
 * ask a person. The server lists only those of the token's owner.
 */
export async function readConversation(
	{ send, clock, signal }: Asking,
	threadId: string,
): Promise<ConversationFacts> {
	const { outcome } = await sendWithRetries(send, {
		request: {
			method: 'POST',
			path: '/conversations/search',
			body: JSON.stringify({ where: { threadId }, order: { updatedAt: 'DESC' }, limit: 1 }),
			timeoutMs: READ_TIMEOUT_MS,
			checkAnswer: answerWithList('items'),
		},
		limits: SINGLE_REQUEST_LIMITS,
		repeatable: true,
		clock,
		signal,
	});
	if (!outcome.ok) return { failure: outcome.failure, tasks: [] };
	const items: unknown = isJsonObject(outcome.answer) ? outcome.answer.items : [];
	const found = conversationRecord.safeParse(Array.isArray(items) ? items[0] : undefined).data;
	// A server that does not know the filter lists others; one that does not say the thread is believed.
	if (!found || (found.threadId ?? threadId) !== threadId) return { tasks: [] };
	const { id, status, error, operation } = found;
	return {
		tasks: operation?.tasks ?? [],
		...(id ? { conversationId: id } : {}),
		...(status ? { status } : {}),
		...(error ? { error: reasonIn(error) } : {}),
	};
}

/** Why the last run of a conversation failed, as its record has it. */
export function reasonIn(error: unknown): string | undefined {
	if (!error) return undefined;
	return typeof error === 'string' ? error : JSON.stringify(error);
}

/** A thread to run, and the conversation it belongs to where that is known. */
export interface ThreadFacts {
	threadId: string;
	conversationId?: string;
}

/**
 * Makes a conversation on a thread of the caller's choice (E13). When the answer is lost, it is looked
 * for before it is asked for again, so that there are never two. No `id` is sent: a conversation with
 * an id of the caller's choice is never found again.
 *
 * @param body what E13 takes beside the thread, e.g. a title
 * @returns the thread and its conversation, or why there is none
 */
export async function createConversation(
	asking: Asking,
	threadId: string,
	body: Record<string, unknown>,
	timeoutMs: number,
): Promise<ThreadFacts | { failure: Failure }> {
	for (let tries = 1; ; tries++) {
		const { outcome } = await sendWithRetries(asking.send, {
			request: {
				method: 'POST',
				path: '/conversations',
				body: JSON.stringify({ ...body, threadId }),
				timeoutMs,
			},
			limits: SINGLE_REQUEST_LIMITS,
			repeatable: false,
			clock: asking.clock,
			signal: asking.signal,
		});
		if (outcome.ok) {
			const { id, threadId: given } = conversationRecord.safeParse(outcome.answer).data ?? {};
			return { threadId: given ?? threadId, ...(id ? { conversationId: id } : {}) };
		}
		const { failure } = outcome;
		if (!isTransient(failure) || certainlyNotDone(failure)) return { failure };
		const { failure: unknown, conversationId } = await readConversation(asking, threadId);
		if (conversationId) return { threadId, conversationId };
		if (unknown || tries >= CREATE_TRIES || asking.signal?.aborted) return { failure };
	}
}

/**
 * The conversation on a thread whose id is derived from a key: the one that is there, else a new one.
 * Nothing is made where it cannot be told whether there is one.
 *
 * @param body what E13 takes beside the thread, e.g. a title
 */
export async function openConversation(
	asking: Asking,
	threadId: string,
	body: Record<string, unknown>,
	timeoutMs: number,
): Promise<ThreadFacts | { failure: Failure }> {
	const { failure, conversationId } = await readConversation(asking, threadId);
	if (failure) return { failure };
	if (conversationId) return { threadId, conversationId };
	return await createConversation(asking, threadId, body, timeoutMs);
}
