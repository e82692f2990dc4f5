import { threadState } from '../payloads/run';
import type { ThreadState } from '../payloads/run';
import { answerMustBe, isJsonObject } from '../transport/answer';
import type { Failure } from '../transport/failure';
import { buildPath } from '../transport/api';
import type { Send } from '../transport/request';

const READ_TIMEOUT_MS = 30_000;

/** What E15 must answer. */
export const threadAnswer = answerMustBe(isJsonObject, 'it is not a thread');

/** The state of a thread, or why it could not be read. */
export type ThreadReading = { state: ThreadState } | { failure: Failure };

/** Reads a thread (E15). */
export async function readThread(send: Send, threadId: string): Promise<ThreadReading> {
	const outcome = await send({
		method: 'GET',
		path: buildPath('/threads/{threadId}', { threadId }),
		timeoutMs: READ_TIMEOUT_MS,
		checkAnswer: threadAnswer,
	});
	if (!outcome.ok) return { failure: outcome.failure };
	return { state: threadState.parse(outcome.answer) };
}

/** The id of the conversation a thread belongs to, which Xpert names in the thread (recorded, E15). */
export function conversationOf(state: ThreadState | undefined): string | undefined {
	return state?.metadata?.id;
}
