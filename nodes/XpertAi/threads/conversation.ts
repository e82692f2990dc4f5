import compact from 'lodash/compact';
import get from 'lodash/get';
import minBy from 'lodash/minBy';
import partition from 'lodash/partition';
import startsWith from 'lodash/startsWith';
import { z } from 'zod';

import { textIfAny } from '../payloads/common';
import { conversationRecord } from '../payloads/conversation';
import { anyAnswer } from '../transport/answer';
import { buildPath } from '../transport/api';
import { FOREIGN_ANSWER_PAUSE_MS, call, type ApiClient } from '../transport/call';
import { isTokenRefused } from '../transport/classifyFailure';
import type { Failure } from '../transport/failure';

/* The routes of conversations and of their messages. None of these functions throws. */

const SEARCH_PATH = '/conversations/search';
const CONVERSATION_PATH = '/conversations/{id}';

/** Creating may take long, and so may deleting. */
const TIMEOUT_MS = 60_000;

/** The conversation of a thread, as the server shows it. */
export interface ConversationFacts {
	/** Why the server did not answer; the other fields are empty then. */
	failure?: Failure;
	/** The oldest conversation on the thread; undefined if no conversation of the token's owner has it. */
	conversationId?: string;
	/** All conversations on the thread, the last updated first. Runs write to the newest one. */
	conversationIds: string[];
	status?: string;
	/** Why the last run failed. */
	error?: string;
	/** The tasks of its run that wait for a person. */
	tasks: unknown[];
	/** Whether its run ended with nothing but a task that waits for nobody. */
	isLeftOver?: boolean;
}

/** E5 never answers with a bare list; an empty one would hide a conversation. */
const foundConversations = z.object({ items: z.array(conversationRecord.catch({})) });

/**
 * Looks up the conversation of a thread (E5), which has the error of its last run and the tasks that wait for a person.
 * The server lists only conversations of the token's owner. If there are several on the thread, runs change the newest;
 * all executions agree on the oldest.
 */
export async function readConversation(
	client: ApiClient,
	threadId: string,
): Promise<ConversationFacts> {
	const search = { where: { threadId }, order: { updatedAt: 'DESC' } };
	const { answer, failure } = await searchConversations(client, search);
	if (!answer) return { failure, conversationIds: [], tasks: [] };
	const found = answer.items.filter((one) => one.threadId === threadId);
	// The newest conversation may never have run.
	const { status, error, operation } = found.find((one) => one.status) ?? found[0] ?? {};
	return {
		// With equal times, the smallest ID counts.
		conversationId: minBy(found, ({ createdAt = '', id = '' }) => `${createdAt} ${id}`)?.id,
		conversationIds: compact(found.map(({ id }) => id)),
		status,
		error: errorText(error),
		...openTasks(operation?.tasks),
	};
}

async function searchConversations(client: ApiClient, search: object) {
	return await call(client, {
		method: 'POST',
		repeatable: true,
		path: SEARCH_PATH,
		schema: foundConversations,
		body: JSON.stringify(search),
	});
}

/**
 * Tells the tasks that wait for a person from the task `__start__`, which is left over where another run of the
 * conversation was cancelled (recorded, `one-key-cancel-ends-both`). After changed arguments, tasks that wait have no
 * call (recorded, `decisions`).
 */
export function openTasks(all: unknown[] = []): { tasks: unknown[]; isLeftOver: boolean } {
	const [leftOver, tasks] = partition(
		all,
		(task) => get(task, 'name') === '__start__' && startsWith(get(task, 'path.0'), '__pregel_pull'),
	);
	return { tasks, isLeftOver: leftOver.length > 0 && tasks.length === 0 };
}

/** Whether tasks wait for a decision. Those of a run that was cancelled meanwhile are left over (recorded). */
export function waitsForPerson({ tasks, error }: { tasks: unknown[]; error?: unknown }): boolean {
	return tasks.length > 0 && !error;
}

/** Reads one value of each waiting task, such as its `id`, which it keeps until it is decided (recorded). */
export function taskValues(path: 'id' | 'name' | 'call.id', tasks: unknown[] = []): unknown[] {
	return tasks.map((task) => get(task, path) as unknown);
}

const waitingTask = z
	.object({
		name: textIfAny,
		info: z.object({ title: textIfAny, description: textIfAny }).catch({}),
		call: z.object({ id: textIfAny, name: textIfAny, args: z.unknown() }).catch({}),
	})
	.catch({ info: {}, call: {} });

/**
 * What a waiting task asks a person, with the call that it wants to make. After changed arguments, it has no call.
 * n8n's expressions refuse to read a field called `arguments`.
 */
export function requestOf(task: unknown) {
	const { name, info, call } = waitingTask.parse(task);
	const title = info.title ?? name ?? '';
	const isDescribed = info.description && info.description !== title;
	const question = isDescribed ? `${title} (${info.description})` : title;
	return { question, tool: call.name ?? name, args: call.args, callId: call.id };
}

/** The error of a conversation as text. */
export function errorText(error: unknown): string | undefined {
	if (!error) return undefined;
	return typeof error === 'string' ? error : JSON.stringify(error);
}

/** A conversation to create. With an ID and its owner it can be created again: there is one (recorded). */
interface NewConversation {
	threadId: string;
	title?: string;
	id?: string;
	createdById?: string;
}

/** Creates a conversation (E13). @returns its ID */
export async function createConversation(client: ApiClient, conversation: NewConversation) {
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

/** Whether an ID is that of a conversation. */
export async function isConversationId(client: ApiClient, id: string): Promise<boolean> {
	const path = buildPath(CONVERSATION_PATH, { id });
	const schema = z.object({ threadId: z.string().min(1) });
	return (await call(client, { method: 'GET', repeatable: true, path, schema, maxTries: 1 })).ok;
}

/** Deletes a conversation in which nothing has run. */
export async function deleteConversation({ send }: ApiClient, id: string): Promise<void> {
	const path = buildPath(CONVERSATION_PATH, { id });
	await send({ method: 'DELETE', path, timeoutMs: TIMEOUT_MS, schema: anyAnswer });
}

/** What is known of the person that a key belongs to, on one server. */
export interface Owner {
	/** `undefined` until the server was asked, `null` if it tells nobody. */
	id?: string | null;
	/** Whether E5 has shown a conversation that was created with this owner. */
	isProven?: boolean;
}

/** Accounts that are remembered; beyond that, the oldest is asked for again. */
const MAX_OWNERS = 1_000;

const owners = new Map<string, Owner>();

/** What this process knows of the owner of an account. @param account stands for a server and a token */
export function ownerOf(account: string): Owner {
	const owner = owners.get(account) ?? {};
	owners.set(account, owner);
	const [oldest] = owners.keys();
	if (owners.size > MAX_OWNERS && oldest) owners.delete(oldest);
	return owner;
}

/** Forgets the owner of an account whose key is refused: another may take its place. */
export function forgetOwner(account: string): void {
	owners.delete(account);
}

/** Asks for the owner. @returns why the server did not say: an outage does not mean that it tells nobody */
export async function learnOwner(client: ApiClient, owner: Owner): Promise<Failure | undefined> {
	const me = { method: 'GET', apiRoot: '/api', path: '/user/me', schema: user } as const;
	const { answer = null, failure } = await call(client, { ...me, repeatable: true });
	if (failure && !(await tellsNobody(client, failure))) return failure;
	owner.id = answer;
	return undefined;
}

/** Of the answer only the ID is read: it also holds a password hash (recorded, `conversation-by-id`). */
const user = z.object({ id: z.string().min(1) }).transform(({ id }) => id);

async function tellsNobody(client: ApiClient, failure: Failure): Promise<boolean> {
	if (failure.missing === 'route' || [405, 501].includes(failure.status ?? 0)) return true;
	// A key that may search its conversations is valid.
	return isTokenRefused(failure) && (await searchConversations(client, { limit: 1 })).ok;
}

/**
 * Looks whether E5 shows what was created with the owner: otherwise this server, or a gateway before it, does not take
 * the owner, and there is none. @returns what E5 shows
 */
export async function proveOwner(
	client: ApiClient,
	owner: Owner,
	threadId: string,
): Promise<Partial<ConversationFacts>> {
	if (owner.isProven) return {};
	let facts = await readConversation(client, threadId);
	if (!facts.failure && !facts.conversationId) {
		await client.clock.sleep(FOREIGN_ANSWER_PAUSE_MS, client.signal);
		facts = await readConversation(client, threadId);
	}
	if (facts.conversationId) owner.isProven = true;
	else if (!facts.failure) owner.id = null;
	return facts;
}

const messageRecord = z.object({
	id: z.string().optional(),
	role: z.string(),
	content: z.unknown(),
	createdAt: textIfAny,
	executionId: textIfAny.nullish(),
	status: textIfAny.nullish(),
	error: textIfAny.nullish(),
});

/** A message as a conversation stores it, even if another run has overwritten it on the thread. */
export type MessageRecord = z.infer<typeof messageRecord>;

const foundMessages = z
	.object({ items: z.array(messageRecord.optional().catch(undefined)) })
	.transform(({ items }) => compact(items));

/** Searches the messages of a conversation. */
export async function findMessages(client: ApiClient, conversationId: string, where: object) {
	return await call(client, {
		method: 'POST',
		repeatable: true,
		path: buildPath('/conversations/{conversationId}/messages/search', { conversationId }),
		body: JSON.stringify({ where }),
		schema: foundMessages,
	});
}

/** The answer that a run has stored, in whichever of these conversations. */
export async function findAnswer(
	client: ApiClient,
	conversationIds: string[],
	executionId: string,
): Promise<{ message?: MessageRecord; failure?: Failure }> {
	for (const id of conversationIds) {
		const { answer = [], failure } = await findMessages(client, id, { executionId });
		const message = answer.findLast(({ role }) => role === 'ai');
		if (failure || message) return { message, failure };
	}
	return {};
}
