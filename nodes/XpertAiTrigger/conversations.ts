import isEqual from 'lodash/isEqual';
import sortBy from 'lodash/sortBy';
import type { IDataObject, IPollFunctions } from 'n8n-workflow';
import { z } from 'zod';

import { callOrThrow } from '../XpertAi/execution/callOrThrow';
import { textIfAny } from '../XpertAi/payloads/common';
import { conversationRecord } from '../XpertAi/payloads/conversation';
import { errorText, openTasks, waitsForPerson } from '../XpertAi/threads/conversation';
import { isJsonObject } from '../XpertAi/transport/answer';
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
		const open = { ...openTasks(operation?.tasks), error };
		return {
			...known,
			id,
			updatedAt,
			at: parseTime(updatedAt),
			event: id ? eventOf(known.status, open) : undefined,
			assistantId: xpertId,
			/** Why its last run failed, or who cancelled it. */
			error: errorText(error),
			/** The tasks of its run that wait for a person. */
			tasks: open.tasks,
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
		'it holds no list of conversations',
	);

/** Whether changes are filtered and sorted as asked: polls would miss some otherwise. */
function isAsAsked({ since = 0, order }: ChangesQuery, changes: ConversationChange[]): boolean {
	const times = [since, ...timesOf(changes)];
	return order === 'DESC' || isEqual(times, sortBy(times));
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
		const schema = searchAnswer.refine(
			(changes) => isAsAsked(query, changes),
			'it is not filtered and sorted by time as asked',
		);
		const body = JSON.stringify(searchBody(query, assistantId));
		const request = { path: '/conversations/search', body, timeoutMs: SEARCH_TIMEOUT_MS, schema };
		const call = { method: 'POST', repeatable: true, ...request } as const;
		return await callOrThrow(context, send, call, { ids });
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
function eventOf(
	status: unknown,
	open: ReturnType<typeof openTasks> & { error?: unknown },
): ConversationEvent | undefined {
	if (status === 'idle') return 'answered';
	if (status === 'error') return 'failed';
	if (status !== 'interrupted') return undefined;
	if (waitsForPerson(open)) return 'waiting';
	return open.isLeftOver && !open.error ? 'answered' : 'cancelled';
}
