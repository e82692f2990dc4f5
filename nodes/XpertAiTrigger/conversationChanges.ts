import { isEqual, sortBy } from 'lodash';
import { DateTime } from 'luxon';
import type { IDataObject, IPollFunctions } from 'n8n-workflow';
import { z } from 'zod';

import { apiError, callOrThrow } from '../XpertAi/execution/apiError';
import { conversationRecordSchema } from '../XpertAi/payloads/requestSchemas';
import { isJsonObject } from '../XpertAi/payloads/json';
import { lenientText } from '../XpertAi/payloads/zodHelpers';
import { CONVERSATION_SEARCH_PATH, SEARCH_REQUEST } from '../XpertAi/threads/requests';
import { waitingTaskFacts, waitsForPerson } from '../XpertAi/threads/tasks';
import type { Failure } from '../XpertAi/transport/failure';
import type { Send } from '../XpertAi/transport/request';
import { type FetchChanges, validTimes } from './readChanges';
import type { ConversationEvent } from './fields';

/**
 * Converts a conversation to a change. An invalid record becomes a change without an event, because `readChanges`
 * counts all records of a page.
 */
const conversationChangeSchema = conversationRecordSchema
	.extend({ title: lenientText, xpertId: lenientText, updatedAt: lenientText })
	.transform(({ id = '', operation, error, updatedAt = '', xpertId, ...known }) => {
		const open = { ...waitingTaskFacts(operation?.tasks), error };
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
export type ConversationChange = z.infer<typeof conversationChangeSchema> & { record: IDataObject };

const recordSchema = z.custom<IDataObject>(isJsonObject);

/**
 * The schema of the answer to a search for conversations (E5). A missing `total` means that the answer comes from
 * another API.
 */
const searchAnswerSchema = z
	.object({ items: z.array(recordSchema.catch({})), total: z.number() })
	.transform(({ items }) =>
		items.map((one) => ({ ...conversationChangeSchema.parse(one), record: one })),
	)
	// Another API may answer with other `items`. So a list that is not empty must have an item with an ID and a time.
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
export function changesFetcher(
	context: IPollFunctions,
	send: Send,
	xpertId?: string,
): FetchChanges<ConversationChange> {
	const ids = xpertId === undefined ? [] : [{ label: '"Assistant"', id: xpertId }];
	const toError = (failure: Failure) => apiError(failure, { ids, node: context.getNode() });
	return async ({ since, order, limit }) => {
		const updatedAt = since === undefined ? undefined : { $gte: new Date(since).toISOString() };
		const search = { where: { updatedAt, xpertId }, order: { updatedAt: order }, limit };
		// Checks only answers in the order `ASC`: polls would miss changes if the server ignored the filter or the order.
		// `since` comes first in `times`, so no change may be older than that.
		const schema = searchAnswerSchema.refine((changes) => {
			const times = [since ?? 0, ...validTimes(changes)];
			return order === 'DESC' || isEqual(times, sortBy(times));
		}, 'it is not filtered and sorted by time as asked');
		const request = { ...SEARCH_REQUEST, path: CONVERSATION_SEARCH_PATH };
		const asked = { ...request, body: JSON.stringify(search), schema };
		const { answer: changes, serverTime } = await callOrThrow(context, send, asked, toError);
		return { changes, serverTime };
	};
}

/**
 * Returns the event of a conversation. Returns undefined during a run, before the first run, and for an unknown status.
 * The status `interrupted` does not show whether the last run waits or was cancelled. If only leftover tasks of another
 * run remain (see `waitingTaskFacts`), the last run has answered, or was cancelled if there is an `error`.
 */
function eventOfStatus(status: unknown, open: OpenTaskFacts): ConversationEvent | undefined {
	if (status === 'idle') return 'answered';
	if (status === 'error') return 'failed';
	if (status !== 'interrupted') return undefined;
	if (waitsForPerson(open)) return 'waiting';
	return open.hasOnlyLeftOverTasks && !open.error ? 'answered' : 'cancelled';
}

/** The open tasks of a conversation, and the error text of the last run. */
type OpenTaskFacts = ReturnType<typeof waitingTaskFacts> & { error?: string };
