import get from 'lodash/get';
import isString from 'lodash/isString';
import { z } from 'zod';

import { textIfAny } from '../payloads/common';
import { isJsonObject } from '../transport/answer';
import { buildPath } from '../transport/api';
import { call, type ApiClient } from '../transport/call';

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

/** The state of this thread, with its status (E15). */
export const stateOf = (threadId: string) =>
	threadState.refine(
		(state) => state.thread_id === threadId && state.status !== undefined,
		'it is not this thread',
	);

/**
 * Reads a thread (E15). With one try, for callers that poll, a failure that counts only when it repeats, such as a
 * missing route, is transient.
 */
export async function readThread(client: ApiClient, threadId: string, maxTries?: number) {
	const path = buildPath('/threads/{threadId}', { threadId });
	return await call(client, {
		method: 'GET',
		repeatable: true,
		path,
		schema: stateOf(threadId),
		maxTries,
	});
}

/**
 * Who sent a message: only those of the assistant have `tool_calls`, and only the answer of a tool has a call ID
 * (recorded, E15).
 *
 * @returns undefined for anything that is not a message
 */
export function senderOf(message: ThreadMessage): 'assistant' | 'tool' | 'user' | undefined {
	if (Array.isArray(message.tool_calls)) return 'assistant';
	if (typeof message.tool_call_id === 'string') return 'tool';
	return message.content === undefined ? undefined : 'user';
}

export function isFromUser(message: ThreadMessage): boolean {
	return senderOf(message) === 'user';
}

/** The messages of a thread, oldest first. */
export function messagesOf(state: ThreadState | undefined): ThreadMessage[] {
	return state?.values?.messages ?? [];
}

/** The text of a message. Its content is text or a list of parts. */
export function textOf(content: unknown): string {
	if (typeof content === 'string') return content;
	if (!Array.isArray(content)) return '';
	const texts = content.map((part: unknown) => (isText(part) ? get(part, 'text') : part));
	return texts.filter(isString).join('');
}

/**
 * Reads the content of a message of the assistant: its text, in Markdown, and the parts that are not text, such as
 * images and files, as the server has them.
 */
export function parseReply(content: unknown) {
	const parts: unknown[] = Array.isArray(content)
		? content.filter((part) => isJsonObject(part) && !isText(part))
		: [];
	return { output: textOf(content), parts };
}

/** The last reply of the assistant; a message with only tool calls is not a reply. */
export function lastReply(messages: ThreadMessage[]) {
	const last = messages.findLast(
		(one) => senderOf(one) === 'assistant' && !(callsTool(one) && textOf(one.content) === ''),
	);
	return last && parseReply(last.content);
}

/** Whether a message calls a tool. */
export function callsTool({ tool_calls: calls }: ThreadMessage): boolean {
	return Array.isArray(calls) && calls.length > 0;
}

/** The messages after the last one of the user. */
export function afterLastUserMessage(messages: ThreadMessage[]): ThreadMessage[] {
	return messages.slice(messages.findLastIndex(isFromUser) + 1);
}

/** Whether a part is words to a reader; the thoughts of a model are none (recorded, `answers-in-parts`). */
export function isText(part: unknown): boolean {
	const { text, type } = isJsonObject(part) ? part : {};
	return typeof text === 'string' && type !== 'component' && type !== 'reasoning';
}
