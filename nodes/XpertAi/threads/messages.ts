import get from 'lodash/get';
import isString from 'lodash/isString';

import { isJsonObject } from '../transport/answer';
import type { ThreadMessage, ThreadState } from './thread';

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
