import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { serve, targetAt } from './server';

const KNOWLEDGEBASE_ID = '00000000-0000-4000-8000-000000000000';

let requests = 0;
let documents = 0;

/** Answers E3 with the id and name of each document, the least that a server could do. */
const server = createServer((request, response) => {
	const pieces: Buffer[] = [];
	request.on('data', (piece: Buffer) => pieces.push(piece));
	request.on('end', () => {
		const body = JSON.parse(Buffer.concat(pieces).toString('utf8')) as unknown;
		const records = [body].flat() as Array<{ id: string; name: string }>;
		requests += 1;
		documents += records.length;
		response.writeHead(201, { 'Content-Type': 'application/json; charset=utf-8' });
		response.end(JSON.stringify(records.map(({ id, name }) => ({ id, name }))));
	});
});

server.listen(0, '127.0.0.1', () => {
	const { port } = server.address() as AddressInfo;
	serve(targetAt(`http://127.0.0.1:${port}`, 'token', KNOWLEDGEBASE_ID), () => ({
		requests,
		documents,
	}));
});
