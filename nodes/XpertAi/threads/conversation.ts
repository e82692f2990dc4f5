import compact from 'lodash/compact';
import minBy from 'lodash/minBy';

import { conversationRecord } from '../payloads/conversation';
import type { ConversationRecord } from '../payloads/conversation';
import { answerWithList, listIn } from '../transport/answer';
import type { Failure } from '../transport/failure';
import { SINGLE_REQUEST_LIMITS } from '../transport/retryPolicy';
import { sendWithRetries } from '../transport/sendWithRetries';
import type { Asking } from './thread';

const READ_TIMEOUT_MS = 30_000;

/** What the server tells of the conversation a thread belongs to. */
export interface ConversationFacts {
	/** Why the server did not answer; nothing else is known then. */
	failure?: Failure;
	/** The oldest where there are several; none when no conversation of the token's owner has the thread. */
	conversationId?: string;
	/** Where its runs write, which is in the newest; the one that changed last comes first. */
	conversationIds?: string[];
	status?: string;
	/** Why its last run failed, if it did. */
	error?: string;
	/** What its run waits for a person to decide. */
	tasks: unknown[];
}

/**
 * Looks up the conversation of a thread (E5), where runs leave the reason of a failure and what they
 * ask a person. The server lists only those of the token's owner. Of several on one thread, runs change
 * the newest; the oldest is the one that every execution can agree on.
 */
export async function readConversation(
	{ send, clock, signal }: Asking,
	threadId: string,
): Promise<ConversationFacts> {
	const { outcome } = await sendWithRetries(send, {
		request: {
			method: 'POST',
			path: '/conversations/search',
			body: JSON.stringify({ where: { threadId }, order: { updatedAt: 'DESC' } }),
			timeoutMs: READ_TIMEOUT_MS,
			// A bare list is no answer of E5: taken for one, an empty one would hide a conversation.
			checkAnswer: answerWithList('items'),
		},
		limits: SINGLE_REQUEST_LIMITS,
		repeatable: true,
		clock,
		signal,
	});
	if (!outcome.ok) return { failure: outcome.failure, tasks: [] };
	const items = listIn(outcome.answer, 'items') as unknown[];
	const found = items
		.flatMap((item) => conversationRecord.safeParse(item).data ?? [])
		.filter((one) => one.threadId === threadId);
	const [latest] = found;
	const { status, error, operation } = latest ?? {};
	const id = oldestOf(found)?.id;
	return {
		tasks: operation?.tasks ?? [],
		...(id ? { conversationId: id, conversationIds: compact(found.map((one) => one.id)) } : {}),
		...(status ? { status } : {}),
		...(error ? { error: reasonIn(error) } : {}),
	};
}

/** The one that was made first; of those of one moment, that with the smallest id. */
function oldestOf(conversations: ConversationRecord[]): ConversationRecord | undefined {
	return minBy(conversations, ({ createdAt = '', id = '' }) => `${createdAt} ${id}`);
}

/** Why the last run of a conversation failed, as its record has it. */
export function reasonIn(error: unknown): string | undefined {
	if (!error) return undefined;
	return typeof error === 'string' ? error : JSON.stringify(error);
}
