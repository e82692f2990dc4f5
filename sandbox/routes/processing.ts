import { omit } from 'lodash';
import type { Call, Endpoint } from '../context';
import type { StoredDocument } from '../entities';
import { internal, notFound } from '../errors';
import { startProcessing, stateOf } from '../processing';
import { isUuid, type Loose } from '../values';
import { knowledgebase } from './knowledgebases';

/** Both routes are Xpert's own; a server without them answers as to any unknown address. */
function checkRoute({ context, method, path }: Call): void {
	if (!context.processing) throw notFound(`Cannot ${method} ${path}`);
}

/** The documents of the knowledgebase in the path that have these ids; ids it does not have are left out. */
function documentsWith(call: Call, ids: unknown[]): StoredDocument[] {
	const { id: owner } = knowledgebase(call);
	if (!ids.every(isUuid)) throw internal();
	return [...new Set(ids)].flatMap((id) => {
		const document = call.context.store.documents.get(id);
		return document?.knowledgebaseId === owner ? [document] : [];
	});
}

/** Queues documents and answers with them as they stand then. */
function start(call: Call): Loose[] {
	checkRoute(call);
	const { clock, store, processMs } = call.context;
	if (!Array.isArray(call.body)) throw internal();
	return documentsWith(call, call.body as unknown[]).map((document) => {
		store.processing.set(document.id, startProcessing(clock, document, processMs));
		Object.assign(document, { status: 'waiting', progress: 0, processMsg: null });
		return omit(document, 'pages', 'chunks');
	});
}

/** Where the documents stand; those never sent to processing show what is in their row. */
function status(call: Call): Loose[] {
	checkRoute(call);
	const { clock, store } = call.context;
	const { ids } = call.query;
	if (typeof ids !== 'string') throw internal();
	return documentsWith(call, ids.split(',')).map((document) => {
		const processing = store.processing.get(document.id);
		if (processing) Object.assign(document, stateOf(processing, clock.now()));
		const { id, status: stage, progress, processMsg } = document;
		return { id, status: stage, progress, processMsg };
	});
}

/** Xpert's two routes outside the contract, `process` and `status` in the request log. */
export const processingEndpoints: Endpoint[] = [
	{ id: 'process', method: 'POST', path: '/knowledges/:id/process', status: 201, handle: start },
	{ id: 'status', method: 'GET', path: '/knowledges/:id/status', status: 200, handle: status },
];
