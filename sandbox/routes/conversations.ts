import { randomUUID } from 'node:crypto';
import { isMatch, omit, pick, remove as removeFrom } from 'lodash';
import { timestamp, type Clock } from '../clock';
import type { Call, Endpoint } from '../context';
import { CONVERSATION_COLUMNS, type Conversation, type Feedback } from '../entities';
import {
	badRequest,
	duplicate,
	forbidden,
	internal,
	missingReference,
	notAcceptable,
	nulInText,
	unreadable,
} from '../errors';
import { delays } from '../faultHooks';
import { select } from '../select';
import type { Store } from '../store';
import { asObject, hasNul, isObject, isUuid, type Loose } from '../values';

const COLUMNS = [
	'id',
	'threadId',
	...CONVERSATION_COLUMNS,
	'createdAt',
	'updatedAt',
	'createdById',
];
const UUID_COLUMNS = ['id', 'xpertId', 'projectId', 'taskId', 'fromEndUserId'];

const shown = (conversation: Conversation): Loose => omit(conversation, 'createdById');

async function create(call: Call): Promise<Loose> {
	const { store, clock } = call.context;
	if (call.body === undefined) throw internal();
	const body = asObject(call.body);
	const fields: Loose = pick(body, ['id', 'threadId', ...CONVERSATION_COLUMNS]);
	checkReferences(call, fields);
	if (hasNul(fields)) throw nulInText();
	const existing = isUuid(body.id) ? await lookedFor(call, body.id) : undefined;
	const changes = { ...fields, createdById: ownerOf(call, existing) };
	if (existing && isMatch(existing, changes)) return shown(existing);
	const updatedAt = existing ? after(existing.updatedAt, clock) : undefined;
	return shown(
		existing ? Object.assign(existing, changes, { updatedAt }) : store.putConversation(changes),
	);
}

/**
 * The moment of a change. What changes nothing is not written. What is written is later than what was there: each
 * request takes some milliseconds (`turn-lock`).
 */
const after = (before: string, clock: Clock): string =>
	new Date(Math.max(clock.now(), Date.parse(before) + 1)).toISOString();

/** Which conversation has an id; of two that make it at once the later one cannot any more (`conversation-by-id`). */
async function lookedFor({ context, misbehaviour }: Call, id: string) {
	const { conversations } = context.store;
	const existing = conversations.get(id);
	await delays(context.clock, misbehaviour, 'between');
	if (!existing && conversations.has(id)) throw duplicate('id', id);
	return existing;
}

/**
 * With an id of the caller's choice a conversation belongs to whom the caller names, and otherwise to nobody: no search
 * finds it then (`conversation-by-id`).
 */
const ownerOf = ({ caller, body }: Call, existing: Conversation | undefined): string | null => {
	if (existing?.createdById) return existing.createdById;
	return isUuid(asObject(body).id) ? createdByIn(body) : caller.userId;
};

const createdByIn = (body: unknown): string | null => {
	const { createdById } = asObject(body);
	return isUuid(createdById) ? createdById : null;
};

function checkReferences({ context }: Call, fields: Loose): void {
	const { id, xpertId, projectId } = fields;
	if (projectId !== undefined) {
		if (xpertId === undefined) throw badRequest('xpertId is required for a Project conversation');
		throw forbidden('The requested Project is not available');
	}
	if (id !== undefined && !isUuid(id)) throw unreadable();
	if (xpertId === undefined || xpertId === null) return;
	if (!isUuid(xpertId)) throw unreadable();
	if (!context.store.assistants.has(xpertId)) {
		throw missingReference('xpertId', xpertId, 'xpert');
	}
}

/** Everyone sees only their own, whoever is asked for (`E05` "where createdById other"). */
function search(call: Call): Loose {
	if (call.body === undefined) throw internal();
	const { where, search: text, ...page } = asObject(call.body);
	const wanted = text === undefined || text === null ? '' : String(text).toLowerCase();
	const { items, total } = select(
		[...call.context.store.conversations.values()],
		{ ...page, where: isObject(where) ? omit(where, 'createdById') : where },
		COLUMNS,
		UUID_COLUMNS,
		({ createdById, title }) =>
			createdById === call.caller.userId &&
			String(title ?? '')
				.toLowerCase()
				.includes(wanted),
	);
	return { items: items.map(shown), total };
}

/** An unknown one is nothing, and no failure. */
function get({ context, params }: Call): Loose {
	const row = context.store.conversations.get(idOf(params));
	return row ? shown(row) : {};
}

/**
 * Changes the title, but also how it stands, which its thread then says too, and the thread that it is on; makes one
 * that is not there.
 */
async function change(call: Call): Promise<Loose> {
	const { context, params, body } = call;
	const id = idOf(params);
	const { store } = context;
	const createdById = createdByIn(body);
	const existing = await lookedFor(call, id);
	const row = existing ?? store.putConversation({ id, createdById, from: null });
	const changes = {
		...pick(asObject(body), 'threadId', CONVERSATION_COLUMNS),
		updatedAt: timestamp(context.clock),
	};
	Object.assign(row, changes);
	const thread = store.threads.get(row.threadId);
	if (thread) Object.assign(thread, pick(changes, 'status', 'error', 'updatedAt'));
	return shown(row);
}

function remove({ context: { store }, params }: Call): void {
	const row = store.conversations.get(idOf(params));
	if (row === undefined) throw internal();
	removeUnlessAsked(store, row);
}

/** One that was asked twice stays until its messages are deleted (`conversation-delete`). */
export function removeUnlessAsked(store: Store, row: Conversation): void {
	const answers = store.messages.filter(
		({ conversationId, role }) => conversationId === row.id && role === 'ai',
	);
	if (answers.length > 1) {
		throw badRequest('Cannot delete: record is still referenced by another table.');
	}
	store.removeConversation(row);
}

function removeMessage({ context: { store }, params }: Call): void {
	removeFrom(store.messages, ({ id }) => id === params.message);
}

function idOf({ id }: Record<string, string>): string {
	if (isUuid(id)) return id;
	throw notAcceptable('Validation failed (valid uuid is expected)');
}

const UUIDS = ['id', 'conversationId', 'executionId', 'parentId'];
/** What a message says cannot be searched (`one-question-4` "content like"). */
const MESSAGE_COLUMNS = [...UUIDS, 'role', 'status', 'error', 'createdAt', 'updatedAt'];

/** The messages of a conversation, oldest first; none of an unknown one. */
function searchMessages({ context, params, body }: Call): Loose {
	const messages = context.store.messages.filter((one) => one.conversationId === params.id);
	const { items, total } = select(messages, asObject(body), MESSAGE_COLUMNS, UUIDS);
	return { items: items.map((one) => omit(one, 'clientMessageId', 'parentId')), total };
}

/** All of them, which the node never asks for and people do. */
const listMessages = (call: Call): Loose => searchMessages({ ...call, body: { ...call.query } });

const MESSAGES = '/conversations/:id/messages';

/** Everyone may say anything of any message there is, as often as they like: nothing of it is checked. */
function rate({ context, params, body }: Call): Feedback {
	const { store, clock } = context;
	const { rating = null, content = null } = asObject(body);
	const { id: conversationId = '', message: messageId = '' } = params;
	if (!store.messages.some(({ id }) => id === messageId)) {
		throw missingReference('messageId', messageId, 'chat_message');
	}
	const now = timestamp(clock);
	const said = { id: randomUUID(), conversationId, messageId, rating, content };
	const feedback = { ...said, createdAt: now, updatedAt: now };
	store.feedbacks.push(feedback);
	return feedback;
}

const ONE = '/conversations/:id';
const RATINGS = `${MESSAGES}/:message/feedbacks`;

export const conversationEndpoints: Endpoint[] = [
	{ id: 'E13', method: 'POST', path: '/conversations', status: 201, handle: create },
	{ id: 'E5', method: 'POST', path: '/conversations/search', status: 200, handle: search },
	{ id: 'getConversation', method: 'GET', path: ONE, status: 200, handle: get },
	{ id: 'updateConversation', method: 'PATCH', path: ONE, status: 200, handle: change },
	{ id: 'deleteConversation', method: 'DELETE', path: ONE, status: 202, handle: remove },
	{ id: 'messages', method: 'GET', path: MESSAGES, status: 200, handle: listMessages },
	{
		id: 'getMessages',
		method: 'POST',
		path: `${MESSAGES}/search`,
		status: 200,
		handle: searchMessages,
	},
	{
		id: 'deleteMessage',
		method: 'DELETE',
		path: `${MESSAGES}/:message`,
		status: 202,
		handle: removeMessage,
	},
	{ id: 'feedbacks', method: 'POST', path: RATINGS, status: 201, handle: rate },
];
