import findLast from 'lodash/findLast';
import findLastIndex from 'lodash/findLastIndex';

import type { ThreadMessage, ThreadState } from '../payloads/run';
import { isJsonObject } from '../transport/answer';

/** What servers that name the kind of a message call it. */
const KINDS: Record<string, string> = {
	ai: 'assistant',
	assistant: 'assistant',
	AIMessage: 'assistant',
	AIMessageChunk: 'assistant',
	human: 'user',
	user: 'user',
	HumanMessage: 'user',
};

/**
 * Who says a message: `assistant`, `user`, or whatever else the server calls it. Where it names no
 * kind, as Xpert does, only the assistant's messages have `tool_calls`, and a tool's answer a call's
 * id (recorded, E15).
 *
 * @returns `undefined` for what is no message
 */
export function speakerOf(message: ThreadMessage): string | undefined {
	const named = message.type || message.role;
	if (named) return Object.hasOwn(KINDS, named) ? KINDS[named] : named;
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
	reply: string;
	/** What is no text, such as images and files, as the server has it. */
	parts: unknown[];
}

/** Reads what the content of a message says. */
export function replyIn(content: unknown): Reply {
	const parts = Array.isArray(content)
		? content.filter((part) => isJsonObject(part) && typeof part.text !== 'string')
		: [];
	return { reply: textOf(content), parts };
}

/** Whether an assistant said nothing at all. */
export function isSilence({ reply, parts }: Reply): boolean {
	return reply === '' && parts.length === 0;
}

/** The assistant's last words among the messages; a call of a tool is not yet an answer. */
export function lastReply(messages: ThreadMessage[]): Reply | undefined {
	const last = findLast(messages, (one) => isFromAssistant(one) && !callsTool(one));
	return last && replyIn(last.content);
}

function callsTool({ tool_calls: calls, content }: ThreadMessage): boolean {
	return Array.isArray(calls) && calls.length > 0 && textOf(content) === '';
}

/** The messages after the last one of a person. */
export function afterLastPerson(messages: ThreadMessage[]): ThreadMessage[] {
	return messages.slice(findLastIndex(messages, isFromPerson) + 1);
}

/**
 * The messages that have come to a thread since it was read: told by their ids, which also hold where
 * a server leaves out or replaces earlier ones, and by their places where they have none.
 */
export function newMessages(before: ThreadMessage[], now: ThreadMessage[]): ThreadMessage[] {
	if (![...before, ...now].every(({ id }) => id)) return now.slice(before.length);
	const known = new Set(before.map(({ id }) => id));
	return now.filter(({ id }) => !known.has(id));
}

/**
 * The messages that answer ours: those after it, up to the next one of a person.
 *
 * @param said the text of our message; none where the run adds no message of a person
 * @param fresh the messages that have come to the thread since it was read
 * @param othersToo whether there may be older messages among them, because the thread could not be
 * read; only the text tells ours then
 * @returns undefined when ours is not among them
 */
export function repliesTo(
	said: string | undefined,
	fresh: ThreadMessage[],
	othersToo: boolean,
): ThreadMessage[] | undefined {
	if (fresh.length === 0) return undefined;
	const same = findLastIndex(
		fresh,
		(one) => said !== undefined && isFromPerson(one) && says(one, said),
	);
	if (same < 0 && othersToo) return undefined;
	// A server may keep a message in other words, or put a file's before them.
	const ours = same < 0 && fresh[0] && isFromPerson(fresh[0]) ? 0 : same;
	const after = fresh.slice(ours + 1);
	const next = after.findIndex(isFromPerson);
	return next < 0 ? after : after.slice(0, next);
}

/** Whether a message is this text, by itself or as a part beside what the server has read of files. */
function says({ content }: ThreadMessage, text: string): boolean {
	const isText = (part: unknown) => partText(part) === text;
	return textOf(content) === text || (Array.isArray(content) && content.some(isText));
}

function partText(part: unknown): string {
	const text = isJsonObject(part) ? part.text : part;
	return typeof text === 'string' ? text : '';
}
