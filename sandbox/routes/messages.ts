import { omit } from 'lodash';
import type { Call, Endpoint } from '../context';
import { select } from '../selection';
import { asObject, type Loose } from '../values';

const UUIDS = ['id', 'conversationId', 'executionId', 'parentId'];
/** What a message says cannot be searched (`one-question-4` "content like"). */
const COLUMNS = [...UUIDS, 'role', 'status', 'error', 'createdAt', 'updatedAt'];

/** The messages of a conversation, oldest first; none of an unknown one. */
function search({ context, params, body }: Call): Loose {
	const messages = context.store.messages.filter((one) => one.conversationId === params.id);
	const { items, total } = select(messages, asObject(body), COLUMNS, UUIDS);
	return { items: items.map((one) => omit(one, 'clientMessageId', 'parentId')), total };
}

/** All of them, which the node never asks for and people do. */
const list = (call: Call): Loose => search({ ...call, body: { ...call.query } });

const MESSAGES = '/conversations/:id/messages';

export const messageEndpoints: Endpoint[] = [
	{ id: 'messages', method: 'GET', path: MESSAGES, status: 200, handle: list },
	{ id: 'getMessages', method: 'POST', path: `${MESSAGES}/search`, status: 200, handle: search },
];
