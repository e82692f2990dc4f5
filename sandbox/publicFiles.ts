import type { FastifyInstance } from 'fastify';
import { served } from './contents';
import { notFound } from './errors';
import type { Store } from './store';
import { headersFirst } from './streamedAnswer';

/** Uploaded files at the `url` that E12 and E16 give, for everyone; the log does not hold these requests. */
export function registerPublicFiles(app: FastifyInstance, { contents }: Store): void {
	app.addHook('onSend', async (_request, reply, payload) => headersFirst(reply, payload));
	app.get<{ Params: { '*': string } }>('/public/*', (request, reply) => {
		const content = contents.at(request.params['*']);
		if (content === undefined) throw notFound(`Cannot GET ${request.url}`);
		return reply.type('application/octet-stream').send(served(content));
	});
}
