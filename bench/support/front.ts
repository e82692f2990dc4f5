import { Agent, request as httpRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import type { Distance } from './server';
import { WorkShare, measuredSpeed } from './workShare';

/**
 * Stands before a sandbox, takes TLS from the clients, and lets storing and uploading take the time that a
 * real server was measured to need.
 *
 * @returns its port
 */
export async function frontPort(
	sandboxUrl: string,
	certificate: { key: string; cert: string },
	{ documentMs, uploadMs }: Distance,
): Promise<number> {
	const agent = new Agent({ keepAlive: true });
	const share = new WorkShare(measuredSpeed, {
		now: () => performance.now(),
		after: (ms, work) => {
			const timer = setTimeout(work, ms);
			return () => clearTimeout(timer);
		},
	});
	const workOf = ({ url = '' }: IncomingMessage, body: Buffer): number => {
		if (url.endsWith('/file')) return uploadMs;
		if (!url.endsWith('/bulk')) return 0;
		// A request costs about as much as a document more.
		const documents: unknown = JSON.parse(body.toString('utf8'));
		return documentMs * ((Array.isArray(documents) ? documents.length : 0) + 1);
	};
	const answer = async (request: IncomingMessage, response: ServerResponse) => {
		const body = Buffer.concat(await request.toArray());
		const ms = workOf(request, body);
		if (ms > 0) await share.work(ms);
		const { method, url, headers } = request;
		const onward = httpRequest(new URL(url ?? '/', sandboxUrl), { method, headers, agent });
		onward.on('response', (answered) => {
			response.writeHead(answered.statusCode ?? 502, answered.headers);
			answered.pipe(response);
		});
		onward.on('error', () => response.destroy());
		onward.end(body);
	};
	const server = createServer(certificate, (request, response) => void answer(request, response));
	await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
	return (server.address() as AddressInfo).port;
}
