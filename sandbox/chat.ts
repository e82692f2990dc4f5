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
		parentId: null,
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
	const sources = sourcesIn(content, message.id, timestamp(clock));
	Object.assign(message, {
		taskSummary: { version: 1, ...(sources.length > 0 && { sources }) },
		content: content.length > 0 ? content : '',
		status: error === undefined ? 'success' : 'error',
		error: error ?? null,
		updatedAt: timestamp(clock),
	});
}

/** A link to a passage, as assistants are told to put it behind what they say. */
const CITED =
	/xpert:\/\/knowledgebase\/chunk\?knowledgebaseId=([\w-]+)&documentId=([\w-]+)&chunkId=([\w-]+)/g;

/** What an answer cites is its source, each passage once; what was only found is none. */
function sourcesIn(parts: Loose[], messageId: string, updatedAt: string): Loose[] {
	const said = parts.map(({ type, text }) => (type === 'text' ? String(text) : '')).join('');
	const sources = [...said.matchAll(CITED)].map(([, description, title, chunkId]) => ({
		id: `knowledge:${title}:${chunkId}`,
		kind: 'knowledge',
		title,
		description,
		messageId,
		updatedAt,
	}));
	return uniqBy(sources, 'id');
}
