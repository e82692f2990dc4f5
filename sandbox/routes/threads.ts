import type { Call, Endpoint } from '../context';
import { badRequest, internal } from '../errors';
import { shownThread } from '../threadState';
import type { Loose } from '../values';

/** Unknown threads, threads that never ran, and those whose first run has stored nothing yet, all fail. */
function get({ context, params }: Call): Loose {
	const thread = context.store.threads.get(params.id ?? '');
	if (thread === undefined || thread.isNew) throw internal();
	return shownThread(context, thread);
}

function copy(): never {
	throw badRequest('This feature is not yet implemented.');
}

/** E10 and E15. */
export const threadEndpoints: Endpoint[] = [
	{ id: 'E10', method: 'POST', path: '/threads/:id/copy', status: 201, handle: copy },
	{ id: 'E15', method: 'GET', path: '/threads/:id', status: 200, handle: get },
];
