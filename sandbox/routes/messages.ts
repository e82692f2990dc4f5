import { omit } from 'lodash';
import { addMessage } from '../runs/chat';
import type { Call, Endpoint } from '../context';
import type { ChatMessage } from '../entities';
import { internal } from '../errors';
import { select } from '../selection';
import { asObject, isUuid, type Loose } from '../values';

const UUIDS = ['id', 'conversationId', 'executionId', 'parentId'];
/** What a message says cannot be searched (`one-question-4` "content like"). */
const COLUMNS = [...UUIDS, 'role', 'status', 'error', 'createdAt', 'updatedAt'];

const shown = (message: ChatMessage): Loose => omit(message, 'clientMessageId', 'parentId');

const messagesOf = ({ context, params }: Call): ChatMessage[] =>
	context.store.messages.filter(({ conversationId }) => conversationId === params.id);

/** All messages of a conversation, oldest first; none of an unknown one. */
const list = (call: Call): Loose => search({ ...call, body: { ...call.query } });

function search(call: Call): Loose {
	const { items, total } = select(messagesOf(call), asObject(call.body), COLUMNS, UUIDS);
	return { items: items.map(shown), total };
}

/** A message that the assistant never hears of. */
function add(call: Call): Loose {
	const { role, content } = asObject(call.body);
	const conversationId = call.params.id ?? '';
	const message = addMessage(call.context, { conversationId, role, content });
	return shown(message);
}

function get(call: Call): Loose {
	const message = messagesOf(call).find(({ id }) => id === call.params.message);
	if (!isUuid(call.params.message) || message === undefined) throw internal();
	return shown(message);
}

const MESSAGES = '/conversations/:id/messages';

/** The messages of a conversation: routes of the server's own. */
export const messageEndpoints: Endpoint[] = [
	{ id: 'messages', method: 'GET', path: MESSAGES, status: 200, handle: list },
	{ id: 'messages', method: 'POST', path: MESSAGES, status: 201, handle: add },
	{ id: 'getMessages', method: 'POST', path: `${MESSAGES}/search`, status: 200, handle: search },
	{ id: 'message', method: 'GET', path: `${MESSAGES}/:message`, status: 200, handle: get },
];
