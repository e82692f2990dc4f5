import { z } from 'zod';

import { textIfAny } from '../payloads/common';
import { answerMustBe, isJsonObject } from '../transport/answer';
import type { AnswerCheck } from '../transport/answer';
import { buildPath } from '../transport/api';
import type { Clock } from '../transport/clock';
import type { Failure } from '../transport/failure';
import type { Send } from '../transport/request';
import type { RetryLimits } from '../transport/sendWithRetries';
import { SINGLE_REQUEST_LIMITS, sendWithRetries } from '../transport/sendWithRetries';

/** A message of a thread; its fields tell who sent it (recorded, E15). */
const threadMessage = z
	.object({
		id: textIfAny,
		content: z.unknown(),
		tool_calls: z.unknown(),
		tool_call_id: z.unknown(),
	})
	.passthrough();

/** The answer of E15. Each part is parsed by itself: one malformed message must not hide that a thread is busy. */
export const threadState = z
	.object({
		thread_id: textIfAny,
		/** Undefined if the server does not report it. */
		status: textIfAny,
		/** `id` is the ID of the conversation. */
		metadata: z
			.object({ id: textIfAny, assistant_id: textIfAny })
			.passthrough()
			.nullish()
			.catch(undefined),
		values: z
			.object({
				/** The input of the last run, also if that left no message. */
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
 * Makes the check for the answer of E15: it must be the thread that was asked for, with a status. The status is null
 * (unknown) if the server answers for a conversation that never ran (recorded).
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

/** What reading threads and conversations needs. */
export interface ApiClient {
	send: Send;
	clock: Clock;
	signal?: AbortSignal;
	/** Until when to wait as long as the server asks, in milliseconds since the epoch. */
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
 * Reads a thread with one try, for callers that poll. A failure that counts only when it repeats, such as a missing
 * route, is transient here.
 */
export async function readThreadOnce(client: ApiClient, threadId: string): Promise<ThreadReading> {
	return await readThread(withRetries(client, ONE_TRY), threadId);
}

const ONE_TRY: RetryLimits = { ...SINGLE_REQUEST_LIMITS, maxTries: 1 };

/** Reads a thread with the retries of a single request. */
export async function readThreadWithRetries(
	client: ApiClient,
	threadId: string,
): Promise<ThreadReading> {
	return await readThread(withRetries(client), threadId);
}

/** Makes a `Send` for repeatable requests, which retries within the limits, or until the deadline if that is later. */
export function withRetries(
	{ send, clock, signal, deadline = Infinity }: ApiClient,
	limits = SINGLE_REQUEST_LIMITS,
): Send {
	return async (request) => {
		const left = Number.isFinite(deadline) ? deadline - clock.now() : 0;
		const maxElapsedMs = Math.max(limits.maxElapsedMs, left);
		const retried = { request, limits: { ...limits, maxElapsedMs }, repeatable: true };
		return (await sendWithRetries(send, { ...retried, clock, signal })).outcome;
	};
}

/** The conversation of a thread, as Xpert's thread names it (recorded, E15). */
export function conversationIdOf(state: ThreadState | undefined): string | undefined {
	return state?.metadata?.id;
}

/** The assistant of a thread (recorded, E15). */
export function assistantIdOf(state: ThreadState | undefined): string | undefined {
	return state?.metadata?.assistant_id;
}

/** The input of the last run, if the thread names it (recorded, also for failed runs). */
export function lastInputOf(state: ThreadState | undefined): string | undefined {
	return state?.values?.input || undefined;
}
