import type { IDataObject } from 'n8n-workflow';
import compact from 'lodash/compact';
import uniq from 'lodash/uniq';

import { waitingFor } from '../XpertAi/execution/audience';
import { forEachConcurrently } from '../XpertAi/execution/eachItem';
import { lastReply, messagesOf, speakerOf, textOf } from '../XpertAi/threads/messages';
import { readThreadWithRetries } from '../XpertAi/threads/thread';
import type { ThreadMessage } from '../XpertAi/threads/thread';
import { systemClock } from '../XpertAi/transport/clock';
import { failureMessage } from '../XpertAi/transport/failure';
import type { Send } from '../XpertAi/transport/request';
import type { ConversationChange } from './conversations';
import type { TriggerSettings } from './settings';

/** Whether a change is one of those the workflow starts for, as far as its record tells. */
export function isWanted(
	{ event, assistantId }: ConversationChange,
	settings: TriggerSettings,
): boolean {
	const { events, assistantId: wanted } = settings;
	if (event === undefined || !events.includes(event)) return false;
	return wanted === undefined || assistantId === wanted;
}

/** Threads read at once; when so many cannot be read, the server cannot be asked. */
const THREADS_AT_ONCE = 5;

/** The messages of a thread, or in words why they could not be read. */
type ThreadMessages = { messages: ThreadMessage[] } | { notRead: string };

/** In how many polls a thread is tried before its change is given without the messages. */
export const THREAD_TRIES = 3;

/** A change that is dealt with, and the JSON of its item if it has one. */
type Done = ConversationChange & { json?: IDataObject };

/** What became of changes; those in neither list were not come to. */
export interface EmittedChanges {
	done: Done[];
	/** Those whose thread could not be read, or that may not be over, which wait for the next poll. */
	unread: ConversationChange[];
}

/** What items are made with. */
interface MakingItems {
	settings: TriggerSettings;
	send: Send;
	/** Whether there is time for more. */
	goOn: () => boolean;
	/** How many may be done. */
	most: number;
	/** In how many polls a change was tried before. */
	triesOf: (change: ConversationChange) => number;
}

/**
 * Makes the items of changes, in their order. One whose thread cannot be read holds up no later one; several
 * end it, as it is the server then that cannot be asked. The first are tried in any case.
 */
export async function makeItems(
	changes: ConversationChange[],
	making: MakingItems,
): Promise<EmittedChanges> {
	const { settings, goOn, most, triesOf } = making;
	const dealt: EmittedChanges = { done: [], unread: [] };
	const { done, unread } = dealt;
	let failed = 0;
	for (let rest = changes; rest.length > 0 && done.length < most; ) {
		const batch = rest.slice(0, most - done.length);
		rest = rest.slice(batch.length);
		const threadOf = await readThreads(batch, making);
		for (const change of batch) {
			const thread = threadOf(change);
			if (!thread) return dealt;
			const tries = triesOf(change);
			const isFailed = 'notRead' in thread && tries + 1 < THREAD_TRIES;
			if (isFailed) failed += 1;
			if (isFailed || (mayGoOn(change) && tries === 0)) unread.push(change);
			else if (!holdsText(change, thread, settings)) done.push(change);
			else done.push({ ...change, json: itemJson(change, thread, settings) });
		}
		if (failed >= THREADS_AT_ONCE || !goOn()) break;
	}
	return dealt;
}

/**
 * Whether a change may be a mark of a moment: one of two runs at once that gives way is cancelled, and its conversation
 * says so until the other has ended, or it has begun again (recorded, turns.json).
 */
function mayGoOn({ event }: ConversationChange): boolean {
	return event === 'cancelled';
}

/**
 * Reads the threads of changes (E15) where their items need them, a few at once. Ends once as many as are read at once
 * could not be. Some are tried in any case, however little time there is.
 *
 * @returns tells what was read of the thread of a change, nothing where it was not come to
 */
async function readThreads(
	changes: ConversationChange[],
	{ settings: { simplify, options }, send, goOn }: MakingItems,
): Promise<(change: ConversationChange) => ThreadMessages | undefined> {
	const isNeeded = simplify || options.includeMessages || options.onlyWith !== '';
	const ids = isNeeded ? uniq(compact(changes.map(({ threadId }) => threadId))) : [];
	const read = new Map<string, ThreadMessages>();
	let failed = 0;
	const readOne = async (threadId: string) => {
		const reading = await readThreadWithRetries({ send, clock: systemClock }, threadId);
		if ('failure' in reading) failed += 1;
		const messages =
			'failure' in reading
				? { notRead: failureMessage(reading.failure) }
				: { messages: messagesOf(reading.state) };
		read.set(threadId, messages);
	};
	await forEachConcurrently(
		ids,
		THREADS_AT_ONCE,
		readOne,
		() => read.size === 0 || (failed < THREADS_AT_ONCE && goOn()),
	);
	return ({ threadId }) => (threadId && isNeeded ? read.get(threadId) : { messages: [] });
}

/**
 * Whether the text asked for stands in the title or in a message. A thread that could not be read may hold it:
 * rather told once too often than never.
 */
function holdsText(
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
function itemJson(
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
		output: event === 'waiting' ? waitingFor(tasks) : output,
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
