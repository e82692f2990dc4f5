import type { IDataObject } from 'n8n-workflow';

import { threadState } from '../../payloads/run';
import type { ThreadMessage } from '../../payloads/run';
import { isFromAssistant, isFromPerson, messagesOf, textOf } from '../../runs/messages';
import { aThread } from '../../runs/thread';
import type { DeclaredOperation } from '../operation';
import { idField } from '../shared/fields';

export const get: DeclaredOperation = {
	value: 'get',
	name: 'Get',
	action: 'Get a thread',
	description: 'Get the status and the messages of a thread that has run at least once',
	endpoint: 'E15',
	method: 'GET',
	path: '/threads/{threadId}',
	fields: [idField('threadId', 'The thread to read')],
	repeatable: true,
	flawIn: aThread,
	simplify: threadSummary,
};

/** The status of a thread and its last message; an answer of another shape stays as it is. */
function threadSummary(answer: IDataObject): IDataObject {
	const parsed = threadState.safeParse(answer);
	if (!parsed.success || parsed.data.status === undefined) return answer;
	const { thread_id: threadId, status } = parsed.data;
	const messages = messagesOf(parsed.data);
	const last = messages.at(-1);
	return {
		threadId: threadId ?? null,
		status,
		lastMessage: last ? textOf(last.content) : null,
		lastMessageFrom: last ? whoSays(last) : null,
		messages: messages.length,
	};
}

/** Assistant or user; of any other message, such as a tool's, its own kind. */
function whoSays(message: ThreadMessage): string | null {
	if (isFromAssistant(message)) return 'assistant';
	if (isFromPerson(message)) return 'user';
	return message.type ?? message.role ?? null;
}
