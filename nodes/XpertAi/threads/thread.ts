import { get, isString } from 'lodash';
import { z } from 'zod';

import { isJsonObject } from '../payloads/json';
import { lenientText } from '../payloads/zodHelpers';
import { buildPath } from '../transport/api';
import { type ApiClient, call } from '../transport/call';
import { READ_REQUEST } from './requests';

/** An object schema that keeps unknown fields. An invalid value becomes undefined. */
const lenientObject = <Shape extends z.ZodRawShape>(shape: Shape) =>
	z.object(shape).passthrough().nullish().catch(undefined);

/** A message of a thread (E15). `senderOf` derives the sender from these fields. */
const threadMessageSchema = z
	.object({
		id: lenientText,
		content: z.unknown(),
		tool_calls: z.unknown(),
		tool_call_id: z.unknown(),
	})
	.passthrough();

/** A thread on the server (E15). Malformed fields become undefined, so that the status stays readable. */
export const threadStateSchema = z
	.object({
		thread_id: lenientText,
		/** Null if the status is unknown, e.g. before the first run. */
		status: z.string().nullish().catch(undefined),
		/** `id` is the ID of the conversation. */
		metadata: lenientObject({ id: lenientText, assistant_id: lenientText }),
		values: lenientObject({
			/** The input of the last run. */
			input: lenientText.nullish(),
			messages: z.array(threadMessageSchema.catch({})).nullish().catch(undefined),
		}),
	})
	.passthrough();

export type ThreadMessage = z.infer<typeof threadMessageSchema>;

export type ThreadState = z.infer<typeof threadStateSchema>;

/** The schema of the state of one thread. The field `status` is required, but can be null. */
export const stateSchemaOf = (threadId: string) =>
	threadStateSchema.refine(
		(state) => state.thread_id === threadId && state.status !== undefined,
		'it is not this thread',
	);

/** Reads a thread (E15). Never throws. */
export async function readThread(client: ApiClient, threadId: string, maxTries?: number) {
	const path = buildPath('/threads/{threadId}', { threadId });
	return await call(client, { ...READ_REQUEST, path, schema: stateSchemaOf(threadId), maxTries });
}

/**
 * Who sent a message. Only the assistant's messages have `tool_calls`. Only tool results have a `tool_call_id`.
 *
 * @returns undefined for a malformed message
 */
export function senderOf(message: ThreadMessage): 'assistant' | 'tool' | 'user' | undefined {
	if (Array.isArray(message.tool_calls)) return 'assistant';
	if (typeof message.tool_call_id === 'string') return 'tool';
	return message.content === undefined ? undefined : 'user';
}

export const isFromUser = (message: ThreadMessage) => senderOf(message) === 'user';

/** The messages of a thread, oldest first. */
export const messagesOf = (state: ThreadState | undefined): ThreadMessage[] =>
	state?.values?.messages ?? [];

/** The text of a message. Joins the texts if the content is a list of parts. */
export function textOfContent(content: unknown) {
	if (typeof content === 'string') return content;
	if (!Array.isArray(content)) return '';
	const texts = content.map((part: unknown) => (isTextPart(part) ? get(part, 'text') : part));
	return texts.filter(isString).join('');
}

/** Splits the content of an assistant's message into Markdown text and other parts, such as images. */
export function parseReply(content: unknown) {
	const parts: unknown[] = Array.isArray(content)
		? content.filter((part) => isJsonObject(part) && !isTextPart(part))
		: [];
	return { output: textOfContent(content), parts };
}

/** The last reply of the assistant. Skips messages that contain only tool calls. */
export function lastReply(messages: ThreadMessage[]) {
	const isOnlyCall = (one: ThreadMessage) => callsTool(one) && textOfContent(one.content) === '';
	const last = messages.findLast((one) => senderOf(one) === 'assistant' && !isOnlyCall(one));
	return last && parseReply(last.content);
}

const callsTool = ({ tool_calls: calls }: ThreadMessage) =>
	Array.isArray(calls) && calls.length > 0;

/** Whether the last message is a tool call without a result, e.g. after a person rejected the call. */
export function endsWithCall(messages: ThreadMessage[]) {
	const last = messages.at(-1);
	return last !== undefined && callsTool(last);
}

export const afterLastUserMessage = (messages: ThreadMessage[]): ThreadMessage[] =>
	messages.slice(messages.findLastIndex(isFromUser) + 1);

/**
 * Whether a part is text of the answer. A `text` in a component or in model reasoning does not count.
 * Recorded in `test/recordings/answers-in-parts.json`.
 */
export function isTextPart(part: unknown) {
	const { text, type } = isJsonObject(part) ? part : {};
	return typeof text === 'string' && type !== 'component' && type !== 'reasoning';
}
