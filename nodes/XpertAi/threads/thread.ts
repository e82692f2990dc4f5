import compact from 'lodash/compact';
import get from 'lodash/get';
import minBy from 'lodash/minBy';
import { z } from 'zod';

import { textIfAny } from '../payloads/common';
import { conversationRecord } from '../payloads/conversation';
import type { ConversationRecord } from '../payloads/conversation';
import { answerMustBe } from '../transport/answer';
import type { AnswerCheck } from '../transport/answer';
import { buildPath } from '../transport/api';
import type { Clock } from '../transport/clock';
import type { Failure } from '../transport/failure';
import type { ApiRequest, Send } from '../transport/request';
import { SINGLE_REQUEST_LIMITS, sendWithRetries } from '../transport/sendWithRetries';

/** What the calls of runs, threads and conversations need. */
export interface ApiClient {
	send: Send;
	clock: Clock;
	signal?: AbortSignal;
	/** Until when to retry, in milliseconds since the epoch. */
	deadline?: number;
}

/** What a call gave: the answer, or why there is none. */
export type Result<Answer> =
	| { ok: true; answer: Answer; failure?: undefined }
	/** `mayBeDone` tells whether a failed attempt may have been processed, or still may be. */
	| { ok: false; failure: Failure; mayBeDone: boolean; answer?: undefined };

/** A request, and the form of its answer. */
interface Call<Answer> extends Pick<ApiRequest, 'method' | 'path' | 'body'> {
	schema: z.ZodType<Answer, z.ZodTypeDef, unknown>;
	/** What is wrong with an answer of another form. */
	flaw: string;
	/** Whether it does no harm twice. Others are sent again only if they certainly had no effect. */
	repeatable?: boolean;
	maxTries?: number;
	timeoutMs?: number;
}

const TIMEOUT_MS = 30_000;

/** Sends a request with the retries of a single request, or until the deadline if there is one. Never throws. */
export async function callApi<Answer>(
	{ send, clock, signal, deadline = Infinity }: ApiClient,
	{ schema, flaw, repeatable = true, maxTries, timeoutMs = TIMEOUT_MS, ...request }: Call<Answer>,
): Promise<Result<Answer>> {
	const limits = { ...SINGLE_REQUEST_LIMITS, ...(maxTries && { maxTries }) };
	if (Number.isFinite(deadline)) limits.maxElapsedMs = Math.max(0, deadline - clock.now());
	let parsed: { data?: Answer } = {};
	const isRight = (answer: unknown) => {
		const { success, data } = schema.safeParse(answer);
		parsed = { data };
		return success;
	};
	const { outcome, mayBeDone } = await sendWithRetries(send, {
		request: { ...request, timeoutMs, checkAnswer: answerMustBe(isRight, flaw) },
		...{ limits, repeatable, clock, signal },
	});
	if (!outcome.ok) return { ...outcome, mayBeDone };
	return { ok: true, answer: parsed.data as Answer };
}

/** An object with these and any other fields; anything else counts as missing. */
const loose = <Shape extends z.ZodRawShape>(shape: Shape) =>
	z.object(shape).passthrough().nullish().catch(undefined);

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
		/** Null (unknown) if the server answers for a conversation that never ran (recorded). */
		status: z.string().nullish().catch(undefined),
		/** `id` is the ID of the conversation. */
		metadata: loose({ id: textIfAny, assistant_id: textIfAny }),
		values: loose({
			/** The input of the last run, also if that left no message. */
			input: textIfAny.nullish(),
			messages: z.array(threadMessage.catch({})).nullish().catch(undefined),
		}),
	})
	.passthrough();

export type ThreadMessage = z.infer<typeof threadMessage>;
export type ThreadState = z.infer<typeof threadState>;

/** The state of this thread, with its status. */
const stateOf = (threadId: string) =>
	threadState.refine((state) => state.thread_id === threadId && state.status !== undefined);

const NOT_THIS_THREAD = 'it is not this thread';

/** Makes the check for the answer of E15. */
export function threadAnswer(threadId: string): AnswerCheck {
	return answerMustBe((answer) => stateOf(threadId).safeParse(answer).success, NOT_THIS_THREAD);
}

/**
 * Reads a thread (E15). With one try, for callers that poll, a failure that counts only when it repeats, such as a
 * missing route, is transient.
 */
export async function readThread(
	client: ApiClient,
	threadId: string,
	maxTries?: number,
): Promise<Result<ThreadState>> {
	return await callApi(client, {
		...{ method: 'GET', path: buildPath('/threads/{threadId}', { threadId }) },
		...{ schema: stateOf(threadId), flaw: NOT_THIS_THREAD, maxTries },
	});
}

/** The conversation of a thread, as the server shows it. */
export interface ConversationFacts {
	/** Why the server did not answer; the other fields are empty then. */
	failure?: Failure;
	/** The oldest conversation on the thread; undefined if no conversation of the token's owner has it. */
	conversationId?: string;
	/** All conversations on the thread, the last updated first. Runs write to the newest one. */
	conversationIds: string[];
	/** Those in which nothing has run. */
	unused: string[];
	status?: string;
	/** Why the last run failed. */
	error?: string;
	/** The tasks of its run that wait for a person. */
	tasks: unknown[];
}

/** E5 never answers with a bare list; an empty one would hide a conversation. */
const foundConversations = z.object({ items: z.array(conversationRecord.catch({})) });

/**
 * Looks up the conversation of a thread (E5), which has the error of its last run and the tasks that wait for a person.
 * The server lists only conversations of the token's owner. If there are several on the thread, runs change the newest;
 * all executions agree on the oldest.
 */
export async function readConversation(
	client: ApiClient,
	threadId: string,
): Promise<ConversationFacts> {
	const outcome = await callApi(client, {
		...{ method: 'POST', path: '/conversations/search' },
		body: JSON.stringify({ where: { threadId }, order: { updatedAt: 'DESC' } }),
		...{ schema: foundConversations, flaw: 'it holds no list of results' },
	});
	if (!outcome.ok) return { failure: outcome.failure, conversationIds: [], unused: [], tasks: [] };
	const found = outcome.answer.items.filter((one) => one.threadId === threadId);
	// The newest conversation may never have run.
	const { status, error, operation } = found.find((one) => one.status) ?? found[0] ?? {};
	return {
		// With equal times, the smallest ID counts.
		conversationId: minBy(found, ({ createdAt = '', id = '' }) => `${createdAt} ${id}`)?.id,
		conversationIds: idsOf(found),
		unused: idsOf(found.filter((one) => !one.status)),
		...{ status, error: errorText(error), tasks: operation?.tasks ?? [] },
	};
}

const idsOf = (conversations: ConversationRecord[]) => compact(conversations.map(({ id }) => id));

/** Whether tasks wait for a decision. Those of a run that was cancelled meanwhile are left over (recorded). */
export function waitsForPerson({ tasks, error }: { tasks: unknown[]; error?: unknown }): boolean {
	return tasks.length > 0 && !error;
}

/** Reads one value of each waiting task, such as its `id`, which it keeps until it is decided (recorded). */
export function taskValues(path: 'id' | 'name' | 'call.id', tasks: unknown[] = []): unknown[] {
	return tasks.map((task) => get(task, path) as unknown);
}

/** The error of a conversation as text. */
export function errorText(error: unknown): string | undefined {
	if (!error) return undefined;
	return typeof error === 'string' ? error : JSON.stringify(error);
}
