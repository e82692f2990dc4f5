import { z } from 'zod';

import { textIfAny } from '../payloads/common';
import { answerMustBe, isJsonObject } from '../transport/answer';
import type { AnswerCheck } from '../transport/answer';
import { buildPath } from '../transport/api';
import type { Clock } from '../transport/clock';
import type { Failure } from '../transport/failure';
import type { Send } from '../transport/request';
import { SINGLE_REQUEST_LIMITS } from '../transport/retryPolicy';
import type { RetryLimits } from '../transport/retryPolicy';
import { sendWithRetries } from '../transport/sendWithRetries';

/** A message of a thread, which says by what it holds who speaks (recorded, E15). */
const threadMessage = z
	.object({
		id: textIfAny,
		content: z.unknown(),
		tool_calls: z.unknown(),
		tool_call_id: z.unknown(),
	})
	.passthrough();

/** The answer of E15. Each part is read by itself: one odd message must not hide that a thread is busy. */
export const threadState = z
	.object({
		thread_id: textIfAny,
		/** None where the server does not tell. */
		status: textIfAny,
		/** `id` is that of the conversation. */
		metadata: z
			.object({ id: textIfAny, assistant_id: textIfAny })
			.passthrough()
			.nullish()
			.catch(undefined),
		values: z
			.object({
				/** What the last run was asked, also where it has left no message. */
				input: textIfAny.nullish(),
				messages: z.array(threadMessage.catch({})).nullish().catch(undefined),
			})
			.passthrough()
			.nullish()
			.catch(undefined),
	})
	.passthrough();

export type ThreadMessage = z.infer<typeof threadMessage>;
export type ThreadState = z.infer<typeof threadState>;

const READ_TIMEOUT_MS = 30_000;

/**
 * Makes the check of what E15 must answer: the thread that was asked for, which recorded servers name, with its
 * status. That is null where the server answers for a conversation on it that never ran (recorded): it is not known then.
 */
export function threadAnswer(threadId: string): AnswerCheck {
	return answerMustBe(
		(answer) =>
			isJsonObject(answer) &&
			(answer.status === null || typeof answer.status === 'string') &&
			answer.thread_id === threadId,
		'it is not this thread',
	);
}

/** The state of a thread, or why it could not be read. */
export type ThreadReading = { state: ThreadState } | { failure: Failure };

/** What is needed to ask for threads and conversations. */
export interface Asking {
	send: Send;
	clock: Clock;
	signal?: AbortSignal;
	/** Until when it is worth to wait as long as the server asks, in milliseconds since the epoch. */
	deadline?: number;
}

/** Reads a thread (E15). */
export async function readThread(send: Send, threadId: string): Promise<ThreadReading> {
	const outcome = await send({
		method: 'GET',
		path: buildPath('/threads/{threadId}', { threadId }),
		timeoutMs: READ_TIMEOUT_MS,
		checkAnswer: threadAnswer(threadId),
	});
	if (!outcome.ok) return { failure: outcome.failure };
	return { state: threadState.parse(outcome.answer) };
}

/**
 * Looks at a thread once, for those who look again: what is believed only when it is said twice, such as
 * that a route is missing, counts as passing.
 */
export async function lookAtThread(asking: Asking, threadId: string): Promise<ThreadReading> {
	return await readThread(retrying(asking, ONE_LOOK), threadId);
}

const ONE_LOOK: RetryLimits = { ...SINGLE_REQUEST_LIMITS, maxTries: 1 };

/** Reads a thread, and tries again as requests that stand alone do. */
export async function readThreadWithRetries(
	asking: Asking,
	threadId: string,
): Promise<ThreadReading> {
	return await readThread(retrying(asking), threadId);
}

/** Sends what may be sent again, and tries again as requests that stand alone do, or as long as there is time for it. */
export function retrying(
	{ send, clock, signal, deadline = Infinity }: Asking,
	limits = SINGLE_REQUEST_LIMITS,
): Send {
	return async (request) => {
		const left = Number.isFinite(deadline) ? deadline - clock.now() : 0;
		const maxElapsedMs = Math.max(limits.maxElapsedMs, left);
		const retried = { request, limits: { ...limits, maxElapsedMs }, repeatable: true };
		return (await sendWithRetries(send, { ...retried, clock, signal })).outcome;
	};
}

/** The id of the conversation a thread belongs to, which Xpert names in the thread (recorded, E15). */
export function conversationOf(state: ThreadState | undefined): string | undefined {
	return state?.metadata?.id;
}

/** The assistant that answers on a thread (recorded, E15). */
export function assistantOn(state: ThreadState | undefined): string | undefined {
	return state?.metadata?.assistant_id;
}

/** What the last run of a thread was asked, where the thread names it (recorded, also of runs that failed). */
export function lastAsked(state: ThreadState | undefined): string | undefined {
	return state?.values?.input || undefined;
}
