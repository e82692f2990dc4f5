import { findLast } from 'lodash';
import type { Call, Endpoint } from '../context';
import { badRequest, internal } from '../errors';
import { removeUnlessAsked } from './conversations';
import { shownThread } from '../runs/thread';
import type { Loose } from '../values';

/** Unknown threads, threads that never ran, and those whose first run has stored nothing yet, all fail. */
function get({ context, params }: Call): Loose {
	const thread = context.store.threads.get(params.id ?? '');
	if (thread === undefined || thread.isNew) throw internal();
	return shownThread(context, thread);
}

/** Also deletes what is not there, and what is somebody else's. */
function remove({ context: { store }, params }: Call): void {
	const conversation = store.conversationOf(params.id ?? '');
	if (conversation) removeUnlessAsked(store, conversation);
}

/** What the newest run that truly began has used; before the first one nothing. */
function usage({ context: { store }, params }: Call): Loose {
	const run = findLast(store.runs, (one) => one.threadId === params.id && one.assistantId !== null);
	const { total, input, output } = run?.used ?? { total: 0, input: 0, output: 0 };
	return {
		thread_id: params.id,
		run_id: run?.id ?? null,
		usage: { input_tokens: input, output_tokens: output, total_tokens: total },
	};
}

function notYet(): never {
	throw badRequest('This feature is not yet implemented.');
}

const ONE = '/threads/:id';

export const threadEndpoints: Endpoint[] = [
	{ id: 'E10', method: 'POST', path: `${ONE}/copy`, status: 201, handle: notYet },
	{ id: 'E15', method: 'GET', path: ONE, status: 200, handle: get },
	{ id: 'thread', method: 'DELETE', path: ONE, status: 202, handle: remove },
	{ id: 'usage', method: 'GET', path: `${ONE}/context-usage`, status: 200, handle: usage },
];
