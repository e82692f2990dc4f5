import { randomUUID } from 'node:crypto';
import { uniqBy } from 'lodash';
import { timestamp } from './clock';
import type { Context } from './context';
import type { ChatMessage } from './entities';
import type { Loose } from './values';

/** Adds a message to a conversation: what a person says, or the place where an answer will be. */
export function addMessage(
	{ store, clock }: Pick<Context, 'store' | 'clock'>,
	fields: Pick<ChatMessage, 'conversationId' | 'role'> & Partial<ChatMessage>,
): ChatMessage {
	const now = timestamp(clock);
	const message: ChatMessage = {
		id: randomUUID(),
		content: '',
		reasoning: null,
		references: null,
		taskSummary: { version: 1 },
		attachments: [],
		fileAssets: [],
		status: null,
		error: null,
		executionId: null,
		createdAt: now,
		updatedAt: now,
		...fields,
	};
	store.messages.push(message);
	return message;
}

/** The answer of a run is there, or as much of it as there will be. */
export function endMessage(
	{ clock }: Pick<Context, 'clock'>,
	message: ChatMessage,
	parts: Loose[],
	error: string | undefined,
): void {
	const before = Array.isArray(message.content) ? message.content : [];
	const content = [...before, ...parts];
	Object.assign(message, {
		content: content.length > 0 ? content : '',
		status: error === undefined ? 'success' : 'error',
		error: error ?? null,
		updatedAt: timestamp(clock),
	});
}

/** What was found is a source of the answer, each passage once. */
export function addSources(
	{ clock }: Pick<Context, 'clock'>,
	{ id: messageId, taskSummary }: ChatMessage,
	chunks: Array<Record<'documentId' | 'chunkId' | 'knowledgebaseId', string>>,
): void {
	const sources = chunks.map(({ documentId, chunkId, knowledgebaseId }) => ({
		id: `knowledge:${documentId}:${chunkId}`,
		kind: 'knowledge',
		title: documentId,
		description: knowledgebaseId,
		messageId,
		updatedAt: timestamp(clock),
	}));
	const before = (taskSummary.sources ?? []) as typeof sources;
	const all = uniqBy([...before, ...sources], 'id');
	if (all.length > 0) taskSummary.sources = all;
}
