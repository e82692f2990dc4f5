import { compact, minBy } from 'lodash';
import { z } from 'zod';

import { conversationRecordSchema } from '../payloads/requestSchemas';
import { lenientText, sameSchemaForKeys } from '../payloads/zodHelpers';
import { anySuccessfulAnswer } from '../transport/answerSchemas';
import { buildPath } from '../transport/api';
import { type ApiClient, call } from '../transport/call';
import {
	CONVERSATION_PATH,
	CONVERSATION_SEARCH_PATH,
	CONVERSATIONS_PATH,
	MESSAGE_SEARCH_PATH,
	READ_REQUEST,
	SEARCH_REQUEST,
} from './requests';
import type { Failure } from '../transport/failure';
import { waitingTaskFacts } from './tasks';

/** Timeout for creating or deleting a conversation, which can be slow. */
const CHANGE_TIMEOUT_MS = 60_000;

/** The state of a thread's conversation on the server. */
export interface ConversationFacts {
	/** Why the conversation could not be read. Then all other fields are empty or undefined. */
	failure?: Failure;
	/** ID of the oldest conversation on the thread. Undefined if the server lists no conversation. */
	conversationId?: string;
	/** IDs of all conversations on the thread. The most recently updated conversation comes first. */
	conversationIds: string[];
	/** E.g. `busy` while a run is active. Undefined before the first run. */
	status?: string;
	/** Why the last run failed or was cancelled. */
	error?: string;
	/** The last run's tasks that wait for a person. */
	tasks: unknown[];
	/** Whether the conversation has tasks, but all are leftovers of a cancelled run (see `waitingTaskFacts`). */
	hasOnlyLeftOverTasks?: boolean;
}

/** The answer of the search for conversations (E5). */
const conversationListSchema = z.object({ items: z.array(conversationRecordSchema.catch({})) });

/**
 * Reads the conversations of a thread (E5). The server lists only conversations of the token's owner.
 *
 * - The state comes from the most recently updated conversation with a status, because runs write to this conversation.
 * - `conversationId` comes from the oldest conversation, so that all executions of this node use the same ID.
 */
export async function readThreadConversation(
	client: ApiClient,
	threadId: string,
): Promise<ConversationFacts> {
	const search = { where: { threadId }, order: { updatedAt: 'DESC' } };
	const { answer, failure } = await searchConversations(client, search);
	if (!answer) return { failure, conversationIds: [], tasks: [] };
	const found = answer.items.filter((one) => one.threadId === threadId);
	// Prefer a conversation with a status. A conversation gets its status from its first run.
	const { status, error, operation } = found.find((one) => one.status) ?? found[0] ?? {};
	// The ID decides between conversations that were created at the same time.
	const oldest = minBy(found, ({ createdAt = '', id = '' }) => `${createdAt} ${id}`);
	return {
		conversationId: oldest?.id,
		conversationIds: compact(found.map(({ id }) => id)),
		status,
		error,
		...waitingTaskFacts(operation?.tasks),
	};
}

/** Searches the conversations of the token's owner (E5). */
export async function searchConversations(client: ApiClient, search: object) {
	return await call(client, {
		...SEARCH_REQUEST,
		path: CONVERSATION_SEARCH_PATH,
		schema: conversationListSchema,
		body: JSON.stringify(search),
	});
}

/** Creates a conversation (E13). With an `id`, a repeated request does not create a second conversation. */
export async function createConversation(
	client: ApiClient,
	conversation: { threadId: string; title?: string; id?: string; createdById?: string },
) {
	return await call(client, {
		method: 'POST',
		path: CONVERSATIONS_PATH,
		timeoutMs: CHANGE_TIMEOUT_MS,
		body: JSON.stringify(conversation),
		repeatable: conversation.id !== undefined,
		schema: z
			.object({ id: z.string().min(1), threadId: z.string() })
			.refine(
				(made) => made.threadId === conversation.threadId,
				'it is not a conversation on the thread that was asked for',
			),
	});
}

/** Whether an ID belongs to a conversation. False if the server cannot tell. */
export async function conversationExists(client: ApiClient, id: string) {
	const path = buildPath(CONVERSATION_PATH, { conversationId: id });
	// For an unknown ID, the server answers with an empty object.
	const schema = z.object({ threadId: z.string().min(1) });
	return (await call(client, { ...READ_REQUEST, path, schema, maxTries: 1 })).ok;
}

/** Deletes a conversation in which nothing has run. Ignores failures, because an empty conversation does no harm. */
export async function deleteConversation({ send }: ApiClient, id: string) {
	const path = buildPath(CONVERSATION_PATH, { conversationId: id });
	await send({ method: 'DELETE', path, timeoutMs: CHANGE_TIMEOUT_MS, schema: anySuccessfulAnswer });
}

/** A message in a conversation. Other runs can overwrite messages on the thread, but not these. */
const messageRecordSchema = z.object({
	role: z.string(),
	content: z.unknown(),
	createdAt: lenientText,
	...sameSchemaForKeys(lenientText.nullish(), 'status', 'error', 'executionId', 'updatedAt'),
});

const messageListSchema = z
	.object({ items: z.array(messageRecordSchema.optional().catch(undefined)) })
	.transform(({ items }) => compact(items));

/** Searches the messages of one conversation. */
async function searchMessages(client: ApiClient, id: string, search: object) {
	return await call(client, {
		...SEARCH_REQUEST,
		path: buildPath(MESSAGE_SEARCH_PATH, { conversationId: id }),
		body: JSON.stringify(search),
		schema: messageListSchema,
	});
}

/**
 * Finds the stored answer of a run in the conversations of its thread.
 *
 * @param conversations the conversations of the thread, as read before
 * @returns `message` if found; `failure` if a request failed, now or before; neither if there is no answer
 */
export async function findAnswer(
	client: ApiClient,
	conversations: Pick<ConversationFacts, 'failure' | 'conversationIds'>,
	runId: string,
) {
	for (const id of conversations.conversationIds) {
		const ofRun = { where: { executionId: runId } };
		const { answer: messages, failure } = await searchMessages(client, id, ofRun);
		const message = messages?.findLast(({ role }) => role === 'ai');
		if (failure || message) return { message, failure };
	}
	return { message: undefined, failure: conversations.failure };
}

/** Whether users have sent no message after the given time. False if the messages cannot be read. */
export async function hasNoQuestionSince(
	client: ApiClient,
	conversations: Pick<ConversationFacts, 'failure' | 'conversationIds'>,
	since = '',
) {
	if (conversations.failure) return false;
	for (const id of conversations.conversationIds) {
		const { answer: questions } = await searchMessages(client, id, { where: { role: 'human' } });
		const areOld = questions?.every(({ createdAt = '' }) => createdAt <= since) ?? false;
		if (!areOld) return false;
	}
	return true;
}

/** Reads the newest answers in a conversation. `executionId` is the ID of the run, and can be missing. */
export async function readNewestAnswers(client: ApiClient, conversationId: string, limit: number) {
	const search = { where: { role: 'ai' }, order: { createdAt: 'DESC' }, limit };
	return await searchMessages(client, conversationId, search);
}
