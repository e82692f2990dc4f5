import { isJsonObject } from '../transport/answer';
import type { ThreadMessage, ThreadState } from './thread';

/**
 * Who says a message: only the assistant's have `tool_calls`, and only a tool's answer has the id of a call
 * (recorded, E15).
 *
 * @returns `undefined` for what is no message
 */
export function speakerOf(message: ThreadMessage): 'assistant' | 'tool' | 'user' | undefined {
	if (Array.isArray(message.tool_calls)) return 'assistant';
	if (typeof message.tool_call_id === 'string') return 'tool';
	return message.content === undefined ? undefined : 'user';
}

/** Whether a message comes from the assistant. */
export function isFromAssistant(message: ThreadMessage): boolean {
	return speakerOf(message) === 'assistant';
}

/** Whether a message comes from the person who asks. */
export function isFromPerson(message: ThreadMessage): boolean {
	return speakerOf(message) === 'user';
}

/** The messages of a thread, oldest first. */
export function messagesOf(state: ThreadState | undefined): ThreadMessage[] {
	return state?.values?.messages ?? [];
}

/** The text of a message, whose content may be text or a list of parts. */
export function textOf(content: unknown): string {
	if (typeof content === 'string') return content;
	if (!Array.isArray(content)) return '';
	return content.map(partText).join('');
}

/** What an assistant says, as people read it. */
export interface Reply {
	/** Its text, Markdown and all. */
	output: string;
	/** What is no text, such as images and files, as the server has it. */
	parts: unknown[];
}

/** Reads what the content of a message says. */
export function replyIn(content: unknown): Reply {
	const parts = Array.isArray(content)
		? content.filter((part) => isJsonObject(part) && typeof part.text !== 'string')
		: [];
	return { output: textOf(content), parts };
}

/** Whether an assistant said nothing at all. */
export function isSilence({ output, parts }: Reply): boolean {
	return output === '' && parts.length === 0;
}

/** The assistant's last words among the messages; a call of a tool is not yet an answer. */
export function lastReply(messages: ThreadMessage[]): Reply | undefined {
	const last = messages.findLast((one) => isFromAssistant(one) && !isBareCall(one));
	return last && replyIn(last.content);
}

function isBareCall(message: ThreadMessage): boolean {
	return callsTool(message) && textOf(message.content) === '';
}

/** Whether a message calls a tool. */
export function callsTool({ tool_calls: calls }: ThreadMessage): boolean {
	return Array.isArray(calls) && calls.length > 0;
}

/** The messages after the last one of a person. */
export function afterLastPerson(messages: ThreadMessage[]): ThreadMessage[] {
	return messages.slice(messages.findLastIndex(isFromPerson) + 1);
}

/** Whether a message is this text, by itself or as a part beside what the server has read of files. */
export function says({ content }: ThreadMessage, text: string): boolean {
	const isText = (part: unknown) => partText(part) === text;
	return textOf(content) === text || (Array.isArray(content) && content.some(isText));
}

function partText(part: unknown): string {
	const text = isJsonObject(part) ? part.text : part;
	return typeof text === 'string' ? text : '';
}
