import findLastIndex from 'lodash/findLastIndex';

import type { ThreadMessage, ThreadState } from '../payloads/run';

const ASSISTANT_KINDS = new Set(['ai', 'assistant', 'AIMessage', 'AIMessageChunk']);
const PERSON_KINDS = new Set(['human', 'user', 'HumanMessage']);

/** Whether a message comes from the assistant. */
export function isFromAssistant({ type, role }: ThreadMessage): boolean {
	return ASSISTANT_KINDS.has(type ?? '') || ASSISTANT_KINDS.has(role ?? '');
}

/** Whether a message comes from the person who asks. */
export function isFromPerson({ type, role }: ThreadMessage): boolean {
	return PERSON_KINDS.has(type ?? '') || PERSON_KINDS.has(role ?? '');
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

/** The assistant's last words among the messages, if any. */
export function lastReply(messages: ThreadMessage[]): string | undefined {
	const reply = [...messages].reverse().find(isFromAssistant);
	return reply && textOf(reply.content);
}

/** The messages after the last one of a person. */
export function afterLastPerson(messages: ThreadMessage[]): ThreadMessage[] {
	return messages.slice(findLastIndex(messages, isFromPerson) + 1);
}

/**
 * The messages that answer ours: those after it, up to the next one of a person.
 *
 * @param said the texts of our messages; none for a decision
 * @param fresh the messages that have come to the thread since it was read
 * @param othersToo whether there may be older messages among them, because it could not be read; only
 * the text tells ours then
 * @returns undefined when ours is not among them
 */
export function repliesTo(
	said: string[],
	fresh: ThreadMessage[],
	othersToo: boolean,
): ThreadMessage[] | undefined {
	if (fresh.length === 0) return undefined;
	const last = said.length - 1;
	const same = fresh.findIndex(
		(message, index) =>
			index >= last && isFromPerson(message) && textOf(message.content) === said[last],
	);
	if (same < 0 && othersToo) return undefined;
	// A server may keep a message in other words; a decision leaves none.
	const ours = same < 0 && fresh[0] && isFromPerson(fresh[0]) ? 0 : same;
	const after = fresh.slice(ours + 1);
	const next = after.findIndex(isFromPerson);
	return next < 0 ? after : after.slice(0, next);
}

function partText(part: unknown): string {
	if (typeof part === 'string') return part;
	const text =
		typeof part === 'object' && part !== null ? (part as { text?: unknown }).text : undefined;
	return typeof text === 'string' ? text : '';
}
