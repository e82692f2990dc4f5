import compact from 'lodash/compact';
import get from 'lodash/get';
import minBy from 'lodash/minBy';

import { conversationRecord } from '../payloads/conversation';
import type { ConversationRecord } from '../payloads/conversation';
import { answerWithList, listIn } from '../transport/answer';
import type { Failure } from '../transport/failure';
import { retrying } from './thread';
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
	/** Those of several in which nothing has run. */
	unused?: string[];
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
	asking: Asking,
	threadId: string,
): Promise<ConversationFacts> {
	const outcome = await retrying(asking)({
		method: 'POST',
		path: '/conversations/search',
		body: JSON.stringify({ where: { threadId }, order: { updatedAt: 'DESC' } }),
		timeoutMs: READ_TIMEOUT_MS,
		// A bare list is no answer of E5: taken for one, an empty one would hide a conversation.
		checkAnswer: answerWithList('items'),
	});
	if (!outcome.ok) return { failure: outcome.failure, tasks: [] };
	const items = listIn(outcome.answer, 'items') as unknown[];
	const found = items
		.flatMap((item) => conversationRecord.safeParse(item).data ?? [])
		.filter((one) => one.threadId === threadId);
	// One that was made last and has never run says nothing of the runs.
	const { status, error, operation } = found.find((one) => one.status) ?? found[0] ?? {};
	// Of those of one moment, the one with the smallest id.
	const id = minBy(found, ({ createdAt = '', id = '' }) => `${createdAt} ${id}`)?.id;
	const idle = found.filter((one) => !one.status);
	return {
		tasks: operation?.tasks ?? [],
		...(id ? { conversationId: id, conversationIds: idsOf(found) } : {}),
		...(found.length > 1 ? { unused: idsOf(idle) } : {}),
		...(status ? { status } : {}),
		...(error ? { error: reasonIn(error) } : {}),
	};
}

const idsOf = (conversations: ConversationRecord[]) => compact(conversations.map(({ id }) => id));

/** What each task that waits for a person has there, such as its `id`, which it keeps until it is decided (recorded). */
export function eachTasks(path: 'id' | 'name' | 'call.id', tasks: unknown[] = []): unknown[] {
	return tasks.map((task) => get(task, path) as unknown);
}

/** Why the last run of a conversation failed, as its record has it. */
export function reasonIn(error: unknown): string | undefined {
	if (!error) return undefined;
	return typeof error === 'string' ? error : JSON.stringify(error);
}
