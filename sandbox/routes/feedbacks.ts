import { randomUUID } from 'node:crypto';
import { timestamp } from '../clock';
import type { Call, Endpoint } from '../context';
import type { Feedback } from '../entities';
import { missingReference } from '../errors';
import { asObject } from '../values';

/** Everyone may say anything of any message there is, as often as they like: nothing of it is checked. */
function add({ context, params, body }: Call): Feedback {
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

export const feedbackEndpoints: Endpoint[] = [
	{
		id: 'feedbacks',
		method: 'POST',
		path: '/conversations/:id/messages/:message/feedbacks',
		status: 201,
		handle: add,
	},
];
