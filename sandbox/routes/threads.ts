import { findLast, orderBy } from 'lodash';
import type { Call, Endpoint } from '../context';
import { badRequest, internal } from '../errors';
import { listedThread, shownThread } from '../threadState';
import { asObject, type Loose } from '../values';

/** Unknown threads, threads that never ran, and those whose first run has stored nothing yet, all fail. */
function get({ context, params }: Call): Loose {
	const thread = context.store.threads.get(params.id ?? '');
	if (thread === undefined || thread.isNew) throw internal();
	return shownThread(context, thread);
}

/** Makes a conversation, which is the assistant's where one is named; one that is there is shown as it is. */
function create({ context: { store }, caller, body }: Call): Loose {
	const wanted = asObject(body);
	const threadId = typeof wanted.thread_id === 'string' ? wanted.thread_id : undefined;
	const known = threadId === undefined ? undefined : store.conversationOf(threadId);
	if (known && wanted.if_exists === 'raise') throw badRequest('The thread already exists.');
	const { assistant_id: xpertId = null } = wanted;
	const { title = null } = asObject(wanted.metadata);
	const fields = { title, xpertId, createdById: xpertId ?? caller.userId };
	return listedThread(known ?? store.putConversation({ ...fields, ...(threadId && { threadId }) }));
}

/** All threads of an assistant, newest first, whosever they are and whatever `limit` says. */
function search({ context, body }: Call): Loose[] {
	const { assistant_id: wanted } = asObject(asObject(body).metadata);
	const found = [...context.store.conversations.values()].filter(
		({ xpertId }) => wanted === undefined || xpertId === wanted,
	);
	return orderBy(found, 'createdAt', 'desc').map(listedThread);
}

/** Also deletes what is not there, and what is somebody else's. */
function remove({ context: { store }, params }: Call): void {
	const conversation = store.conversationOf(params.id ?? '');
	if (conversation) store.removeConversation(conversation);
}

/** What the newest run that truly began has used; before the first one nothing. */
function contextUsage({ context: { store }, params }: Call): Loose {
	const run = findLast(store.runs, (one) => one.threadId === params.id && one.assistantId !== null);
	const assistant = store.assistants.get(run?.assistantId ?? '');
	const { total, input, output } = run?.used ?? { total: 0, input: 0, output: 0 };
	return {
		thread_id: params.id,
		agent_key: assistant?.agentKey ?? null,
		run_id: run?.id ?? null,
		updated_at: run ? new Date(run.updatedAt).toISOString() : null,
		usage: {
			context_tokens: input,
			input_tokens: input,
			output_tokens: output,
			total_tokens: total,
			embed_tokens: 0,
			total_price: 0,
			currency: input > 0 ? 'USD' : null,
		},
	};
}

function notYet(): never {
	throw badRequest('This feature is not yet implemented.');
}

const ONE = '/threads/:id';

/** E10 and E15, and routes of the server's own. */
export const threadEndpoints: Endpoint[] = [
	{ id: 'E10', method: 'POST', path: `${ONE}/copy`, status: 201, handle: notYet },
	{ id: 'E15', method: 'GET', path: ONE, status: 200, handle: get },
	{ id: 'thread', method: 'PATCH', path: ONE, status: 200, handle: notYet },
	{ id: 'thread', method: 'DELETE', path: ONE, status: 202, handle: remove },
	{
		id: 'contextUsage',
		method: 'GET',
		path: `${ONE}/context-usage`,
		status: 200,
		handle: contextUsage,
	},
	{ id: 'usage', method: 'GET', path: `${ONE}/usage`, status: 200, handle: () => [] },
	{ id: 'history', method: 'POST', path: `${ONE}/history`, status: 201, handle: notYet },
	{ id: 'threads', method: 'POST', path: '/threads', status: 201, handle: create },
	{ id: 'threads', method: 'POST', path: '/threads/search', status: 200, handle: search },
];
