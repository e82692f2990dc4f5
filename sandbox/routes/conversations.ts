import { omit, pick } from 'lodash';
import { timestamp } from '../clock';
import type { Call, Endpoint } from '../context';
import {
	hasNul,
	insertInto,
	missingReference,
	nulInText,
	selectById,
	unreadable,
} from '../databaseErrors';
import { CONVERSATION_COLUMNS, type Conversation } from '../entities';
import { badRequest, forbidden, internal, notAcceptable } from '../errors';
import { select } from '../selection';
import { asObject, isObject, isUuid, type Loose } from '../values';

const TABLE = 'chat_conversation';
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

function create(call: Call): Loose {
	const { store, clock } = call.context;
	if (call.body === undefined) throw internal();
	const body = asObject(call.body);
	const fields: Loose = pick(body, ['id', 'threadId', ...CONVERSATION_COLUMNS]);
	checkReferences(call, fields);
	if (hasNul(fields)) throw nulInText(insertInto(TABLE, fields));
	const existing = isUuid(body.id) ? store.conversations.get(body.id) : undefined;
	return shown(
		store.putConversation({
			...existing,
			...fields,
			createdById: ownerOf(call, existing),
			updatedAt: timestamp(clock),
		}),
	);
}

/** With an id of the caller's choice a conversation is whose it says, or nobody's (`conversation-by-id`). */
const ownerOf = ({ caller, body }: Call, existing: Conversation | undefined): string | null => {
	const { id, createdById } = asObject(body);
	if (existing) return existing.createdById;
	if (!isUuid(id)) return caller.userId;
	return isUuid(createdById) ? createdById : null;
};

/** The person that a key belongs to; what else the server tells must go nowhere (`conversation-by-id`). */
function me({ caller }: Call): Loose {
	return { id: caller.userId, email: 'owner@example.com', hash: 'secret' };
}

function checkReferences({ context }: Call, fields: Loose): void {
	const { id, xpertId, projectId } = fields;
	if (projectId !== undefined) {
		if (xpertId === undefined) throw badRequest('xpertId is required for a Project conversation');
		throw forbidden('The requested Project is not available');
	}
	if (id !== undefined && !isUuid(id)) throw unreadable(selectById(TABLE, id), 'uuid', id);
	if (xpertId === undefined || xpertId === null) return;
	const statement = insertInto(TABLE, fields);
	if (!isUuid(xpertId)) throw unreadable(statement, 'uuid', xpertId);
	if (!context.store.assistants.has(xpertId)) {
		throw missingReference(statement, TABLE, 'xpertId', xpertId, 'xpert');
	}
}

/** Those made for an assistant are found by who asks for it (`conversations` "the same, with xpertId"). */
const ofAssistant = (where: unknown): string[] => {
	const { xpertId } = asObject(where);
	return isUuid(xpertId) ? [xpertId] : [];
};

/** Everyone sees only their own, whoever is asked for (`E05` "where createdById other"). */
function search(call: Call): Loose {
	if (call.body === undefined) throw internal();
	const { where, search: text, ...page } = asObject(call.body);
	const wanted = text === undefined || text === null ? '' : String(text).toLowerCase();
	const owners: unknown[] = [call.caller.userId, ...ofAssistant(where)];
	const { items, total } = select(
		[...call.context.store.conversations.values()],
		{ ...page, where: isObject(where) ? omit(where, 'createdById') : where },
		COLUMNS,
		UUID_COLUMNS,
		({ createdById, title }) =>
			owners.includes(createdById) &&
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
function change({ context, params, body }: Call): Loose {
	const id = idOf(params);
	const { store } = context;
	const row = store.conversations.get(id) ?? store.putConversation({ id, createdById: null });
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
	store.removeConversation(row);
}

function idOf({ id }: Record<string, string>): string {
	if (isUuid(id)) return id;
	throw notAcceptable('Validation failed (valid uuid is expected)');
}

/** E13 and E5, and four routes of the server's own. */
export const conversationEndpoints: Endpoint[] = [
	{ id: 'me', method: 'GET', root: '/api', path: '/user/me', status: 200, handle: me },
	{ id: 'E13', method: 'POST', path: '/conversations', status: 201, handle: create },
	{ id: 'E5', method: 'POST', path: '/conversations/search', status: 200, handle: search },
	{ id: 'getConversation', method: 'GET', path: '/conversations/:id', status: 200, handle: get },
	{
		id: 'updateConversation',
		method: 'PATCH',
		path: '/conversations/:id',
		status: 200,
		handle: change,
	},
	{
		id: 'deleteConversation',
		method: 'DELETE',
		path: '/conversations/:id',
		status: 202,
		handle: remove,
	},
];
