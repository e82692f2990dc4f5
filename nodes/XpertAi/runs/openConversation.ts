import { randomUUID } from 'crypto';
import { z } from 'zod';

import { derivedId } from '../payloads/derivedId';
import { callApi, readConversation, readThread } from '../threads/thread';
import type { ApiClient, Result, ThreadState } from '../threads/thread';
import { buildPath } from '../transport/api';
import type { Failure } from '../transport/failure';
import { mayMeanNoRecord } from '../transport/classifyFailure';
import { FOREIGN_ANSWER_PAUSE_MS } from '../transport/sendWithRetries';
import { failed } from './run';
import type { Run, RunResult } from './run';

const TIMEOUT_MS = 60_000;

/** How often E13 is sent when its outcome is unknown. */
const CREATE_TRIES = 3;

/** How many owners may use the same key, each with a credential of their own: one derived thread is tried for each. */
export const MAX_OWNERS = 20;

/** A thread and, if known, its conversation. */
export interface ThreadIds {
	threadId: string;
	conversationId?: string;
}

/** The thread of a conversation, or why there is none. */
type Opened = ThreadIds | { failure: Failure };

/**
 * Creates a conversation on the given thread (E13). If the answer is lost, searches for the conversation before it
 * sends again, so that there are never two. Sends no `id`: the server would never find that conversation.
 *
 * @returns the thread and its conversation, or the failure
 */
export async function createConversation(
	client: ApiClient,
	threadId: string,
	title?: string,
): Promise<Opened> {
	for (let tries = 1; ; tries++) {
		const created = await callApi(client, {
			...{ method: 'POST', path: '/conversations', timeoutMs: TIMEOUT_MS, repeatable: false },
			body: JSON.stringify({ title, threadId }),
			schema: z.object({ id: z.string().min(1), threadId: z.literal(threadId) }),
			flaw: 'it is not a conversation on the thread that was asked for',
		});
		if (created.ok) return { threadId, conversationId: created.answer.id };
		const { failure, mayBeDone } = created;
		if (!mayBeDone) return { failure };
		const { failure: searchFailure, conversationId } = await readConversation(client, threadId);
		if (conversationId) return { threadId, conversationId };
		if (searchFailure || tries >= CREATE_TRIES || client.signal?.aborted) return { failure };
	}
}

/**
 * Returns the conversation on a thread whose ID is derived from a key, or creates it. If the thread belongs to another
 * owner, who uses the same key with another credential, tries the next derived thread; every execution reaches the same
 * one. Creates nothing if the owner of a thread cannot be determined.
 *
 * @returns undefined if all derived threads belong to other owners
 */
export async function openConversation(
	client: ApiClient,
	threadId: string,
	title?: string,
): Promise<Opened | undefined> {
	let candidate = threadId;
	for (let tries = 0; tries < MAX_OWNERS; tries++, candidate = derivedId(candidate, NEXT_OWNER)) {
		let { failure, conversationId } = await readConversation(client, candidate);
		if (!failure && !conversationId) {
			const { failure: unread } = await readTwice(client, candidate);
			if (unread && mayMeanNoRecord(unread)) return await createIfFirst(client, candidate, title);
			if (unread) return { failure: unread };
			// Another message with this key may have created it since the first search.
			({ failure, conversationId } = await readConversation(client, candidate));
		}
		if (failure) return { failure };
		if (conversationId) return { threadId: candidate, conversationId };
	}
	return undefined;
}

/** Combined with a thread ID to derive the thread of the next owner. */
const NEXT_OWNER = 'next person';

/**
 * Creates the conversation. If the same owner created another one at the same moment, the older one wins and the new
 * one moves to another thread: the server would divide the runs between the two (recorded, one-thread-status-null).
 */
async function createIfFirst(client: ApiClient, threadId: string, title?: string): Promise<Opened> {
	const created = await createConversation(client, threadId, title);
	if ('failure' in created) return created;
	const { conversationId, unused } = await readConversation(client, threadId);
	if (!conversationId) return created;
	const own = created.conversationId;
	// A conversation with messages would take them along.
	if (own !== undefined && own !== conversationId && unused.includes(own))
		await client.send({
			method: 'PATCH',
			path: buildPath(CONVERSATION_PATH, { id: own }),
			body: JSON.stringify({ threadId: randomUUID() }),
			timeoutMs: TIMEOUT_MS,
		});
	return { threadId, conversationId };
}

export const CONVERSATION_PATH = '/conversations/{id}';

/**
 * Explains why a thread cannot be run: it is unknown, or its ID is the ID of a conversation.
 *
 * @param otherwise the result if neither applies
 */
export async function explainUnreadable(run: Run, otherwise: RunResult): Promise<RunResult> {
	const { failure, conversationId } = await readConversation(run, run.threadId);
	if (failure) return otherwise.failure ? otherwise : { status: 'failed', failure };
	if (conversationId) return { ...otherwise, conversationId };
	const { ok: isConversation } = await callApi(run, {
		...{ method: 'GET', path: buildPath(CONVERSATION_PATH, { id: run.threadId }), maxTries: 1 },
		...{ schema: z.object({ threadId: z.string().min(1) }), flaw: 'it holds no threadId' },
	});
	const reason = isConversation
		? '"Thread" holds the ID of a conversation, not that of its thread'
		: 'There is no conversation with this thread';
	const advice =
		'Check "Thread": it takes the threadId that Conversation: Create or an earlier run gave, of the same token.';
	return failed(reason, advice, otherwise.failure);
}

/** The result of a refused run. A 500 without a reason may mean an unknown thread. */
export async function explainRefusal(run: Run, failure: Failure): Promise<RunResult> {
	const refused: RunResult = { status: 'failed', failure };
	return run.isNew || failure.status !== 500 ? refused : await explainUnreadable(run, refused);
}

/** Reads a thread. One that seems missing is read again, as two owners would otherwise share it. */
async function readTwice(client: ApiClient, threadId: string): Promise<Result<ThreadState>> {
	const first = await readThread(client, threadId);
	if (first.ok || !mayMeanNoRecord(first.failure)) return first;
	await client.clock.sleep(FOREIGN_ANSWER_PAUSE_MS, client.signal);
	return await readThread(client, threadId);
}
