import { omit, sortBy, uniq } from 'lodash';
import type { Call, Endpoint } from '../context';
import type { StoredDocument } from '../entities';
import { refuseWhileRebuilt } from '../embedding';
import { internal, notFound } from '../errors';
import { stateOf } from '../processing/stages';
import { isUuid, type Loose } from '../values';

/** Both routes are Xpert's own; a server without them answers as to any unknown address. */
function checkRoute({ context, method, path }: Call): void {
	if (!context.processing) throw notFound(`Cannot ${method} ${path}`);
}

/**
 * The documents of the knowledgebase in the path that have these ids. Ids it does not have are left out, and
 * so are all when there is no such knowledgebase.
 */
function documentsWith({ context, params }: Call, ids: unknown[]): StoredDocument[] {
	if (!isUuid(params.id) || !ids.every(isUuid)) throw internal();
	return uniq(ids).flatMap((id) => {
		const document = context.store.documents.get(id);
		return document && document.knowledgebaseId === params.id ? [document] : [];
	});
}

/** Queues documents but for those that are queued already, and answers with them as they stand then. */
function start(call: Call): Loose[] {
	checkRoute(call);
	const { store, queue } = call.context;
	if (!Array.isArray(call.body)) throw internal();
	const owner = store.knowledgebases.get(String(call.params.id));
	if (owner) refuseWhileRebuilt(owner);
	const idle = documentsWith(call, call.body as unknown[]).filter(({ id }) => {
		const processing = store.processing.get(id);
		return processing === undefined || processing.end !== undefined;
	});
	queue.add(idle);
	return idle.map((document) => ({
		...omit(document, 'pages', 'chunks', 'parentId'),
		size: sizeOf(document),
	}));
}

/** The database gives large numbers as text (`version` "process"). */
const sizeOf = ({ size }: StoredDocument): unknown =>
	typeof size === 'number' ? String(size) : size;

/** Where the documents stand, in no order anyone asked for; those never processed show what is in their row. */
function status(call: Call): Loose[] {
	checkRoute(call);
	const { clock, store } = call.context;
	const { ids } = call.query;
	if (typeof ids !== 'string') throw internal();
	return sortBy(documentsWith(call, ids.split(',')), 'id').map((document) => {
		const processing = store.processing.get(document.id);
		if (processing && !processing.end) Object.assign(document, stateOf(processing, clock.now()));
		const { id, status: stage, progress, processMsg } = document;
		return { id, status: stage, progress, processMsg };
	});
}

/** Xpert's two routes outside the contract, `process` and `status` in the request log. */
export const processingEndpoints: Endpoint[] = [
	{ id: 'process', method: 'POST', path: '/knowledges/:id/process', status: 201, handle: start },
	{ id: 'status', method: 'GET', path: '/knowledges/:id/status', status: 200, handle: status },
	{ id: 'process', method: 'POST', path: '/v1/kb/:id/process', status: 201, handle: start },
	{ id: 'status', method: 'GET', path: '/v1/kb/:id/status', status: 200, handle: status },
];
