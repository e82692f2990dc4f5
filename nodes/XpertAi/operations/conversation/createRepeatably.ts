import { randomUUID } from 'crypto';

import type { Item } from '../../execution/item';
import type { SendRequest } from '../../execution/operation';
import { timeoutSeconds } from '../../execution/runOperation';
import { conversationRecord } from '../../payloads/bodies';
import { learnOwner, ownerOf, confirmOwner } from '../../threads/owner';
import { systemClock } from '../../transport/clock';
import { isNeverSent } from '../../transport/failure';
import type { Send } from '../../transport/request';

/**
 * Creates a conversation. The request sets an ID and an owner, so a repeated request creates no second conversation. If
 * the owner is unknown, or the server ignores owners, sends a request without these fields. If the answer to that
 * request is lost, the request is not repeated.
 *
 * @throws NodeApiError if a request fails
 */
export async function createRepeatably(item: Item, request: SendRequest): Promise<unknown> {
	const timeoutMs = item.setting('options.timeout', timeoutSeconds) * 1000;
	const send: Send = async (one) => await item.connection.send({ ...one, timeoutMs });
	const client = { send, clock: systemClock, signal: item.context.getExecutionCancelSignal() };
	const owner = ownerOf(item.connection.account);
	const failure = owner.id === undefined ? await learnOwner(client, owner) : undefined;
	// If `learnOwner` could not send its request, the next request would fail too.
	if (failure && isNeverSent(failure)) throw item.apiError(failure);
	if (!owner.id) return await request();
	const made = await request({ id: randomUUID(), createdById: owner.id }, { repeatable: true });
	const { threadId = '' } = conversationRecord.parse(made);
	await confirmOwner(client, owner, threadId);
	return owner.id ? made : await request();
}
