import type { IDataObject } from 'n8n-workflow';

import type { ThreadMessage } from '../XpertAi/threads/state';
import { lastReply, speakerOf, textOf } from '../XpertAi/threads/messages';
import type { ConversationChange } from './conversations';
import type { TriggerSettings } from './settings';
import type { ThreadMessages } from './threads';

/** Whether a change is one of those the workflow starts for, as far as its record tells. */
export function isWanted(
	{ event, assistantId }: ConversationChange,
	settings: TriggerSettings,
): boolean {
	const { events, assistantId: wanted } = settings;
	if (event === undefined || !events.includes(event)) return false;
	return wanted === undefined || assistantId === wanted;
}

/** Whether what is to be given of a change needs the messages of its thread. */
export function needsMessages({ simplify, options }: TriggerSettings): boolean {
	return simplify || options.includeMessages || options.onlyWith !== '';
}

/**
 * Whether the text asked for stands in the title or in a message. A thread that could not be read may hold it:
 * rather told once too often than never.
 */
export function holdsText(
	{ title = '' }: ConversationChange,
	thread: ThreadMessages,
	{ options }: TriggerSettings,
): boolean {
	if ('notRead' in thread) return true;
	const wanted = options.onlyWith.toLowerCase();
	const texts = [title, ...thread.messages.map(({ content }) => textOf(content))];
	return texts.some((text) => text.toLowerCase().includes(wanted));
}

/**
 * The JSON of the item of a change.
 *
 * @param thread what was read of its thread; where it could not be, the item says why
 */
export function itemJson(
	change: ConversationChange,
	thread: ThreadMessages,
	{ simplify, options }: TriggerSettings,
): IDataObject {
	const isRead = 'messages' in thread;
	const messages = isRead ? thread.messages : undefined;
	return {
		...(simplify ? summaryOf(change, messages) : { event: change.event, ...change.record }),
		...(options.includeMessages ? { messages: shownMessages(messages, simplify) } : {}),
		...(isRead ? {} : thread),
	};
}

function summaryOf(
	{ id, event, tasks, ...change }: ConversationChange,
	messages: ThreadMessage[] = [],
): IDataObject {
	const { output = null, parts = [] } = lastReply(messages) ?? {};
	return {
		event,
		output,
		...(parts.length > 0 ? { parts } : {}),
		error: change.error ?? null,
		interrupt: tasks.length > 0 ? (tasks as IDataObject[]) : null,
		title: change.title ?? null,
		conversationId: id,
		threadId: change.threadId ?? null,
		assistantId: change.assistantId ?? null,
		status: change.status ?? null,
		updatedAt: change.updatedAt,
	};
}

function shownMessages(
	messages: ThreadMessage[] | undefined,
	simplify: boolean,
): IDataObject[] | null {
	if (!messages) return null;
	if (!simplify) return messages as IDataObject[];
	return messages.map((one) => ({ from: speakerOf(one) ?? null, text: textOf(one.content) }));
}
