import mapValues from 'lodash/mapValues';
import type { IDataObject } from 'n8n-workflow';

import { waitingMessage } from '../XpertAi/execution/outputFor';
import { requestOf } from '../XpertAi/threads/conversation';
import { lastReply, messagesOf, senderOf, textOf, readThread } from '../XpertAi/threads/thread';
import type { ThreadMessage } from '../XpertAi/threads/thread';
import { systemClock } from '../XpertAi/transport/clock';
import { failureMessage } from '../XpertAi/transport/failure';
import type { Send } from '../XpertAi/transport/request';
import type { ConversationChange } from './conversations';
import type { TriggerSettings } from './fields';

/** Threads read at once. After as many failures, the server counts as unavailable. */
const THREADS_AT_ONCE = 5;

/** In how many polls a thread is tried before its change is emitted without messages. */
export const THREAD_TRIES = 3;

/**
 * Makes the items of changes, in order. An unreadable thread does not hold up later changes; several end the poll, as
 * the server is then unavailable. The first threads are tried in any case. Changes that are neither `done` nor `unread`
 * were not reached.
 *
 * @param most how many changes to handle
 * @param triesOf in how many polls a change was tried before
 */
export async function makeItems(
	changes: ConversationChange[],
	{ settings, send, hasTime }: { settings: TriggerSettings; send: Send; hasTime: () => boolean },
	most: number,
	triesOf: (change: ConversationChange) => number,
) {
	const { simplify, options } = settings;
	const needsThreads = simplify || options.includeMessages || options.onlyWith !== '';
	const atOnce = needsThreads ? THREADS_AT_ONCE : most;
	const read = async (change: ConversationChange) => ({
		change,
		thread: await readMessages(send, needsThreads ? change.threadId : undefined),
	});
	/** Handled changes, with the JSON of an item unless they lack the text. */
	const done: Array<ConversationChange & { json?: IDataObject }> = [];
	/** Changes whose thread could not be read or whose event may be temporary. They wait for the next poll. */
	const unread: ConversationChange[] = [];
	let failed = 0;
	for (let rest = changes; rest.length > 0 && done.length < most; ) {
		const batch = rest.slice(0, Math.min(atOnce, most - done.length));
		rest = rest.slice(batch.length);
		for (const { change, thread } of await Promise.all(batch.map(read))) {
			const tries = triesOf(change);
			const isFailed = !thread.messages && tries + 1 < THREAD_TRIES;
			// Of two runs at once, the one that yields is cancelled, and the conversation shows that until the other ends or
			// this one starts again (recorded, turns.json).
			const mayBeTemporary = change.event === 'cancelled' && tries === 0;
			failed += Number(isFailed);
			if (isFailed || mayBeTemporary) unread.push(change);
			else done.push({ ...change, json: itemJson(change, thread, settings) });
		}
		if (failed >= THREADS_AT_ONCE || !hasTime()) break;
	}
	return { done, unread };
}

/** The messages of a thread, or why they could not be read. */
type ThreadMessages = { messages?: ThreadMessage[]; notRead?: string };

/** Reads the messages of a thread (E15), if there is one. */
async function readMessages(send: Send, threadId?: string): Promise<ThreadMessages> {
	if (!threadId) return { messages: [] };
	const { answer, failure } = await readThread({ send, clock: systemClock }, threadId);
	return failure ? { notRead: failureMessage(failure) } : { messages: messagesOf(answer) };
}

/**
 * The JSON of an item; undefined if neither the title nor a message contains the text. An unreadable thread may contain
 * it: better one event too many than a missing one.
 */
function itemJson(
	change: ConversationChange,
	{ messages, notRead }: ThreadMessages,
	{ simplify, options }: TriggerSettings,
): IDataObject | undefined {
	const shown = messages?.map((one) => ({
		from: senderOf(one) ?? null,
		text: textOf(one.content),
	}));
	const texts = [change.title, ...(shown ?? []).map(({ text }) => text)];
	const isText = (text = '') => text.toLowerCase().includes(options.onlyWith.toLowerCase());
	if (shown && !texts.some(isText)) return undefined;
	const json = simplify ? summaryOf(change, messages) : { event: change.event, ...change.record };
	const all = (simplify ? shown : (messages as IDataObject[] | undefined)) ?? null;
	return {
		...json,
		...(options.includeMessages && { messages: all }),
		...(messages ? {} : { notRead }),
	};
}

function summaryOf(change: ConversationChange, messages: ThreadMessage[] = []): IDataObject {
	const { id, event, tasks, error, title, threadId, assistantId, status, updatedAt } = change;
	const { output = null, parts = [] } = lastReply(messages) ?? {};
	const interrupt = tasks.length > 0 ? (tasks.map(requestOf) as IDataObject[]) : null;
	const facts = { error, interrupt, title, conversationId: id, threadId, assistantId, status };
	return {
		event,
		output: event === 'waiting' ? waitingMessage(tasks) : output,
		...(parts.length > 0 && { parts }),
		...mapValues({ ...facts, updatedAt }, (one) => one ?? null),
	};
}
