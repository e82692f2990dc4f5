import { randomUUID } from 'crypto';

import type { Item } from '../../execution/item';
import type { SendRequest } from '../../execution/operation';
import { timeoutSecondsSchema } from '../../execution/runOperation';
import { conversationRecordSchema } from '../../payloads/requestSchemas';
import { confirmOwner, learnOwner, ownerOf } from '../../threads/tokenOwner';
import { systemClock } from '../../transport/clock';
import { isNeverSent } from '../../transport/failure';
import type { Send } from '../../transport/request';

/**
 * Creates a conversation. If the owner of the token is known, the request sets an ID and this owner. Such a request is
 * safe to repeat, because a second one creates no second conversation. Otherwise, the request has no ID and is not
 * repeated. If the server does not list a conversation of this owner, creates a second one without an ID and owner.
 *
 * @returns the answer with the conversation
 * @throws NodeApiError if a request fails
 */
export async function createRepeatably(item: Item, request: SendRequest): Promise<unknown> {
	const timeoutMs = item.setting('options.timeout', timeoutSecondsSchema) * 1000;
	const send: Send = async (one) => await item.connection.send({ ...one, timeoutMs });
	const client = { send, clock: systemClock, signal: item.context.getExecutionCancelSignal() };
	const owner = ownerOf(item.connection.account);
	// `learnOwner` sets `owner.id`: to null if the server does not support owners.
	const failure = owner.id === undefined ? await learnOwner(client, owner) : undefined;
	// If the request of `learnOwner` could not be sent, the next request would fail too.
	if (failure && isNeverSent(failure)) throw item.apiError(failure);
	if (!owner.id) return await request();
	const created = await request({ id: randomUUID(), createdById: owner.id }, { repeatable: true });
	const { threadId = '' } = conversationRecordSchema.parse(created);
	await confirmOwner(client, owner, threadId);
	// A server that does not list the new conversation does not support owners. `confirmOwner` has then set `owner.id`
	// to null, and the node creates a second conversation, without these fields.
	return owner.id ? created : await request();
}
