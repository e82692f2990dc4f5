import { parseArgs } from 'node:util';

import { derivedId } from '../nodes/XpertAi/payloads/derivedId';
import { SourceMemory } from '../nodes/XpertAi/ingest/sourceMemory';
import type { MemoryRoutes } from '../nodes/XpertAi/ingest/notesOnServer';
import { systemClock } from '../nodes/XpertAi/transport/clock';
import { startServer } from './support/server';
import { wholes } from './support/settings';
import { megabytes, table } from './support/table';

const SOURCE = { source: 'benchmark', title: 'Benchmark' };

async function timed<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
	const started = performance.now();
	const result = await work();
	return [result, (performance.now() - started) / 1000];
}

/** Remembers so many documents on a server in another process, and reads them back as the next run does. */
async function measure(documents: number): Promise<string[]> {
	const { target, stop } = await startServer('sandbox');
	try {
		const place = { knowledgebaseId: target.knowledgebaseId, ...SOURCE };
		let bytes = 0;
		const root = `/knowledges/${target.knowledgebaseId}`;
		const routes: MemoryRoutes = {
			storePath: `${root}/bulk`,
			statusPath: (ids) => `${root}/status?ids=${ids.join(',')}`,
			send: async ({ method, path, body }) => {
				if (typeof body === 'string') bytes = Math.max(bytes, Buffer.byteLength(body));
				const headers = {
					Authorization: `Bearer ${target.credential.accessToken}`,
					'Content-Type': 'application/json',
				};
				const url = `${target.credential.baseUrl}/api/ai${path}`;
				const response = await fetch(url, { method, headers, body });
				return { ok: true, status: response.status, answer: await response.json() };
			},
		};
		const open = async () => await SourceMemory.open(place, routes, { clock: systemClock });
		const memory = await open();
		for (let index = 0; index < documents; index++)
			memory.stored(derivedId(target.knowledgebaseId, `${index}`), `content ${index}`);
		const [, writing] = await timed(async () => await memory.save());
		const [next, reading] = await timed(open);
		if (next.known.size !== documents) throw new Error(`${next.known.size} are remembered`);
		const seconds = (value: number) => `${value.toFixed(1)} s`;
		return [documents.toLocaleString('en'), megabytes(bytes), seconds(writing), seconds(reading)];
	} finally {
		await stop();
	}
}

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: { documents: { type: 'string', default: '10000,100000,500000' } },
	});
	const rows: string[][] = [];
	for (const documents of wholes('--documents', values.documents))
		rows.push(await measure(documents));
	console.log(table(['documents', 'size', 'written in', 'read in'], rows));
}

void main();
