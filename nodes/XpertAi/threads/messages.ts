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
	return content.map(partText).join('');
}

/**
 * Reads the content of a message of the assistant: its text, in Markdown, and the parts that are not text, such as
 * images and files, as the server has them.
 */
export function parseReply(content: unknown) {
	const parts: unknown[] = Array.isArray(content)
		? content.filter((part) => isJsonObject(part) && typeof part.text !== 'string')
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

/**
 * Whether the text of a message, or one of its parts, equals the given text; the server adds parts for attached files.
 */
export function hasText({ content }: ThreadMessage, text: string): boolean {
	const isText = (part: unknown) => partText(part) === text;
	return textOf(content) === text || (Array.isArray(content) && content.some(isText));
}

function partText(part: unknown): string {
	const text = isJsonObject(part) ? part.text : part;
	return typeof text === 'string' ? text : '';
}
