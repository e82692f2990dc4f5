import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';

import type { IHttpRequestMethods } from 'n8n-workflow';

import { answerTo } from './hostileRun';
import { listen } from './listen';

/** A request as it arrived. */
export interface Arrival {
	method: string;
	url: string;
	headers: IncomingHttpHeaders;
	body: string;
}

/** A server that answers everything well and keeps what arrived. */
export interface PlainServer {
	url: string;
	arrivals: Arrival[];
	/** Pieces of text that were no HTTP request. */
	garbage: string[];
	close: () => Promise<void>;
}

/** Starts a server on a free port. */
export async function startPlainServer(): Promise<PlainServer> {
	const arrivals: Arrival[] = [];
	const garbage: string[] = [];
	const server = createServer({ maxHeaderSize: 2 ** 20 }, (request, response) => {
		const pieces: Buffer[] = [];
		request.on('data', (piece: Buffer) => pieces.push(piece));
		request.on('end', () => {
			const body = Buffer.concat(pieces).toString('utf8');
			const url = `http://${request.headers.host}${request.url}`;
			const method = (request.method ?? '') as IHttpRequestMethods;
			arrivals.push({ method, url, headers: request.headers, body });
			response.writeHead(201, { 'Content-Type': 'application/json' });
			response.end(JSON.stringify(answerTo({ url, method, body }, arrivals)) ?? '');
		});
	});
	server.on('clientError', (error, socket) => {
		garbage.push(error.message);
		socket.destroy();
	});
	return {
		url: `http://127.0.0.1:${await listen(server)}`,
		arrivals,
		garbage,
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
