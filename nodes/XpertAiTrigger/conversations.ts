import isEqual from 'lodash/isEqual';
import sortBy from 'lodash/sortBy';
import type { IDataObject, IPollFunctions } from 'n8n-workflow';
import { z } from 'zod';

import { sendOrThrow } from '../XpertAi/execution/sendOrThrow';
import { textIfAny } from '../XpertAi/payloads/common';
import { conversationRecord } from '../XpertAi/payloads/conversation';
import { errorText } from '../XpertAi/threads/thread';
import { answerMustBe, isJsonObject } from '../XpertAi/transport/answer';
import type { Send } from '../XpertAi/transport/request';
import type { ConversationEvent } from './fields';
import { parseTime } from './memory';
import { timesOf } from './changes';
import type { ChangesQuery, FetchChanges } from './changes';

const SEARCH_TIMEOUT_MS = 30_000;

/** A conversation of E5 as the change that the trigger sees. */
const conversationChange = conversationRecord
	.extend({ title: textIfAny, xpertId: textIfAny, updatedAt: textIfAny })
	.transform(({ id = '', operation, error, updatedAt = '', xpertId, ...known }) => {
		const tasks = operation?.tasks ?? [];
		return {
			...known,
			id,
			updatedAt,
			at: parseTime(updatedAt),
			event: id ? eventOf(known.status, tasks) : undefined,
			assistantId: xpertId,
			/** Why its last run failed, or who cancelled it. */
			error: errorText(error),
			/** The tasks of its run that wait for a person. */
			tasks,
		};
	});

/** A change of a conversation, with the record from the server. */
export type ConversationChange = z.infer<typeof conversationChange> & { record: IDataObject };

/**
 * The answer of E5. Recorded servers always add the total, so an empty or foreign answer is not taken for an empty
 * list.
 */
const searchAnswer = z
	.object({ items: z.array(z.unknown().transform(changeOf)), total: z.number() })
	.transform(({ items }) => items)
	.refine(
		(changes) =>
			changes.length === 0 || changes.some(({ id, at }) => id !== '' && !Number.isNaN(at)),
	);

const listsConversations = answerMustBe(
	(answer) => searchAnswer.safeParse(answer).success,
	'it holds no list of conversations',
);

/** What is wrong with an answer that is not filtered and sorted as asked: polls would miss changes. */
function orderFlaw({ since = 0, order }: ChangesQuery, answer: unknown): string | undefined {
	const times = [since, ...timesOf(searchAnswer.parse(answer))];
	const isAsAsked = order === 'DESC' || isEqual(times, sortBy(times));
	return isAsAsked ? undefined : 'it is not filtered and sorted by time as asked';
}

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
		const answer = await sendOrThrow(
			context,
			send,
			{
				method: 'POST',
				path: '/conversations/search',
				body: JSON.stringify(searchBody(query, assistantId)),
				timeoutMs: SEARCH_TIMEOUT_MS,
				checkAnswer: (found) => listsConversations(found) ?? orderFlaw(query, found),
			},
			{ repeatable: true, ids },
		);
		return searchAnswer.parse(answer);
	};
}

function searchBody({ since, order, ...page }: ChangesQuery, assistantId?: string): object {
	const updatedAt = since === undefined ? undefined : { $gte: new Date(since).toISOString() };
	return { where: { updatedAt, xpertId: assistantId }, order: { updatedAt: order }, ...page };
}

/** Converts a record of E5. A record that is not a conversation keeps its place in the page, without an event. */
function changeOf(raw: unknown): ConversationChange {
	const record = isJsonObject(raw) ? raw : {};
	return { ...conversationChange.parse(record), record };
}

/**
 * The event of a conversation, by the status of its last run; undefined while a run is running or before the first.
 * Runs that wait and cancelled runs are both `interrupted`; only the former have tasks (service behaviour, "What became
 * of a run").
 */
function eventOf(status: unknown, tasks: unknown[]): ConversationEvent | undefined {
	if (status === 'idle') return 'answered';
	if (status === 'error') return 'failed';
	if (status !== 'interrupted') return undefined;
	return tasks.length > 0 ? 'waiting' : 'cancelled';
}
