import { type IncomingMessage, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { type Answers, type Arrived, targetAt } from './server';

const KNOWLEDGEBASE_ID = '00000000-0000-4000-8000-000000000000';

/** An ID of a body: documents of the benchmark have one each, and nothing in them has another. */
const ID = /"id":"([^"]+)"/g;

/** A note, as the node writes it. */
const NOTE = /\{"id":"([^"]+)","name":"[^"]*","disabled":true,"processMsg":"([^"]*)"\}/g;

/** What a source gives for a document. */
const DOWNLOAD = 'A document. '.repeat(853).slice(0, 10 * 1024);

const NOTHING: Arrived = { requests: 0, bytes: 0, documents: 0, noteBytes: 0 };

/** A server that answers at once: of documents it keeps the IDs, of notes the text. */
class BareServer {
	arrived = { ...NOTHING };

	/** The text of each note, and nothing of any other document. */
	private readonly stored = new Map<string, string | undefined>();

	answer({ method, url = '' }: IncomingMessage, body: string): unknown {
		this.arrived.requests += 1;
		this.arrived.bytes += url.length + Buffer.byteLength(body);
		if (url.endsWith('/bulk')) return this.store(body);
		if (url.endsWith('/download')) {
			this.arrived.bytes += DOWNLOAD.length;
			return DOWNLOAD;
		}
		if (method === 'POST')
			return (JSON.parse(body) as string[]).map((id) => ({ id, status: 'waiting' }));
		const [, ids = ''] = url.split('=');
		return ids.split(/,|%2C/).flatMap((id) => {
			if (!this.stored.has(id)) return [];
			const processMsg = this.stored.get(id);
			return processMsg === undefined ? { id, status: 'finish' } : { id, processMsg };
		});
	}

	/** A request may hold documents and notes. */
	private store(body: string): unknown {
		const ids = [...body.matchAll(ID)].map(([, id = '']) => id);
		for (const id of ids) this.stored.set(id, undefined);
		for (const [note, id = '', text] of body.matchAll(NOTE)) {
			this.stored.set(id, text);
			this.arrived.noteBytes += Buffer.byteLength(note);
		}
		this.arrived.documents = this.stored.size;
		return ids.map((id) => ({ id, version: 1 }));
	}
}

/** Starts such a server in this process. */
export async function startBareServer() {
	const bare = new BareServer();
	// On a busy machine, a client would use a connection that is being closed for being idle.
	const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
		void request.toArray().then((pieces) => {
			const answer = bare.answer(request, Buffer.concat(pieces).toString());
			const status = request.method === 'POST' ? 201 : 200;
			response.writeHead(status, { 'Content-Type': 'application/json' });
			response.end(JSON.stringify(answer));
		});
	});
	await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
	const { port } = server.address() as AddressInfo;
	return {
		target: targetAt(`http://127.0.0.1:${port}`, 'token', KNOWLEDGEBASE_ID),
		answers: {
			arrived: () => bare.arrived,
			clear: () => (bare.arrived = { ...NOTHING }),
		} satisfies Partial<Answers>,
		close: () => {
			server.closeAllConnections();
			server.close();
		},
	};
}
