import compact from 'lodash/compact';
import get from 'lodash/get';
import minBy from 'lodash/minBy';

import { conversationRecord } from '../payloads/conversation';
import type { ConversationRecord } from '../payloads/conversation';
import { answerWithList, listIn } from '../transport/answer';
import type { Failure } from '../transport/failure';
import { withRetries } from './thread';
import type { ApiClient } from './thread';

const READ_TIMEOUT_MS = 30_000;

/** The conversation of a thread, as the server shows it. */
export interface ConversationFacts {
	/** Why the server did not answer; the other fields are empty then. */
	failure?: Failure;
	/** The oldest conversation on the thread; undefined if no conversation of the token's owner has it. */
	conversationId?: string;
	/** All conversations on the thread, the last updated first. Runs write to the newest one. */
	conversationIds?: string[];
	/** If there are several: those in which nothing has run. */
	unused?: string[];
	status?: string;
	/** Why the last run failed. */
	error?: string;
	/** The tasks of its run that wait for a person. */
	tasks: unknown[];
}

/**
 * Looks up the conversation of a thread (E5), which has the error of its last run and the tasks that wait for a person.
 * The server lists only conversations of the token's owner. If there are several on the thread, runs change the newest;
 * all executions agree on the oldest.
 */
export async function readConversation(
	client: ApiClient,
	threadId: string,
): Promise<ConversationFacts> {
	const outcome = await withRetries(client)({
		method: 'POST',
		path: '/conversations/search',
		body: JSON.stringify({ where: { threadId }, order: { updatedAt: 'DESC' } }),
		timeoutMs: READ_TIMEOUT_MS,
		// E5 never answers with a bare list; an empty one would hide a conversation.
		checkAnswer: answerWithList('items'),
	});
	if (!outcome.ok) return { failure: outcome.failure, tasks: [] };
	const items = listIn(outcome.answer, 'items') as unknown[];
	const found = items
		.flatMap((item) => conversationRecord.safeParse(item).data ?? [])
		.filter((one) => one.threadId === threadId);
	// The newest conversation may never have run.
	const { status, error, operation } = found.find((one) => one.status) ?? found[0] ?? {};
	// With equal times, the smallest ID counts.
	const id = minBy(found, ({ createdAt = '', id = '' }) => `${createdAt} ${id}`)?.id;
	const unused = found.filter((one) => !one.status);
	return {
		tasks: operation?.tasks ?? [],
		...(id ? { conversationId: id, conversationIds: idsOf(found) } : {}),
		...(found.length > 1 ? { unused: idsOf(unused) } : {}),
		...(status ? { status } : {}),
		...(error ? { error: errorText(error) } : {}),
	};
}

const idsOf = (conversations: ConversationRecord[]) => compact(conversations.map(({ id }) => id));

/** Reads one value of each waiting task, such as its `id`, which it keeps until it is decided (recorded). */
export function taskValues(path: 'id' | 'name' | 'call.id', tasks: unknown[] = []): unknown[] {
	return tasks.map((task) => get(task, path) as unknown);
}

/** The error of a conversation as text. */
export function errorText(error: unknown): string | undefined {
	if (!error) return undefined;
	return typeof error === 'string' ? error : JSON.stringify(error);
}
