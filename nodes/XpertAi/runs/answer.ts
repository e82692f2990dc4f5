import { isJsonObject, parseAnswer } from '../transport/answer';
import { threadState } from '../payloads/run';
import { afterLastPerson, lastReply, messagesOf, replyIn } from './messages';
import type { Reply } from './messages';

/** What the answer of E4 says by itself. */
export type AnswerReading =
	| ({ kind: 'reply' } & Reply)
	| { kind: 'failed'; reason: string }
	| { kind: 'interrupted'; interrupt: unknown[] };

/**
 * Reads the answer of E4 by its content: `{role, content}` from Xpert; the state of the thread,
 * `__error__` or `__interrupt__` from other servers of this protocol (service behaviour, E4).
 */
export function readRunAnswer(answer: unknown): AnswerReading {
	if (!isJsonObject(answer))
		return { kind: 'reply', ...replyIn(typeof answer === 'string' ? answer : '') };
	if (answer.__error__ !== undefined)
		return { kind: 'failed', reason: errorReason(answer.__error__) };
	if (Array.isArray(answer.__interrupt__) && answer.__interrupt__.length > 0) {
		return { kind: 'interrupted', interrupt: answer.__interrupt__ };
	}
	if (answer.content !== undefined) return { kind: 'reply', ...replyIn(answer.content) };
	const messages = messagesOf(threadState.parse({ values: answer }));
	// What stands before our message is no answer to it.
	return { kind: 'reply', ...(lastReply(afterLastPerson(messages)) ?? replyIn('')) };
}

const NO_REASON = 'the server gave no reason';

/** The reason in an `__error__`, whose message may itself be JSON with the reason inside. */
export function errorReason(error: unknown): string {
	if (!isJsonObject(error)) return typeof error === 'string' && error !== '' ? error : NO_REASON;
	const { message, error: name } = error;
	const inner = typeof message === 'string' ? parseAnswer(message) : message;
	if (isJsonObject(inner)) {
		const nested = isJsonObject(inner.error) ? inner.error.message : inner.message;
		if (typeof nested === 'string') return nested;
	}
	if (typeof message === 'string' && message !== '') return message;
	return typeof name === 'string' ? name : NO_REASON;
}
