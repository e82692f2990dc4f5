import type { IDataObject } from 'n8n-workflow';

import { waitingMessage } from '../XpertAi/execution/audience';
import { requestOf } from '../XpertAi/threads/conversation';
import { lastReply, messagesOf, senderOf, textOf } from '../XpertAi/threads/messages';
import { readThread } from '../XpertAi/threads/thread';
import type { ThreadMessage } from '../XpertAi/threads/thread';
import { systemClock } from '../XpertAi/transport/clock';
import { failureMessage } from '../XpertAi/transport/failure';
import type { Send } from '../XpertAi/transport/request';
import type { ConversationChange } from './conversations';
import type { TriggerSettings } from './settings';

/** Whether the workflow starts for a change, as far as its record tells. */
export function isWanted(
	{ event, assistantId }: ConversationChange,
	settings: TriggerSettings,
): boolean {
	const { events, assistantId: wanted } = settings;
	if (event === undefined || !events.includes(event)) return false;
	return wanted === undefined || assistantId === wanted;
}

/** Threads read at once. After as many failures, the server counts as unavailable. */
const THREADS_AT_ONCE = 5;

/** The messages of a thread, or why they could not be read. */
type ThreadMessages = { messages?: ThreadMessage[]; notRead?: string };

/** In how many polls a thread is tried before its change is emitted without messages. */
export const THREAD_TRIES = 3;

/** What making items needs. */
interface ItemContext {
	settings: TriggerSettings;
	send: Send;
	/** Whether there is time left. */
	hasTime: () => boolean;
	/** How many changes to handle. */
	most: number;
	/** In how many polls a change was tried before. */
	triesOf: (change: ConversationChange) => number;
}

/**
 * Makes the items of changes, in order. An unreadable thread does not hold up later changes; several end the poll, as
 * the server is then unavailable. The first threads are tried in any case. Changes that are neither `done` nor `unread`
 * were not reached.
 */
export async function makeItems(
	changes: ConversationChange[],
	{ settings, send, hasTime, most, triesOf }: ItemContext,
) {
	const { simplify, options } = settings;
	const needsThreads = simplify || options.includeMessages || options.onlyWith !== '';
	const atOnce = needsThreads ? THREADS_AT_ONCE : most;
	/** Handled changes, with the JSON of an item unless they lack the text. */
	const done: Array<ConversationChange & { json?: IDataObject }> = [];
	/** Changes whose thread could not be read or whose event may be temporary. They wait for the next poll. */
	const unread: ConversationChange[] = [];
	let failed = 0;
	for (let rest = changes; rest.length > 0 && done.length < most; ) {
		const batch = rest.slice(0, Math.min(atOnce, most - done.length));
		rest = rest.slice(batch.length);
		const read = batch.map(async (change) => {
			const threadId = needsThreads ? change.threadId : undefined;
			return { change, thread: threadId ? await readMessages(send, threadId) : { messages: [] } };
		});
		for (const { change, thread } of await Promise.all(read)) {
			const tries = triesOf(change);
			const isFailed = !thread.messages && tries + 1 < THREAD_TRIES;
			// Of two runs at once, the one that yields is cancelled, and the conversation shows that until the other ends or
			// this one starts again (recorded, turns.json).
			const mayBeTemporary = change.event === 'cancelled' && tries === 0;
			if (isFailed) failed += 1;
			if (isFailed || mayBeTemporary) unread.push(change);
			else if (!holdsText(change, thread, settings)) done.push(change);
			else done.push({ ...change, json: itemJson(change, thread, settings) });
		}
		if (failed >= THREADS_AT_ONCE || !hasTime()) break;
	}
	return { done, unread };
}

/** Reads the messages of a thread (E15). */
async function readMessages(send: Send, threadId: string): Promise<ThreadMessages> {
	const { answer, failure } = await readThread({ send, clock: systemClock }, threadId);
	return failure ? { notRead: failureMessage(failure) } : { messages: messagesOf(answer) };
}

/**
 * Whether the title or a message contains the text. An unreadable thread may contain it: better one event too many than
 * a missing one.
 */
function holdsText(
	{ title = '' }: ConversationChange,
	{ messages }: ThreadMessages,
	{ options }: TriggerSettings,
): boolean {
	if (!messages) return true;
	const text = options.onlyWith.toLowerCase();
	const texts = [title, ...messages.map(({ content }) => textOf(content))];
	return texts.some((one) => one.toLowerCase().includes(text));
}

/**
 * The JSON of an item.
 *
 * @param thread the messages; if they could not be read, the item says why
 */
function itemJson(
	change: ConversationChange,
	{ messages, notRead }: ThreadMessages,
	{ simplify, options }: TriggerSettings,
): IDataObject {
	return {
		...(simplify ? summaryOf(change, messages) : { event: change.event, ...change.record }),
		...(options.includeMessages ? { messages: shownMessages(messages, simplify) } : {}),
		...(messages ? {} : { notRead }),
	};
}

function summaryOf(
	{ id, event, tasks, ...change }: ConversationChange,
	messages: ThreadMessage[] = [],
): IDataObject {
	const { output = null, parts = [] } = lastReply(messages) ?? {};
	return {
		event,
		output: event === 'waiting' ? waitingMessage(tasks) : output,
		...(parts.length > 0 ? { parts } : {}),
		error: change.error ?? null,
		interrupt: tasks.length > 0 ? (tasks.map(requestOf) as IDataObject[]) : null,
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
	return messages.map((one) => ({ from: senderOf(one) ?? null, text: textOf(one.content) }));
}
