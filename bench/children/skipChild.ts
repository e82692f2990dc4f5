import { createHash } from 'node:crypto';

import { changedOnly } from '../../nodes/XpertAi/ingest/changedOnly';
import { SourceMemory } from '../../nodes/XpertAi/ingest/memory';
import type { MemoryRoutes } from '../../nodes/XpertAi/ingest/memory';
import type { DocumentRecord } from '../../nodes/XpertAi/payloads/document';
import { makeDocuments } from '../support/documents';
import { serveTask } from '../support/processes';
import type { Target } from '../support/server';

/** Documents that are remembered. */
export interface SkipTask {
	target: Target;
	documents: number;
	/** The size of each. */
	documentBytes: number;
}

/** What came of it. */
export interface SkipMeasurement {
	/** What lies on the server. */
	bytes: number;
	writing: number;
	reading: number;
	/** Processor time of telling that all documents are unchanged. */
	skippingCpu: number;
	skipped: number;
}

const SOURCE = { source: 'benchmark', title: 'Benchmark' };

serveTask<SkipTask>(async (task): Promise<SkipMeasurement> => {
	const { target } = task;
	const { knowledgebaseId } = target;
	const place = { knowledgebaseId, owner: knowledgebaseId, ...SOURCE };
	let bytes = 0;
	const routes = routesTo(target, (body) => (bytes = Math.max(bytes, Buffer.byteLength(body))));
	const open = async () => await new SourceMemory(place, routes).open();
	const memory = await open();
	for (const { id, content } of documents(task)) memory.stored(id, content);
	const [, writing] = await timed(async () => await memory.close());
	const [next, reading] = await timed(open);
	if (next.known.size !== task.documents) throw new Error(`${next.known.size} are remembered`);
	return { bytes, writing, reading, ...(await skipped(task, next)) };
});

/** All documents once more, unchanged, through what leaves such out; without what makes them. */
async function skipped(task: SkipTask, memory: SourceMemory) {
	const all = documents(task);
	let count = 0;
	const before = process.cpuUsage();
	// The server's answer, without the server: what it takes is time and not the processor's.
	const changed = changedOnly(all, {
		memory: memory.known,
		processed: true,
		statusesOf: async (ids) => ({
			statuses: new Map(ids.map((id) => [id, { id, status: 'finish' }])),
		}),
		onUnchanged: () => (count += 1),
	});
	for await (const { id } of changed) throw new Error(`${id} counts as changed`);
	const { user, system } = process.cpuUsage(before);
	return { skippingCpu: (user + system) / 1e6, skipped: count };
}

/** Documents as they reach it: each with an id, and with what stands for its content. */
function documents({ documents: count, documentBytes }: SkipTask) {
	return makeDocuments(count, documentBytes).map((document, origin) => {
		const json = JSON.stringify(document);
		const content = createHash('sha256').update(json).digest('base64');
		const bytes = Buffer.byteLength(json);
		return {
			id: String(document.id),
			record: document as DocumentRecord,
			content,
			json,
			bytes,
			origin,
		};
	});
}

function routesTo({ credential, knowledgebaseId }: Target, onBody: (body: string) => void) {
	const root = `/knowledges/${knowledgebaseId}`;
	const routes: MemoryRoutes = {
		storePath: `${root}/bulk`,
		statusPath: (ids) => `${root}/status?ids=${ids.join(',')}`,
		send: async ({ method, path, body }) => {
			if (body !== undefined && typeof body !== 'string') throw new Error('Notes are JSON');
			if (body !== undefined) onBody(body);
			const headers = {
				Authorization: `Bearer ${credential.accessToken}`,
				'Content-Type': 'application/json',
			};
			const url = `${credential.baseUrl}/api/ai${path}`;
			const response = await fetch(url, { method, headers, body });
			return { ok: true, status: response.status, answer: await response.json() };
		},
	};
	return routes;
}

async function timed<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
	const started = performance.now();
	const result = await work();
	return [result, (performance.now() - started) / 1000];
}
