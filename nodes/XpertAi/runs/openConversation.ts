import { randomUUID } from 'crypto';
import { z } from 'zod';

import { derivedId } from '../payloads/derivedId';
import { readConversation } from '../threads/conversation';
import { readThreadWithRetries } from '../threads/thread';
import type { Asking } from '../threads/thread';
import { answerMustBe, answerWith } from '../transport/answer';
import { buildPath } from '../transport/api';
import type { Failure } from '../transport/failure';
import { mayMeanNoRecord } from '../transport/classifyFailure';
import { PASSING_PAUSE_MS, SINGLE_REQUEST_LIMITS } from '../transport/retryPolicy';
import { sendWithRetries } from '../transport/sendWithRetries';
import { failed } from './result';
import type { RunResult } from './result';

/** How often a conversation is asked for again when it cannot be told whether it was made. */
const CREATE_TRIES = 3;

/** Threads that are tried for one key: so many people may use it, each with a credential of their own. */
export const MOST_PEOPLE = 20;

/** A thread to run, and the conversation it belongs to where that is known. */
export interface ThreadFacts {
	threadId: string;
	conversationId?: string;
	runId?: string;
}

/**
 * Makes a conversation on a thread of the caller's choice (E13). When the answer is lost, it is looked
 * for before it is asked for again, so that there are never two. No `id` is sent: a conversation with
 * an id of the caller's choice is never found again.
 *
 * @param body what E13 takes beside the thread, e.g. a title
 * @returns the thread and its conversation, or why there is none
 */
export async function createConversation(
	asking: Asking,
	threadId: string,
	body: Record<string, unknown>,
	timeoutMs: number,
): Promise<ThreadFacts | { failure: Failure }> {
	const made = z.object({ id: z.string().min(1), threadId: z.literal(threadId) });
	for (let tries = 1; ; tries++) {
		const { outcome, mayBeDone } = await sendWithRetries(asking.send, {
			request: {
				method: 'POST',
				path: '/conversations',
				body: JSON.stringify({ ...body, threadId }),
				timeoutMs,
				checkAnswer: answerMustBe(
					(answer) => made.safeParse(answer).success,
					'it is not a conversation on the thread that was asked for',
				),
			},
			limits: SINGLE_REQUEST_LIMITS,
			repeatable: false,
			clock: asking.clock,
			signal: asking.signal,
		});
		if (outcome.ok) return { threadId, conversationId: made.safeParse(outcome.answer).data?.id };
		const { failure } = outcome;
		if (!mayBeDone) return { failure };
		const { failure: unknown, conversationId } = await readConversation(asking, threadId);
		if (conversationId) return { threadId, conversationId };
		if (unknown || tries >= CREATE_TRIES || asking.signal?.aborted) return { failure };
	}
}

/**
 * The conversation on a thread whose id is derived from a key: the one that is there, else a new one.
 * Where the thread is another person's, who uses the same key with a credential of their own, it is that
 * on the next thread derived from it, and so on: the same one every time. Nothing is made where it cannot
 * be told whose a thread is.
 *
 * @param body what E13 takes beside the thread, e.g. a title
 * @returns undefined where each of the threads that are tried is somebody else's
 */
export async function openConversation(
	asking: Asking,
	threadId: string,
	body: Record<string, unknown>,
	timeoutMs: number,
): Promise<ThreadFacts | { failure: Failure } | undefined> {
	let own = threadId;
	for (let people = 0; people < MOST_PEOPLE; people++, own = derivedId(own, NEXT_PERSON)) {
		const found = await findConversation(asking, own);
		if (found) return found;
		const existence = await readExistence(asking, own);
		if ('failure' in existence) return existence;
		if (!existence.isThere) return await startConversation(asking, own, body, timeoutMs);
		// Another message under this key may have made it since it was looked for.
		const made = await findConversation(asking, own);
		if (made) return made;
	}
	return undefined;
}

/** The conversation that is there on a thread, or why that is not known. */
async function findConversation(
	asking: Asking,
	threadId: string,
): Promise<ThreadFacts | { failure: Failure } | undefined> {
	const { failure, conversationId } = await readConversation(asking, threadId);
	if (failure) return { failure };
	return conversationId ? { threadId, conversationId } : undefined;
}

/** What the thread of the next person is derived from, with that of the one before. */
const NEXT_PERSON = 'next person';

/**
 * Makes the conversation. Where somebody else of the same owner has made one at the same moment, the older counts, and
 * ours is taken off the thread: runs would be divided between the two (recorded, one-thread-status-null).
 */
async function startConversation(
	asking: Asking,
	threadId: string,
	body: Record<string, unknown>,
	timeoutMs: number,
): Promise<ThreadFacts | { failure: Failure }> {
	const made = await createConversation(asking, threadId, body, timeoutMs);
	if ('failure' in made) return made;
	const { conversationId, unused = [] } = await readConversation(asking, threadId);
	if (!conversationId) return made;
	const own = made.conversationId;
	// With messages, it would take these along.
	if (own !== undefined && own !== conversationId && unused.includes(own))
		await asking.send({
			method: 'PATCH',
			path: buildPath(CONVERSATION_PATH, { id: own }),
			body: JSON.stringify({ threadId: randomUUID() }),
			timeoutMs,
		});
	return { threadId, conversationId };
}

export const CONVERSATION_PATH = '/conversations/{id}';

const READ_TIMEOUT_MS = 30_000;

/**
 * Why a thread takes no run: nobody knows it, or its ID is that of a conversation.
 *
 * @param otherwise the result where neither is so
 */
export async function whyUnreadable(
	asking: Asking,
	threadId: string,
	otherwise: RunResult,
): Promise<RunResult> {
	const { failure, conversationId } = await readConversation(asking, threadId);
	if (failure) return otherwise.failure ? otherwise : failed(failure);
	if (conversationId) return { ...otherwise, conversationId };
	const { ok: isConversation } = await asking.send({
		method: 'GET',
		path: buildPath(CONVERSATION_PATH, { id: threadId }),
		timeoutMs: READ_TIMEOUT_MS,
		checkAnswer: answerWith('threadId'),
	});
	const reason = isConversation
		? '"Thread" holds the ID of a conversation, not that of its thread'
		: 'There is no conversation with this thread';
	const advice =
		'Check "Thread": it takes the threadId that Conversation: Create or an earlier run gave, of the same token.';
	return failed(otherwise.failure, reason, advice);
}

/** A refusal of a run; what the server does not explain may be a thread that nobody knows. */
export async function refused(
	asking: Asking & { isNew?: boolean; threadId: string },
	failure: Failure,
): Promise<RunResult> {
	if (asking.isNew || failure.status !== 500) return failed(failure);
	return await whyUnreadable(asking, asking.threadId, failed(failure));
}

/**
 * Whether a thread is there, whoever it belongs to; what it says is not looked at. One that has never run
 * cannot be told from none. That it is not there is asked twice: taken for nobody's, it would be shared.
 */
async function readExistence(
	asking: Asking,
	threadId: string,
): Promise<{ isThere: boolean } | { failure: Failure }> {
	for (let isAgain = false; ; isAgain = true) {
		const reading = await readThreadWithRetries(asking, threadId);
		if ('state' in reading) return { isThere: true };
		if (!mayMeanNoRecord(reading.failure)) return reading;
		if (isAgain) return { isThere: false };
		await asking.clock.sleep(PASSING_PAUSE_MS, asking.signal);
	}
}
