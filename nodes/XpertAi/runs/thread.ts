import { threadState } from '../payloads/run';
import type { ThreadState } from '../payloads/run';
import { answerThat, isJsonObject } from '../transport/answer';
import type { Failure } from '../transport/failure';
import { buildPath } from '../transport/request';
import type { Send } from '../transport/request';

const READ_TIMEOUT_MS = 30_000;

/** What E15 must answer. */
export const aThread = answerThat(isJsonObject, 'it is not a thread');

/** The state of a thread, or why it could not be read. */
export type ThreadReading = { state: ThreadState } | { failure: Failure };

/** Reads a thread (E15). */
export async function readThread(send: Send, threadId: string): Promise<ThreadReading> {
	const outcome = await send({
		method: 'GET',
		path: buildPath('/threads/{threadId}', { threadId }),
		timeoutMs: READ_TIMEOUT_MS,
		flawIn: aThread,
	});
	if (!outcome.ok) return { failure: outcome.failure };
	const parsed = threadState.safeParse(outcome.answer);
	return { state: parsed.success ? parsed.data : {} };
}

/** A conversation, as far as a run needs it. */
export interface ConversationFacts {
	conversationId?: string;
	/** Why the last run on it failed, if it did. */
	error?: string;
}

/** Looks up the conversation of a thread (E5), where failed runs leave their reason. */
export async function readConversation(send: Send, threadId: string): Promise<ConversationFacts> {
	const outcome = await send({
		method: 'POST',
		path: '/conversations/search',
		body: JSON.stringify({ where: { threadId }, limit: 1 }),
		timeoutMs: READ_TIMEOUT_MS,
	});
	const answer = outcome.ok ? outcome.answer : undefined;
	const items: unknown = isJsonObject(answer) ? answer.items : undefined;
	const found: unknown = Array.isArray(items) ? items[0] : undefined;
	if (!isJsonObject(found)) return {};
	const { id, error } = found;
	return {
		...(typeof id === 'string' ? { conversationId: id } : {}),
		...(error ? { error: typeof error === 'string' ? error : JSON.stringify(error) } : {}),
	};
}
