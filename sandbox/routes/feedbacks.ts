import { randomUUID } from 'node:crypto';
import { pick } from 'lodash';
import { timestamp } from '../clock';
import type { Call, Endpoint } from '../context';
import { insertInto, missingReference } from '../databaseErrors';
import type { Feedback } from '../entities';
import { internal } from '../errors';
import { select } from '../selection';
import { asObject, type Loose } from '../values';

const TABLE = 'chat_message_feedback';
const COLUMNS = [
	'id',
	'conversationId',
	'messageId',
	'rating',
	'content',
	'createdAt',
	'updatedAt',
];

const feedbacksOf = ({ context, params }: Call): Feedback[] =>
	context.store.feedbacks.filter(({ messageId }) => messageId === params.message);

/** What was said of a message, oldest first. */
const list = (call: Call): Loose => search({ ...call, body: { ...call.query } });

const search = (call: Call): Loose => ({
	...select(feedbacksOf(call), asObject(call.body), COLUMNS),
});

/** Everyone may say anything of any message there is, as often as they like: nothing of it is checked. */
function add({ context, params, body }: Call): Feedback {
	const { store, clock } = context;
	const { rating = null, content = null } = asObject(body);
	const { id: conversationId = '', message: messageId = '' } = params;
	if (!store.messages.some(({ id }) => id === messageId)) {
		const row = { id: randomUUID(), rating, content, conversationId, messageId };
		throw missingReference(insertInto(TABLE, row), TABLE, 'messageId', messageId, 'chat_message');
	}
	const now = timestamp(clock);
	const said = { id: randomUUID(), conversationId, messageId, rating, content };
	const feedback = { ...said, createdAt: now, updatedAt: now };
	store.feedbacks.push(feedback);
	return feedback;
}

function change(call: Call): Feedback {
	const { context, params, body } = call;
	const feedback = feedbacksOf(call).find(({ id }) => id === params.feedback);
	if (feedback === undefined) throw internal();
	const updatedAt = timestamp(context.clock);
	return Object.assign(feedback, pick(asObject(body), 'rating', 'content'), { updatedAt });
}

/** One that is not there is deleted all the same. */
function remove({ context: { store }, params }: Call): void {
	const place = store.feedbacks.findIndex(({ id }) => id === params.feedback);
	if (place >= 0) store.feedbacks.splice(place, 1);
}

const ALL = '/conversations/:id/messages/:message/feedbacks';
const ONE = `${ALL}/:feedback`;

/** What people say of answers: routes of the server's own. */
export const feedbackEndpoints: Endpoint[] = [
	{ id: 'feedbacks', method: 'GET', path: ALL, status: 200, handle: list },
	{ id: 'feedbacks', method: 'POST', path: ALL, status: 201, handle: add },
	{ id: 'feedbacks', method: 'POST', path: `${ALL}/search`, status: 200, handle: search },
	{ id: 'feedback', method: 'PATCH', path: ONE, status: 200, handle: change },
	{ id: 'feedback', method: 'DELETE', path: ONE, status: 202, handle: remove },
];
