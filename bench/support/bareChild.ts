import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

import { serve, targetAt } from './server';
import type { Arrived } from './server';

const KNOWLEDGEBASE_ID = '00000000-0000-4000-8000-000000000000';

/** An id of a body: documents of the benchmark have one each, and nothing in them has another. */
const ID = /"id":"([^"]+)"/g;

/** A note, as the node writes it. */
const NOTE = /\{"id":"([^"]+)","name":"[^"]*","disabled":true,"processMsg":"([^"]*)"\}/g;

const NOTHING: Arrived = { requests: 0, bytes: 0, documents: 0, asked: 0, notes: 0, noteBytes: 0 };

/**
 * A server that costs next to nothing: it answers what clients need to see and keeps ids alone, and of what
 * they note the text.
 */
class BareServer {
	arrived = { ...NOTHING };

	/** What is said of each document that is stored: the text of a note, and nothing of any other. */
	private readonly stored = new Map<string, string | undefined>();

	answer({ method, url = '' }: IncomingMessage, body: string): unknown {
		this.arrived.asked += 1;
		if (url.endsWith('/bulk')) return this.store(body);
		if (method === 'POST') return (JSON.parse(body) as string[]).map(waiting);
		const [, ids = ''] = url.split('=');
		return ids.split(/,|%2C/).flatMap((id) => {
			if (!this.stored.has(id)) return [];
			const processMsg = this.stored.get(id);
			return processMsg === undefined ? { id, status: 'finish' } : { id, processMsg };
		});
	}

	/** Notes may go around documents. */
	private store(body: string): unknown {
		const { arrived } = this;
		const ids = [...body.matchAll(ID)].map(([, id = '']) => id);
		for (const id of ids) this.stored.set(id, undefined);
		const notes = [...body.matchAll(NOTE)];
		let noteBytes = 0;
		for (const [row, id = '', text] of notes) {
			this.stored.set(id, text);
			noteBytes += Buffer.byteLength(row);
		}
		arrived.notes += notes.length;
		arrived.noteBytes += noteBytes;
		if (notes.length < ids.length) arrived.requests += 1;
		if (notes.length < ids.length) arrived.bytes += Buffer.byteLength(body) - noteBytes;
		arrived.documents = this.stored.size;
		return ids.map((id) => ({ id, version: 1 }));
	}
}

const waiting = (id: string) => ({ id, status: 'waiting' });

const bare = new BareServer();
const server = createServer((request, response) => {
	void request.toArray().then((pieces) => {
		const answer = bare.answer(request, Buffer.concat(pieces).toString());
		const status = request.method === 'POST' ? 201 : 200;
		response.writeHead(status, { 'Content-Type': 'application/json' });
		response.end(JSON.stringify(answer));
	});
});
server.listen(0, '127.0.0.1', () => {
	const { port } = server.address() as AddressInfo;
	const target = targetAt(`http://127.0.0.1:${port}`, 'token', KNOWLEDGEBASE_ID);
	serve(
		{ target },
		{
			arrived: () => bare.arrived,
			clear: () => {
				bare.arrived = { ...NOTHING };
				return true;
			},
		},
	);
});
