import { range } from 'lodash';

import { serialize } from '../../nodes/XpertAi/ingest/batches';
import type { ReadyDocument } from '../../nodes/XpertAi/ingest/batches';
import { filterChanged } from '../../nodes/XpertAi/ingest/planDocuments';
import { SourceMemory } from '../../nodes/XpertAi/ingest/memory';
import type { MemoryRoutes } from '../../nodes/XpertAi/ingest/memory';
import { fetchStatuses } from '../../nodes/XpertAi/ingest/processingStatus';
import { storeDocuments } from '../../nodes/XpertAi/ingest/storing';
import { virtualTime } from '../../test/nodes/support/virtualTime';
import { idOf } from '../support/documents';
import type { Growing, Sent } from './growing';

const ROUTE = '/knowledges/1';
const BATCHES_AT_ONCE = 5;

/** Documents of a few bytes, each with an id, and with what stands for its content. */
function documents(size: number): Array<ReadyDocument<number>> {
	return range(size).map((origin) => {
		const id = idOf(origin);
		return { id, record: { id }, ...serialize({ id }), contentHash: id.slice(0, 22), origin };
	});
}

/** A server in this process, which answers at once and counts. */
function serverIn(answer: (request: { path: string; body: string }) => unknown) {
	const sent: Sent = { requests: 0, bytes: 0 };
	const send: MemoryRoutes['send'] = async ({ path, body = '' }) => {
		if (typeof body !== 'string') throw new Error('This server takes JSON');
		sent.requests += 1;
		sent.bytes += path.length + body.length;
		return await Promise.resolve({ ok: true, status: 201, answer: answer({ path, body }) });
	};
	const statusPath = (ids: string[]) => `${ROUTE}/status?ids=${ids.join(',')}`;
	return { sent, routes: { send, statusPath, storePath: ROUTE, startPath: ROUTE } };
}

const idsOf = (path: string): string[] => path.slice(path.indexOf('=') + 1).split(',');

/** Batches of one document each. */
export const batches: Growing = (size) => {
	const { sent, routes } = serverIn(({ body }) => JSON.parse(body) as unknown);
	const all = documents(size);
	return async () => {
		let stored = 0;
		await storeDocuments({
			documents: all,
			batchLimits: { maxCount: 1, maxBytes: Infinity },
			retryLimits: { maxTries: 1, maxElapsedMs: Infinity },
			concurrency: BATCHES_AT_ONCE,
			request: (body) => ({ method: 'POST', path: ROUTE, body, timeoutMs: 1000 }),
			send: routes.send,
			onOutcome: ({ outcome }) => (stored += outcome === 'stored' ? 1 : 0),
			maySend: () => true,
			clock: virtualTime(),
		});
		return expecting(stored, size, sent);
	};
};

/** Documents that have not changed, and are all there. */
export const unchanged: Growing = (size) => {
	const { sent, routes } = serverIn(({ path }) =>
		idsOf(path).map((id) => ({ id, status: 'finish' })),
	);
	const all = documents(size);
	return async () => {
		const known = await remembered(all);
		let skipped = 0;
		const statusesOf = async (ids: string[]) =>
			await fetchStatuses(ids, { ...routes, clock: virtualTime() });
		const onUnchanged = () => (skipped += 1);
		const changed = filterChanged(all, { memory: known, processed: true, statusesOf, onUnchanged });
		for await (const { id } of changed) throw new Error(`${id} counts as changed`);
		return expecting(skipped, size, sent);
	};
};

/** Has a source remembered, and opened again. */
async function remembered(all: Array<ReadyDocument<number>>) {
	const texts = new Map<string, string>();
	const { routes } = serverIn(({ path, body }) => {
		if (body === '')
			return idsOf(path)
				.filter((id) => texts.has(id))
				.map((id) => ({ id, processMsg: texts.get(id) }));
		const rows = JSON.parse(body) as Array<{ id: string; processMsg: string }>;
		for (const { id, processMsg } of rows) texts.set(id, processMsg);
		return rows.map(({ id }) => ({ id, version: 1 }));
	});
	const place = { knowledgebaseId: idOf(-1), owner: idOf(-1), source: 'growth', title: 'Growth' };
	const memory = await new SourceMemory(place, routes).open();
	for (const { id = '', contentHash = '' } of all) memory.recordStored(id, contentHash);
	await memory.close();
	const recalled = await new SourceMemory(place, routes).open('to read');
	if (recalled.refusal) throw new Error('What was noted cannot be read');
	return recalled.known;
}

function expecting(done: number, size: number, sent: Sent): Sent {
	if (done !== size) throw new Error(`Of ${size}, ${done} were done`);
	return sent;
}
