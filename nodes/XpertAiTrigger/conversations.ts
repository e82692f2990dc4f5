import isEqual from 'lodash/isEqual';
import sortBy from 'lodash/sortBy';
import { DateTime } from 'luxon';
import type { IDataObject, IPollFunctions } from 'n8n-workflow';
import { z } from 'zod';

import { wordsFor } from '../XpertAi/execution/hints';
import { textIfAny } from '../XpertAi/payloads/common';
import { conversationRecord } from '../XpertAi/payloads/conversation';
import { errorText, openTasks, waitsForPerson } from '../XpertAi/threads/conversation';
import { isJsonObject } from '../XpertAi/transport/answer';
import { call } from '../XpertAi/transport/call';
import { systemClock } from '../XpertAi/transport/clock';
import { toNodeApiError } from '../XpertAi/transport/failure';
import type { Send } from '../XpertAi/transport/request';
import type { ConversationEvent } from './fields';
import { timesOf, type FetchChanges } from './changes';

/**
 * A conversation of E5 as the change that the trigger sees. A record that is no conversation keeps its place in the
 * page, without an event.
 */
const conversationChange = conversationRecord
	.extend({ title: textIfAny, xpertId: textIfAny, updatedAt: textIfAny })
	.transform(({ id = '', operation, error, updatedAt = '', xpertId, ...known }) => {
		const open = { ...openTasks(operation?.tasks), error };
		return {
			...known,
			id,
			updatedAt,
			at: DateTime.fromISO(updatedAt, { zone: 'utc' }).toMillis(),
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

const record = z.custom<IDataObject>(isJsonObject);

/**
 * The answer of E5. Recorded servers always add the total, so an empty or foreign answer is not taken for an empty
 * list.
 */
const searchAnswer = z
	.object({ items: z.array(record.catch({})), total: z.number() })
	.transform(({ items }) => items.map((one) => ({ ...conversationChange.parse(one), record: one })))
	.refine(
		(changes) => changes.length === 0 || timesOf(changes.filter(({ id }) => id)).length > 0,
		'it holds no list of conversations',
	);

/**
 * Makes a function that fetches changes of conversations (E5), of one assistant or of all.
 *
 * @returns a function that throws NodeApiError if the request fails
 */
export function searchChanges(
	context: IPollFunctions,
	send: Send,
	xpertId?: string,
): FetchChanges<ConversationChange> {
	const ids = xpertId === undefined ? [] : [{ field: '"Assistant"', id: xpertId }];
	return async ({ since, order, limit }) => {
		const updatedAt = since === undefined ? undefined : { $gte: new Date(since).toISOString() };
		const search = { where: { updatedAt, xpertId }, order: { updatedAt: order }, limit };
		// Polls would miss changes of a list that is not filtered and sorted.
		const schema = searchAnswer.refine((changes) => {
			const times = [since ?? 0, ...timesOf(changes)];
			return order === 'DESC' || isEqual(times, sortBy(times));
		}, 'it is not filtered and sorted by time as asked');
		const request = { method: 'POST', path: '/conversations/search', repeatable: true } as const;
		const body = JSON.stringify(search);
		const result = await call({ send, clock: systemClock }, { ...request, body, schema });
		if (result.ok) return { changes: result.answer, serverTime: result.serverTime };
		const { failure } = result;
		throw toNodeApiError(failure, { ...wordsFor(failure, { ids }), node: context.getNode() });
	};
}

/**
 * The event of a conversation, by the status of its last run; undefined while a run is running or before the first.
 * Runs that wait and cancelled runs are both `interrupted`; only the former have tasks (seen on the live server).
 */
function eventOf(status: unknown, open: OpenTasks): ConversationEvent | undefined {
	if (status === 'idle') return 'answered';
	if (status === 'error') return 'failed';
	if (status !== 'interrupted') return undefined;
	if (waitsForPerson(open)) return 'waiting';
	return open.isLeftOver && !open.error ? 'answered' : 'cancelled';
}

type OpenTasks = ReturnType<typeof openTasks> & { error?: unknown };
