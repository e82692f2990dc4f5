import { mapValues } from 'lodash';
import type { IDataObject } from 'n8n-workflow';

import { withoutLinks } from '../XpertAi/threads/sources';
import { approvalDetails, waitingMessage } from '../XpertAi/threads/tasks';
import {
	lastReply,
	messagesOf,
	readThread,
	senderOf,
	textOfContent,
	type ThreadMessage,
} from '../XpertAi/threads/thread';
import { systemClock } from '../XpertAi/transport/clock';
import { failureMessage } from '../XpertAi/transport/failureText';
import type { Send } from '../XpertAi/transport/request';
import type { TriggerSettings } from './fields';
import type { ConversationChange } from './conversationChanges';

/** How many threads a poll reads in parallel. */
const THREADS_AT_ONCE = 5;

/** How many unreadable threads stop a poll. */
const MAX_UNREADABLE_THREADS = 5;

/** How many polls try to read a thread before the node emits the change without messages. */
export const MAX_POLLS_PER_THREAD = 3;

/**
 * Creates the output items for changes, in order. Postpones a change whose thread cannot be read, until
 * `MAX_POLLS_PER_THREAD` polls have tried. Postpones a change with the event `cancelled` once, because this event may be temporary. Processes at
 * least one batch even if no time is left, so that every poll makes progress.
 *
 * @param maxCount the maximum number of changes to handle
 * @param triesOf returns how many earlier polls postponed a change
 * @returns the handled changes (`done`) and those that the next poll tries again (`postponed`). A handled change has no
 * `json` if the conversation does not match `onlyWith`.
 */
export async function makeItems(
	changes: ConversationChange[],
	{ settings, send, hasTime }: { settings: TriggerSettings; send: Send; hasTime: () => boolean },
	maxCount: number,
	triesOf: (change: ConversationChange) => number,
) {
	const { simplify, options } = settings;
	const needsThreads = simplify || options.includeMessages || options.onlyWith !== '';
	const batchSize = needsThreads ? THREADS_AT_ONCE : maxCount;
	const withThread = async (change: ConversationChange) => ({
		change,
		thread: await readMessages(send, needsThreads ? change.threadId : undefined),
	});
	const done: Array<ConversationChange & { json?: IDataObject }> = [];
	const postponed: ConversationChange[] = [];
	let unreadableThreads = 0;
	let left = changes;
	while (left.length > 0 && done.length < maxCount) {
		const batch = left.slice(0, Math.min(batchSize, maxCount - done.length));
		left = left.slice(batch.length);
		for (const { change, thread } of await Promise.all(batch.map(withThread))) {
			const tries = triesOf(change);
			// After the last try, a change with an unreadable thread becomes an item without messages.
			const mustReadAgain = !thread.messages && tries + 1 < MAX_POLLS_PER_THREAD;
			// Two runs on one thread can make the conversation look cancelled for a time. The next poll checks the
			// conversation again. Recorded in `test/recordings/turns.json`.
			const mayBeTemporary = change.event === 'cancelled' && tries === 0;
			if (mustReadAgain) unreadableThreads += 1;
			if (mustReadAgain || mayBeTemporary) postponed.push(change);
			else done.push({ ...change, json: jsonOfChange(change, thread, settings) });
		}
		if (unreadableThreads >= MAX_UNREADABLE_THREADS || !hasTime()) break;
	}
	return { done, postponed };
}

/** The messages of a thread, or the reason why they could not be read. */
type MessagesOrReason = { messages?: ThreadMessage[]; notRead?: string };

/** Reads the messages of a thread (E15). Without a thread ID, reads nothing and returns an empty list. */
async function readMessages(send: Send, threadId?: string): Promise<MessagesOrReason> {
	if (!threadId) return { messages: [] };
	const { answer, failure } = await readThread({ send, clock: systemClock }, threadId);
	return failure ? { notRead: failureMessage(failure) } : { messages: messagesOf(answer) };
}

/**
 * Returns the JSON of an item, or undefined if the conversation does not contain the text `onlyWith`. An unreadable
 * thread counts as a match.
 */
function jsonOfChange(
	change: ConversationChange,
	{ messages, notRead }: MessagesOrReason,
	{ simplify, options }: TriggerSettings,
): IDataObject | undefined {
	const simpleMessages = messages?.map((message) => ({
		from: senderOf(message) ?? null,
		text: textOfContent(message.content),
	}));
	const texts = [change.title, ...(simpleMessages ?? []).map(({ text }) => text)];
	const onlyWith = options.onlyWith.toLowerCase();
	const isMatch = texts.some((text = '') => text.toLowerCase().includes(onlyWith));
	if (simpleMessages && !isMatch) return undefined;
	const json = simplify ? summaryOf(change, messages) : { event: change.event, ...change.record };
	const all = (simplify ? simpleMessages : (messages as IDataObject[] | undefined)) ?? null;
	return {
		...json,
		...(options.includeMessages && { messages: all }),
		...(messages ? {} : { notRead }),
	};
}

/** Returns the JSON of an item with "Simplify". */
function summaryOf(change: ConversationChange, messages: ThreadMessage[] = []): IDataObject {
	const { id, event, tasks, error, title, threadId, assistantId, status, updatedAt } = change;
	const { output, parts = [] } = lastReply(messages) ?? {};
	const said = output === undefined ? null : withoutLinks(output);
	const interrupt = tasks.length > 0 ? (tasks.map(approvalDetails) as IDataObject[]) : null;
	const facts = { error, interrupt, title, conversationId: id, threadId, assistantId, status };
	return {
		event,
		output: event === 'waiting' ? waitingMessage(tasks) : said,
		...(parts.length > 0 && { parts }),
		...mapValues({ ...facts, updatedAt }, (one) => one ?? null),
	};
}
