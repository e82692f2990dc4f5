import { omit, orderBy, pick } from 'lodash';
import { timestamp } from '../clock';
import { checkCondition, meets, momentMeets } from '../conditions';
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
import { badRequest, forbidden, internal } from '../errors';
import { asObject, isUuid, type Loose } from '../values';

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

/** With an id of the caller's choice a conversation is nobody's, and found by no search. */
const ownerOf = ({ caller, body }: Call, existing: Conversation | undefined): string | null => {
	if (existing) return existing.createdById;
	return isUuid(asObject(body).id) ? null : caller.userId;
};

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

/** The conditions as pairs; an unknown column or a malformed UUID fails (`E05` "where unknown column"). */
function conditions(where: unknown): Array<[column: string, condition: unknown]> {
	if (where === undefined || where === null) return [];
	const pairs = Object.entries(Object(where) as Loose);
	for (const [column, condition] of pairs) {
		if (!COLUMNS.includes(column)) throw internal();
		checkCondition(condition, UUID_COLUMNS.includes(column));
	}
	// Everyone sees only their own, whoever is asked for (`E05` "where createdById other").
	return pairs.filter(([column]) => column !== 'createdById');
}

const MOMENTS = ['createdAt', 'updatedAt'] as const;

function isMet(row: Conversation, column: string, condition: unknown): boolean {
	const moment = MOMENTS.find((one) => one === column);
	return moment ? momentMeets(row[moment], condition) : meets((row as Loose)[column], condition);
}

function sorted(rows: Conversation[], order: unknown): Conversation[] {
	const columns = Object.keys(asObject(order));
	if (columns.some((column) => !COLUMNS.includes(column))) throw internal();
	const directions = Object.values(asObject(order)).map((direction) =>
		String(direction).toUpperCase() === 'DESC' ? 'desc' : 'asc',
	);
	return columns.length === 0 ? rows : orderBy(rows, columns, directions);
}

/** A count of rows; negative or not a number fails. */
function count(value: unknown): number {
	const number = Number(value ?? 0);
	if (!(number >= 0)) throw internal();
	return number;
}

function search(call: Call): Loose {
	if (call.body === undefined) throw internal();
	const { where, order, limit, offset, search: text } = asObject(call.body);
	const [take, skip, pairs] = [count(limit), count(offset), conditions(where)];
	const wanted = text === undefined || text === null ? '' : String(text).toLowerCase();
	const own = [...call.context.store.conversations.values()].filter(
		(row) =>
			row.createdById === call.caller.userId &&
			(wanted === '' ||
				String(row.title ?? '')
					.toLowerCase()
					.includes(wanted)) &&
			pairs.every(([column, condition]) => isMet(row, column, condition)),
	);
	const rows = sorted(own, order);
	const page = rows.slice(skip, take === 0 ? undefined : skip + take);
	return { items: page.map(shown), total: rows.length };
}

/** E13 and E5. */
export const conversationEndpoints: Endpoint[] = [
	{ id: 'E13', method: 'POST', path: '/conversations', status: 201, handle: create },
	{ id: 'E5', method: 'POST', path: '/conversations/search', status: 200, handle: search },
];
