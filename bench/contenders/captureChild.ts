import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { bytesOf, writeBodies } from '../support/bodies';
import { serveTask } from '../support/processes';
import { targetAt } from '../support/server';
import type { BodyFiles, Load, Ready, Task } from './contender';
import { measuredDocuments, warmUpDocuments } from './loads';
import { submit } from './submit';

const KNOWLEDGEBASE_ID = '00000000-0000-4000-8000-000000000000';

/** What Submit sends for the documents of a task is kept, for all others to send the same. */
serveTask<Task>(async (task): Promise<BodyFiles> => {
	const arrived: Buffer[] = [];
	const server = createServer((request, response) => {
		void request.toArray().then((pieces) => {
			const body = Buffer.concat(pieces);
			arrived.push(body);
			const documents = JSON.parse(body.toString('utf8')) as Array<{ id: string; name: string }>;
			response.writeHead(201, { 'Content-Type': 'application/json' });
			response.end(JSON.stringify(documents.map(({ id, name }) => ({ id, name }))));
		});
	});
	await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
	const { port } = server.address() as AddressInfo;
	const target = targetAt(`http://127.0.0.1:${port}`, 'token', KNOWLEDGEBASE_ID);
	const prepare = await submit({ ...task, target, concurrency: 1 });
	await capture(prepare, warmUpDocuments(task), task.bodies.warmUp, arrived);
	const warmUpBytes = bytesOf(arrived.splice(0));
	await capture(prepare, measuredDocuments(task), task.bodies.rest, arrived);
	server.close();
	return { ...task.bodies, warmUpBytes, restBytes: bytesOf(arrived) };
});

async function capture(
	prepare: (load: Load) => Ready,
	documents: Load['documents'],
	file: string | undefined,
	arrived: Buffer[],
): Promise<void> {
	if (documents.length > 0) await prepare({ documents, bodies: [] })();
	if (file !== undefined) writeBodies(file, arrived);
}
