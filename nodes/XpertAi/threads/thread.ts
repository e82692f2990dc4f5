import { compact, get, isString, minBy } from 'lodash';
import { z } from 'zod';

import { conversationRecord } from '../payloads/bodies';
import { eachOf, isJsonObject, textIfAny } from '../payloads/common';
import { cachedByAccount } from '../transport/accounts';
import { anyAnswer } from '../transport/answer';
import { buildPath } from '../transport/api';
import { type ApiClient, call, FOREIGN_PAUSE_MS } from '../transport/call';
import { type Failure, isTokenRefused } from '../transport/failure';
import { openTasks } from './tasks';

/** An object schema that keeps unknown fields. An invalid value becomes undefined. */
const loose = <Shape extends z.ZodRawShape>(shape: Shape) =>
	z.object(shape).passthrough().nullish().catch(undefined);

/** A message of a thread (E15). `senderOf` derives the sender from these fields. */
const threadMessage = z
	.object({
		id: textIfAny,
		content: z.unknown(),
		tool_calls: z.unknown(),
		tool_call_id: z.unknown(),
	})
	.passthrough();

/** A thread on the server (E15). Malformed fields become undefined, so that the status stays readable. */
export const threadState = z
	.object({
		thread_id: textIfAny,
		/** Null if the status is unknown, e.g. before the first run. */
		status: z.string().nullish().catch(undefined),
		/** `id` is the ID of the conversation. */
		metadata: loose({ id: textIfAny, assistant_id: textIfAny }),
		values: loose({
			/** The input of the last run. */
			input: textIfAny.nullish(),
			messages: z.array(threadMessage.catch({})).nullish().catch(undefined),
		}),
	})
	.passthrough();

export type ThreadMessage = z.infer<typeof threadMessage>;
export type ThreadState = z.infer<typeof threadState>;

/** Schema for one thread. The field `status` is required, but can be null. */
export const stateOf = (threadId: string) =>
	threadState.refine(
		(state) => state.thread_id === threadId && state.status !== undefined,
		'it is not this thread',
	);

/** Reads a thread (E15). Never throws. */
export async function readThread(client: ApiClient, threadId: string, maxTries?: number) {
	const path = buildPath('/threads/{threadId}', { threadId });
	return await call(client, { ...READ, path, schema: stateOf(threadId), maxTries });
}

export const READ = { method: 'GET', repeatable: true } as const;
const SEARCH = { method: 'POST', repeatable: true } as const;

/**
 * Who sent a message. Only the assistant's messages have `tool_calls`. Only tool results have a `tool_call_id`.
 *
 * @returns undefined for a malformed message
 */
export function senderOf(message: ThreadMessage): 'assistant' | 'tool' | 'user' | undefined {
	if (Array.isArray(message.tool_calls)) return 'assistant';
	if (typeof message.tool_call_id === 'string') return 'tool';
	return message.content === undefined ? undefined : 'user';
}

export const isFromUser = (message: ThreadMessage) => senderOf(message) === 'user';

/** The messages of a thread, oldest first. */
export const messagesOf = (state: ThreadState | undefined): ThreadMessage[] =>
	state?.values?.messages ?? [];

/** The text of a message. Joins the texts if the content is a list of parts. */
export function textOf(content: unknown) {
	if (typeof content === 'string') return content;
	if (!Array.isArray(content)) return '';
	const texts = content.map((part: unknown) => (isText(part) ? get(part, 'text') : part));
	return texts.filter(isString).join('');
}

/** Splits the content of an assistant's message into Markdown text and other parts, such as images. */
export function parseReply(content: unknown) {
	const parts: unknown[] = Array.isArray(content)
		? content.filter((part) => isJsonObject(part) && !isText(part))
		: [];
	return { output: textOf(content), parts };
}

/** The last reply of the assistant. Skips messages that contain only tool calls. */
export function lastReply(messages: ThreadMessage[]) {
	const last = messages.findLast(
		(one) => senderOf(one) === 'assistant' && !(callsTool(one) && textOf(one.content) === ''),
	);
	return last && parseReply(last.content);
}

const callsTool = ({ tool_calls: calls }: ThreadMessage) =>
	Array.isArray(calls) && calls.length > 0;

/** Whether the last message is a tool call that has no result, e.g. after a person rejected the call. */
export function endsWithCall(messages: ThreadMessage[]) {
	const last = messages.at(-1);
	return last !== undefined && callsTool(last);
}

export const afterLastUserMessage = (messages: ThreadMessage[]): ThreadMessage[] =>
	messages.slice(messages.findLastIndex(isFromUser) + 1);

/**
 * Whether a part is text of the answer. A `text` in a component or in model reasoning does not count.
 * Recorded in `test/recordings/answers-in-parts.json`.
 */
export function isText(part: unknown) {
	const { text, type } = isJsonObject(part) ? part : {};
	return typeof text === 'string' && type !== 'component' && type !== 'reasoning';
}

/* Functions that read and create conversations. They never throw. */

const CONVERSATION_PATH = '/conversations/{id}';

/** Timeout for creating or deleting a conversation, which can be slow. */
const TIMEOUT_MS = 60_000;

/** The state of a thread's conversation on the server. */
export interface ConversationFacts {
	/** Why the conversation could not be read. If set, all other fields are empty or undefined. */
	failure?: Failure;
	/** ID of the oldest conversation on the thread. Undefined if the server lists no conversation. */
	conversationId?: string;
	/** IDs of all conversations on the thread. The most recently updated conversation comes first. */
	conversationIds: string[];
	status?: string;
	/** Why the last run failed or was cancelled. */
	error?: string;
	/** The last run's tasks that wait for a person. */
	tasks: unknown[];
	/** Whether the conversation has tasks, but all are leftovers of a cancelled run (see `openTasks`). */
	isLeftOver?: boolean;
}

/** The answer of the search for conversations (E5). */
const foundConversations = z.object({ items: z.array(conversationRecord.catch({})) });

/**
 * Reads the conversations of a thread (E5). The server lists only conversations of the token's owner.
 *
 * - The state comes from the most recently updated conversation, because runs write to this conversation.
 * - `conversationId` comes from the oldest conversation, so that all executions of this node use the same ID.
 */
export async function readConversation(
	client: ApiClient,
	threadId: string,
): Promise<ConversationFacts> {
	const search = { where: { threadId }, order: { updatedAt: 'DESC' } };
	const { answer, failure } = await searchConversations(client, search);
	if (!answer) return { failure, conversationIds: [], tasks: [] };
	const found = answer.items.filter((one) => one.threadId === threadId);
	// Prefer a conversation with a status. A conversation gets its status from its first run.
	const { status, error, operation } = found.find((one) => one.status) ?? found[0] ?? {};
	return {
		// The ID decides between conversations that were created at the same time.
		conversationId: minBy(found, ({ createdAt = '', id = '' }) => `${createdAt} ${id}`)?.id,
		conversationIds: compact(found.map(({ id }) => id)),
		status,
		error,
		...openTasks(operation?.tasks),
	};
}

async function searchConversations(client: ApiClient, search: object) {
	return await call(client, {
		...SEARCH,
		path: '/conversations/search',
		schema: foundConversations,
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
		path: '/conversations',
		timeoutMs: TIMEOUT_MS,
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
export async function isConversationId(client: ApiClient, id: string) {
	const path = buildPath(CONVERSATION_PATH, { id });
	// For an unknown ID, the server answers with an empty object.
	const schema = z.object({ threadId: z.string().min(1) });
	return (await call(client, { ...READ, path, schema, maxTries: 1 })).ok;
}

/** Deletes a conversation in which nothing has run. Ignores failures, because an empty conversation does no harm. */
export async function deleteConversation({ send }: ApiClient, id: string) {
	const path = buildPath(CONVERSATION_PATH, { id });
	await send({ method: 'DELETE', path, timeoutMs: TIMEOUT_MS, schema: anyAnswer });
}

/** The user who owns a token on one server. */
export interface Owner {
	/**
	 * - `undefined`: the server was not asked yet.
	 * - `null`: the server does not support owners.
	 */
	id?: string | null;
	/** Whether the server listed a conversation of this owner (see `proveOwner`). */
	isProven?: boolean;
}

/** The cached owners of tokens. Call `forgetOwner` after the server rejected the token. */
export const { of: ownerOf, forget: forgetOwner } = cachedByAccount((): Owner => ({}));

/**
 * Asks the server for the owner of the token, and stores the answer in `owner.id`.
 *
 * @returns the failure if the owner could not be determined, e.g. during an outage
 */
export async function learnOwner(client: ApiClient, owner: Owner): Promise<Failure | undefined> {
	const me = { ...READ, apiRoot: '/api', path: '/user/me', schema: user };
	const { answer = null, failure } = await call(client, me);
	if (failure && !(await tellsNobody(client, failure))) return failure;
	owner.id = answer;
	return undefined;
}

/** Keeps only the ID, because the server's answer also contains a password hash. */
const user = z.object({ id: z.string().min(1) }).transform(({ id }) => id);

async function tellsNobody(client: ApiClient, failure: Failure) {
	if (failure.missing === 'route' || [405, 501].includes(failure.status ?? 0)) return true;
	// A server can reject `/user/me` for a valid token. A token is valid if it can search conversations.
	return isTokenRefused(failure) && (await searchConversations(client, { limit: 1 })).ok;
}

/**
 * Checks whether the server supports owners. Reads the conversation that was created for this owner. If the server does
 * not list the conversation, sets `owner.id` to null.
 *
 * @returns the state of the conversation, or an empty object if `owner.isProven` was already true
 */
export async function proveOwner(
	client: ApiClient,
	owner: Owner,
	threadId: string,
): Promise<Partial<ConversationFacts>> {
	if (owner.isProven) return {};
	let facts = await readConversation(client, threadId);
	if (!facts.failure && !facts.conversationId) {
		await client.clock.sleep(FOREIGN_PAUSE_MS, client.signal);
		facts = await readConversation(client, threadId);
	}
	if (facts.conversationId) owner.isProven = true;
	else if (!facts.failure) owner.id = null;
	return facts;
}

/** A message in a conversation. Other runs can overwrite messages on the thread, but not in the conversation. */
const messageRecord = z.object({
	role: z.string(),
	content: z.unknown(),
	createdAt: textIfAny,
	...eachOf(textIfAny.nullish(), 'status', 'error', 'executionId', 'updatedAt'),
});

const foundMessages = z
	.object({ items: z.array(messageRecord.optional().catch(undefined)) })
	.transform(({ items }) => compact(items));

async function searchMessages(client: ApiClient, id: string, search: object) {
	return await call(client, {
		...SEARCH,
		path: buildPath('/conversations/{id}/messages/search', { id }),
		body: JSON.stringify(search),
		schema: foundMessages,
	});
}

/**
 * Finds the stored answer of a run in the conversations of its thread.
 *
 * @param executionId the run ID
 * @returns `message` if found; `failure` if a request failed
 */
export async function findAnswer(
	client: ApiClient,
	{ failure: unread, conversationIds }: Pick<ConversationFacts, 'failure' | 'conversationIds'>,
	executionId: string,
) {
	for (const id of conversationIds) {
		const { answer, failure } = await searchMessages(client, id, { where: { executionId } });
		const message = answer?.findLast(({ role }) => role === 'ai');
		if (failure || message) return { message, failure };
	}
	return { message: undefined, failure: unread };
}

/** Whether no message of a user is newer than a time. False if the messages cannot be read. */
export async function isUnasked(
	client: ApiClient,
	{ failure: unread, conversationIds }: Pick<ConversationFacts, 'failure' | 'conversationIds'>,
	since = '',
) {
	if (unread) return false;
	for (const id of conversationIds) {
		const { answer } = await searchMessages(client, id, { where: { role: 'human' } });
		if (answer?.every(({ createdAt = '' }) => createdAt <= since) !== true) return false;
	}
	return true;
}

/** Reads the newest answers in a conversation. Each answer has the ID of its run as `executionId`. */
export async function newestAnswers(client: ApiClient, conversationId: string, limit: number) {
	const search = { where: { role: 'ai' }, order: { createdAt: 'DESC' }, limit };
	return await searchMessages(client, conversationId, search);
}
