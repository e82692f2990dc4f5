import { randomUUID } from 'crypto';

import { timeoutSeconds } from '../../execution/runOperation';
import type { Item } from '../../execution/item';
import type { SendRequest } from '../../execution/operation';
import { conversationRecord } from '../../payloads/conversation';
import { learnOwner, ownerOf, proveOwner } from '../../threads/conversation';
import { isNeverSent } from '../../transport/classifyFailure';
import { systemClock } from '../../transport/clock';
import type { Send } from '../../transport/request';

/** With an ID and its owner, a conversation can be created again if the answer is lost: there is one (recorded). */
export async function sendWithOwnId(item: Item, request: SendRequest): Promise<unknown> {
	const { account, context } = item;
	const timeoutMs = item.setting('options.timeout', timeoutSeconds) * 1000;
	const send: Send = async (one) => await item.send({ ...one, timeoutMs });
	const client = { send, clock: systemClock, signal: context.getExecutionCancelSignal() };
	const owner = ownerOf(account);
	const failure = owner.id === undefined ? await learnOwner(client, owner) : undefined;
	// What cannot be reached need not be tried twice as often.
	if (failure && isNeverSent(failure)) throw item.apiError(failure);
	if (!owner.id) return await request();
	const made = await request({ id: randomUUID(), createdById: owner.id }, true);
	const { threadId = '' } = conversationRecord.parse(made);
	await proveOwner(client, owner, threadId);
	return owner.id ? made : await request();
}
