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

function partText(part: unknown): string {
	if (typeof part === 'string') return part;
	const text =
		typeof part === 'object' && part !== null ? (part as { text?: unknown }).text : undefined;
	return typeof text === 'string' ? text : '';
}
