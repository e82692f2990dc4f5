import { randomUUID } from 'crypto';

import { timeoutSeconds } from '../../execution/declared';
import { fieldCollection, idField, jsonField } from '../../execution/fields';
import type { Item } from '../../execution/item';
import { declare } from '../../execution/operation';
import type { SendBody } from '../../execution/operation';
import { conversation, conversationRecord } from '../../payloads/conversation';
import { learnOwner, ownerOf, proveOwner } from '../../threads/conversation';
import { isJsonObject, recordWith } from '../../transport/answer';
import { systemClock } from '../../transport/clock';
import type { Send } from '../../transport/request';
import { CONVERSATION_SUMMARY, titleField } from './shared';

const fields = [
	idField('xpertId', 'Assistant ID', 'ID of the assistant the conversation belongs to'),
	jsonField('options', 'Conversation Options', 'Settings of the conversation, as a JSON object'),
	idField(
		'projectId',
		'Project ID',
		'ID of the project the conversation belongs to; needs an assistant as well',
	),
	idField(
		'threadId',
		'Thread ID',
		'ID for the thread of the conversation. The server makes one up when this is left out.',
	),
];

export const create = declare({
	value: 'create',
	name: 'Create',
	action: 'Create conversation',
	description: 'Create a conversation, whose thread Thread: Ask and Wait can run',
	method: 'POST',
	path: '/conversations',
	body: {
		fields: [titleField, fieldCollection('additionalFields', fields)],
		schema: conversation,
		ids: ['xpertId', 'projectId', 'threadId'],
		notShown: true,
		example: '{\n  "title": "Question from the website"\n}',
	},
	simplify: CONVERSATION_SUMMARY,
	answer: recordWith('id', 'threadId'),
	sendBody: withOwnId,
});

/** With an ID and its owner, a conversation can be created again if the answer is lost: there is one (recorded). */
async function withOwnId(
	item: Item,
	body: unknown,
	request: Parameters<SendBody>[2],
): Promise<unknown> {
	const { account, context } = item;
	const timeoutMs = item.setting('options.timeout', timeoutSeconds) * 1000;
	const send: Send = async (one) => await item.send({ ...one, timeoutMs });
	const client = { send, clock: systemClock, signal: context.getExecutionCancelSignal() };
	const owner = ownerOf(account);
	if (owner.id === undefined) await learnOwner(client, owner);
	if (!owner.id || !isJsonObject(body) || 'id' in body) return await request(body);
	const own = { ...body, id: randomUUID(), createdById: owner.id };
	const made = await request(own, true);
	const { threadId = '' } = conversationRecord.parse(made);
	await proveOwner(client, owner, threadId);
	return owner.id ? made : await request(body);
}
