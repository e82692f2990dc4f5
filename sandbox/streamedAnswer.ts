import type { OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/**
 * Sends the headers before a streamed answer. Without them sent, Fastify takes a client that has gone
 * meanwhile for a failure of the handler, and fails itself where it wants to say so.
 *
 * @returns the payload, for a hook to hand on
 */
export function headersFirst(reply: FastifyReply, payload: unknown): unknown {
	if (payload instanceof Readable && !reply.raw.headersSent)
		reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
	return payload;
}
