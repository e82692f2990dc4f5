import type { IDataObject, IPollFunctions } from 'n8n-workflow';
import { z } from 'zod';

import { answerFor } from '../XpertAi/execution/answers';
import { textIfAny } from '../XpertAi/payloads/common';
import { conversationRecord } from '../XpertAi/payloads/conversation';
import { errorText } from '../XpertAi/threads/thread';
import { answerMustBe, isJsonObject } from '../XpertAi/transport/answer';
import type { Send } from '../XpertAi/transport/request';
import type { ConversationEvent } from './fields';
import { parseTime } from './memory';
import type { Change } from './memory';
import type { ChangesQuery, FetchChanges } from './changes';

const SEARCH_TIMEOUT_MS = 30_000;

/** A conversation of E5 with the fields of the trigger. */
const searchedConversation = conversationRecord.extend({
	title: textIfAny,
	xpertId: textIfAny,
	updatedAt: textIfAny,
});

/** A change of a conversation. */
export interface ConversationChange extends Change {
	event?: ConversationEvent;
	threadId?: string;
	assistantId?: string;
	title?: string;
	status?: string;
	/** Why its last run failed, or who cancelled it. */
	error?: string;
	/** The tasks of its run that wait for a person. */
	tasks: unknown[];
	/** The record from the server. */
	record: IDataObject;
}

/**
 * The answer of E5. Recorded servers always add the total, so an empty or foreign answer is not taken for an empty
 * list.
 */
const searchAnswer = z.object({ items: z.array(z.unknown()), total: z.number() });

const listsConversations = answerMustBe((answer) => {
	const { success, data } = searchAnswer.safeParse(answer);
	if (!success || data.items.length === 0) return success;
	return data.items.map(changeOf).some(({ id, at }) => id !== '' && !Number.isNaN(at));
}, 'it holds no list of conversations');

/**
 * Makes a function that fetches changes of conversations (E5), of one assistant or of all.
 *
 * @returns a function that throws NodeApiError if the request fails
 */
export function searchChanges(
	context: IPollFunctions,
	send: Send,
	assistantId?: string,
): FetchChanges<ConversationChange> {
	const ids = assistantId === undefined ? [] : [{ subject: '"Assistant"', id: assistantId }];
	return async (query) => {
		const answer = await answerFor(
			context,
			send,
			{
				method: 'POST',
				path: '/conversations/search',
				body: JSON.stringify(searchBody(query, assistantId)),
				timeoutMs: SEARCH_TIMEOUT_MS,
				checkAnswer: listsConversations,
			},
			{ repeatable: true, ids },
		);
		return searchAnswer.parse(answer).items.map(changeOf);
	};
}

function searchBody({ since, order, ...page }: ChangesQuery, assistantId?: string): IDataObject {
	const where: IDataObject = {};
	if (since !== undefined) where.updatedAt = { $gte: new Date(since).toISOString() };
	if (assistantId !== undefined) where.xpertId = assistantId;
	return { where, order: { updatedAt: order }, ...page };
}

/** Converts a record of E5. A record that is not a conversation keeps its place in the page, without an event. */
function changeOf(raw: unknown): ConversationChange {
	const record = isJsonObject(raw) ? raw : {};
	const {
		id,
		operation,
		error,
		updatedAt = '',
		xpertId,
		...known
	} = searchedConversation.parse(record);
	const tasks = operation?.tasks ?? [];
	return {
		...known,
		id: id ?? '',
		updatedAt,
		at: parseTime(updatedAt),
		event: id ? eventOf({ status: known.status, tasks }) : undefined,
		assistantId: xpertId,
		error: errorText(error),
		tasks,
		record,
	};
}

/**
 * The event of a conversation, by the status of its last run; undefined while a run is running or before the first.
 * Runs that wait and cancelled runs are both `interrupted`; only the former have tasks (service behaviour, "What became
 * of a run").
 */
export function eventOf({
	status,
	tasks,
}: Pick<ConversationChange, 'status' | 'tasks'>): ConversationEvent | undefined {
	switch (status) {
		case 'idle':
			return 'answered';
		case 'error':
			return 'failed';
		case 'interrupted':
			return tasks.length > 0 ? 'waiting' : 'cancelled';
		default:
			return undefined;
	}
}
