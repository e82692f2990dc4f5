import { randomUUID } from 'node:crypto';
import { timestamp } from '../clock';
import type { Context } from '../context';
import type { ChatMessage } from '../entities';
import type { Loose } from '../values';

/** Adds a message to a conversation: what a person says, or the place where an answer will be. */
export function addMessage(
	{ store, clock }: Pick<Context, 'store' | 'clock'>,
	fields: Pick<ChatMessage, 'conversationId' | 'role'> & Partial<ChatMessage>,
): ChatMessage {
	const now = timestamp(clock);
	const message: ChatMessage = {
		id: randomUUID(),
		content: '',
		attachments: [],
		status: null,
		error: null,
		executionId: null,
		parentId: null,
		createdAt: now,
		updatedAt: now,
		...fields,
	};
	store.messages.push(message);
	return message;
}

/** The answer of a run is there, or as much of it as there will be. */
export function endMessage(
	{ clock }: Pick<Context, 'clock'>,
	message: ChatMessage,
	parts: Loose[],
	error: string | undefined,
): void {
	const before = Array.isArray(message.content) ? message.content : [];
	const content: unknown[] = [...before, ...parts];
	Object.assign(message, {
		content: content.length > 0 ? content : '',
		status: error === undefined ? 'success' : 'error',
		error: error ?? null,
		updatedAt: timestamp(clock),
	});
}
