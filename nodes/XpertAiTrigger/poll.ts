import { difference, filter, isEqual, mapValues, orderBy, sortBy } from 'lodash';
import { DateTime } from 'luxon';
import type { IDataObject, INodeExecutionData, IPollFunctions } from 'n8n-workflow';
import { z } from 'zod';

import { apiError, callOrThrow, operationError } from '../XpertAi/execution/apiError';
import { PAGE_SIZE } from '../XpertAi/execution/paging';
import { Reader } from '../XpertAi/execution/reader';
import { conversationRecord } from '../XpertAi/payloads/bodies';
import { isJsonObject } from '../XpertAi/payloads/json';
import { lenientText } from '../XpertAi/payloads/schemas';
import { withoutLinks } from '../XpertAi/threads/sources';
import {
	waitingTasksIn,
	approvalRequest,
	waitingMessage,
	waitsForPerson,
} from '../XpertAi/threads/tasks';
import {
	lastReply,
	messagesOf,
	readThread,
	senderOf,
	textOf,
	type ThreadMessage,
} from '../XpertAi/threads/thread';
import { systemClock } from '../XpertAi/transport/clock';
import type { Failure } from '../XpertAi/transport/failure';
import { failureMessage } from '../XpertAi/transport/failureText';
import { connectionOf, type Send } from '../XpertAi/transport/request';
import { type FetchChanges, readChanges, type Reading, validTimes } from './changes';
import {
	type ConversationEvent,
	triggerFields,
	triggerSettings,
	type TriggerSettings,
} from './fields';
import {
	correctMemory,
	type Memory,
	newChanges,
	nextMemory,
	readFirstMemory,
	readMemory,
	triesOf,
} from './memory';

/**
 * Converts a conversation to a change. An invalid record becomes a change without an event, because `readChanges`
 * counts all records of a page.
 */
const conversationChange = conversationRecord
	.extend({ title: lenientText, xpertId: lenientText, updatedAt: lenientText })
	.transform(({ id = '', operation, error, updatedAt = '', xpertId, ...known }) => {
		const open = { ...waitingTasksIn(operation?.tasks), error };
		return {
			...known,
			...open,
			id,
			updatedAt,
			at: DateTime.fromISO(updatedAt, { zone: 'utc' }).toMillis(),
			event: id ? eventOfStatus(known.status, open) : undefined,
			assistantId: xpertId,
		};
	});

/** A change of a conversation, with the record from the server. */
export type ConversationChange = z.infer<typeof conversationChange> & { record: IDataObject };

const record = z.custom<IDataObject>(isJsonObject);

/**
 * The schema of the answer to a search for conversations (E5). A missing `total` means that the answer comes from
 * another API.
 */
const searchAnswer = z
	.object({ items: z.array(record.catch({})), total: z.number() })
	.transform(({ items }) => items.map((one) => ({ ...conversationChange.parse(one), record: one })))
	// Another API may answer with other `items`. If there are any, at least one must have an ID and a time.
	.refine(
		(changes) => changes.length === 0 || validTimes(changes.filter(({ id }) => id)).length > 0,
		'it holds no list of conversations',
	);

/**
 * Returns a function that fetches changes of conversations (E5).
 *
 * @param xpertId the assistant of the conversations; default all assistants
 * @returns a function that throws NodeApiError if the request fails
 */
export function searchChanges(
	context: IPollFunctions,
	send: Send,
	xpertId?: string,
): FetchChanges<ConversationChange> {
	const ids = xpertId === undefined ? [] : [{ field: '"Assistant"', id: xpertId }];
	const toError = (failure: Failure) => apiError(failure, { ids, node: context.getNode() });
	return async ({ since, order, limit }) => {
		const updatedAt = since === undefined ? undefined : { $gte: new Date(since).toISOString() };
		const search = { where: { updatedAt, xpertId }, order: { updatedAt: order }, limit };
		// Polls would miss changes if the server ignored the filter or the order.
		const schema = searchAnswer.refine((changes) => {
			const times = [since ?? 0, ...validTimes(changes)];
			return order === 'DESC' || isEqual(times, sortBy(times));
		}, 'it is not filtered and sorted by time as asked');
		const request = { method: 'POST', path: '/conversations/search', repeatable: true } as const;
		const asked = { ...request, body: JSON.stringify(search), schema };
		const { answer: changes, serverTime } = await callOrThrow(context, send, asked, toError);
		return { changes, serverTime };
	};
}

/**
 * Returns the event of a conversation. Returns undefined during a run, before the first run, and for an unknown status.
 * The status `interrupted` does not show whether the last run waits or was cancelled. If only leftover tasks of another
 * run remain (see `waitingTasksIn`), the last run has answered.
 */
function eventOfStatus(status: unknown, open: OpenTasks): ConversationEvent | undefined {
	if (status === 'idle') return 'answered';
	if (status === 'error') return 'failed';
	if (status !== 'interrupted') return undefined;
	if (waitsForPerson(open)) return 'waiting';
	return open.isLeftOver && !open.error ? 'answered' : 'cancelled';
}

/** The open tasks of a conversation, and the error text of the last run. */
type OpenTasks = ReturnType<typeof waitingTasksIn> & { error?: string };

/** How many threads a poll reads in parallel, and how many unreadable threads stop a poll. */
const THREADS_AT_ONCE = 5;

/** How many polls try to read a thread before the node emits the change without messages. */
export const THREAD_TRIES = 3;

/**
 * Creates the output items for changes, in order. Postpones changes whose thread cannot be read. Processes at least
 * one batch even if no time is left, so that every poll makes progress.
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
			const isUnreadable = !thread.messages && tries + 1 < THREAD_TRIES;
			// Two runs on one thread can make the conversation look cancelled for a time. The next poll checks the
			// conversation again. Recorded in `test/recordings/turns.json`.
			const mayBeTemporary = change.event === 'cancelled' && tries === 0;
			if (isUnreadable) unreadableThreads += 1;
			if (isUnreadable || mayBeTemporary) postponed.push(change);
			else done.push({ ...change, json: itemJson(change, thread, settings) });
		}
		if (unreadableThreads >= THREADS_AT_ONCE || !hasTime()) break;
	}
	return { done, postponed };
}

/** The messages of a thread, or the reason why they could not be read. */
type ThreadMessages = { messages?: ThreadMessage[]; notRead?: string };

/** Reads the messages of a thread (E15). */
async function readMessages(send: Send, threadId?: string): Promise<ThreadMessages> {
	if (!threadId) return { messages: [] };
	const { answer, failure } = await readThread({ send, clock: systemClock }, threadId);
	return failure ? { notRead: failureMessage(failure) } : { messages: messagesOf(answer) };
}

/**
 * Returns the JSON of an item, or undefined if the conversation does not contain the text `onlyWith`. An unreadable
 * thread counts as a match.
 */
function itemJson(
	change: ConversationChange,
	{ messages, notRead }: ThreadMessages,
	{ simplify, options }: TriggerSettings,
): IDataObject | undefined {
	const simpleMessages = messages?.map((message) => ({
		from: senderOf(message) ?? null,
		text: textOf(message.content),
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
	const interrupt = tasks.length > 0 ? (tasks.map(approvalRequest) as IDataObject[]) : null;
	const facts = { error, interrupt, title, conversationId: id, threadId, assistantId, status };
	return {
		event,
		output: event === 'waiting' ? waitingMessage(tasks) : said,
		...(parts.length > 0 && { parts }),
		...mapValues({ ...facts, updatedAt }, (one) => one ?? null),
	};
}

/**
 * Reads the parameters of the trigger.
 *
 * @throws NodeOperationError that names the invalid parameter
 */
export function readTriggerSettings(context: IPollFunctions): TriggerSettings {
	const resolve: Reader['resolve'] = (name, initial) => context.getNodeParameter(name, initial);
	const reader = new Reader(context.getNode(), triggerFields, resolve, 'No poll was made.');
	return reader.settings(triggerSettings);
}

/** The time limit of a poll, if n8n sets no lower limit. Recent versions of n8n abandon a poll after 45 s (default). */
const MAX_POLL_MS = 30_000;

/** The share of a poll's time for reading changes; the rest is for reading threads. */
const READING_SHARE = 0.8;

/** Collects the settings, the connection and the stored data of a poll. */
async function pollContext(context: IPollFunctions) {
	const settings = readTriggerSettings(context);
	const { send, server } = await connectionOf(context);
	const started = systemClock.now();
	// Older versions of n8n do not have `getPollBudgetMs`.
	const { getPollBudgetMs }: Partial<IPollFunctions> = context;
	const budgetMs = Math.min(MAX_POLL_MS, getPollBudgetMs?.call(context) ?? Infinity);
	return {
		context,
		settings,
		send,
		/**
		 * Fetches the changes with all assistants. So the memory fits any selection: after the user selects another assistant,
		 * polls continue where the last one ended.
		 */
		fetchChanges: searchChanges(context, send),
		/** The server that the memory belongs to. */
		watched: server,
		/** The node's static data in n8n, which holds the memory. */
		stored: context.getWorkflowStaticData('node'),
		/** Whether the poll has used less than `share` of its time. */
		hasTime: (share = 1) => systemClock.now() - started < share * budgetMs,
	};
}

type PollContext = Awaited<ReturnType<typeof pollContext>>;

/** The parameters of `pollSince`. Only tests set `pageSize`. */
type Polling = Omit<PollContext, 'context'> & { pageSize?: number };

/**
 * Runs one poll. The first poll only stores the existing changes. A manual test returns the newest change and stores
 * nothing.
 *
 * @returns the items of new changes; null if there are none
 * @throws NodeApiError if a request failed and the poll made no progress
 * @throws NodeOperationError if a parameter is invalid, or if a manual test finds no change
 */
export async function poll(context: IPollFunctions): Promise<INodeExecutionData[][] | null> {
	const polling = await pollContext(context);
	if (context.getMode() === 'manual') return [[{ json: await newestItem(polling) }]];
	const { watched, stored, fetchChanges } = polling;
	const memory = readMemory(stored, watched);
	if (memory) return await pollSince(memory, polling);
	Object.assign(stored, await readFirstMemory(fetchChanges, watched));
	return null;
}

/** Returns the changes with an event and an assistant that the user selected. */
const wantedChanges = (changes: ConversationChange[], settings: TriggerSettings) =>
	changes.filter(({ event, assistantId }) => {
		const wanted = settings.assistantId ?? assistantId;
		return event && settings.events.includes(event) && isSameId(assistantId, wanted);
	});

const isSameId = (a?: string, b?: string) => a?.toLowerCase() === b?.toLowerCase();

/** Runs a poll with the memory of earlier polls. */
export async function pollSince(
	memory: Memory,
	polling: Polling,
): Promise<INodeExecutionData[][] | null> {
	const { fetchChanges, settings, stored, watched } = polling;
	const found = await findChanges(memory, polling);
	const { changes, failure } = found;
	const corrected = failure === undefined && (await correctMemory(fetchChanges, memory, found));
	if (corrected) {
		Object.assign(stored, corrected);
		return await pollSince(corrected, polling);
	}
	const selected = wantedChanges(changes, settings);
	const wanted = newChanges(memory, selected);
	const { conversationsPerPoll } = settings.options;
	const { done, postponed } = await makeItems(wanted, polling, conversationsPerPoll, (change) =>
		triesOf(memory, change),
	);
	// Do not use `await` below. Otherwise, an overlapping poll could emit the same changes.
	const latest = readMemory(stored, watched) ?? memory;
	const newDone = newChanges(latest, done);
	// Changes that the user did not select count as handled, so that another selection does not emit them.
	const notSelected = difference(filter(changes, 'event'), selected);
	const handled = [...newDone, ...notSelected];
	const next = nextMemory(latest, memory, found, { wanted, handled, postponed });
	Object.assign(stored, next);
	const items = newDone.flatMap(({ json }) => (json ? [{ json }] : []));
	if (items.length > 0) return [items];
	// A poll with progress must not throw: some versions of n8n would drop the stored data.
	const hasProgressed = newDone.length + postponed.length > 0 || next.since > latest.since;
	if (failure !== undefined && !hasProgressed) throw failure;
	return null;
}

/** Reads changes until there are enough for one poll, or the time for reading is over. */
async function findChanges(memory: Memory, polling: Polling): Promise<Reading<ConversationChange>> {
	const { fetchChanges, settings, hasTime, pageSize = PAGE_SIZE } = polling;
	const isEnough = ({ changes, upTo }: Reading<ConversationChange>) => {
		if (!hasTime(READING_SHARE)) return true;
		if (upTo < memory.since) return false;
		const wanted = newChanges(memory, wantedChanges(changes, settings));
		return wanted.length >= settings.options.conversationsPerPoll;
	};
	// A page must hold all known changes and `pageSize` new changes. Otherwise, a poll with time for only one page
	// might read no new changes.
	const limit = pageSize + memory.known.length;
	return await readChanges(fetchChanges, memory.again, isEnough, limit);
}

/** Returns the item of the newest change that matches the settings. */
async function newestItem(polling: PollContext): Promise<IDataObject> {
	const { context, settings, send } = polling;
	const fetchChanges = searchChanges(context, send, settings.assistantId);
	const { changes } = await fetchChanges({ order: 'DESC', limit: PAGE_SIZE });
	for (const change of orderBy(wantedChanges(changes, settings), 'at', 'desc')) {
		const { done } = await makeItems([change], polling, 1, () => THREAD_TRIES);
		for (const { json } of done) if (json) return json;
	}
	throw operationError(context.getNode(), 'No conversation to show fits the settings', {
		description: `None of the ${PAGE_SIZE} conversations that changed last does. Choose other Events, or hold such a conversation and test again. Once published, the workflow starts for those to come.`,
	});
}
