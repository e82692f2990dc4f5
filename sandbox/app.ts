import { randomUUID } from 'node:crypto';
import multipart from '@fastify/multipart';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { isError } from 'lodash';
import { JSON_LIMIT, parseForm, parseJson } from './body';
import type { Call, Context, Endpoint } from './context';
import { ApiError, badRequest, internal, notFound, tooLarge } from './errors';
import { dropUnread, faultsAfter, faultsBefore, workedOrGivenUp } from './faultHooks';
import type { Action } from './faultRules';
import type { LoggedRequest, RequestLog } from './requestLog';
import { registerPublicFiles } from './publicFiles';
import { endpoints } from './routes';
import { registerAdmin } from './routes/admin';
import { headersFirst } from './streamedAnswer';
import { readUpload, type Upload } from './uploads';

declare module 'fastify' {
	interface FastifyRequest {
		/** The log entry of the request; null on the sandbox's own routes. */
		entry: LoggedRequest | null;
		/** What is to go wrong with the request. */
		misbehaviour: Action[];
		/** The parts of a multipart body. */
		upload: Upload | undefined;
	}
	interface FastifyContextConfig {
		endpoint?: string;
	}
}

const UPLOAD_LIMIT = 1024 * 1024 * 1024;

/** The HTTP server of the API over the given state, with its routes, and further ones, below the prefix. */
export function buildApp(context: Context, prefix: string, further: Endpoint[]): FastifyInstance {
	const app = fastify({
		bodyLimit: JSON_LIMIT,
		forceCloseConnections: true,
		exposeHeadRoutes: false,
		// Thread ids may be any text.
		routerOptions: { maxParamLength: 1000 },
		genReqId: () => randomUUID(),
	});
	app.decorateRequest('entry', null);
	app.decorateRequest('misbehaviour');
	app.decorateRequest('upload', undefined);
	addParsers(app, context.requests);
	app.setErrorHandler((error, _request, reply) => sendError(error, reply));
	app.setNotFoundHandler(async (request, reply) =>
		sendError(notFound(`Cannot ${request.method} ${request.url}`), reply),
	);
	app.addHook('onRequest', async (request, reply) => {
		request.misbehaviour = [];
		reply.header('x-request-id', request.id);
	});
	app.register(async (admin) => registerAdmin(admin, context), { prefix: '/sandbox' });
	app.register(async (files) => registerPublicFiles(files, context.store));
	app.register(async (api) => registerApi(api, context, prefix, [...endpoints, ...further]));
	return app;
}

function addParsers(app: FastifyInstance, log: RequestLog): void {
	const read =
		(parse: (text: string) => unknown) =>
		async (request: FastifyRequest, body: string | Buffer): Promise<unknown> => {
			const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body);
			if (request.entry) log.keepRaw(request.entry, bytes);
			return parse(bytes.toString('utf8'));
		};
	app.removeAllContentTypeParsers();
	app.addContentTypeParser('application/json', { parseAs: 'buffer' }, read(parseJson));
	app.addContentTypeParser(
		'application/x-www-form-urlencoded',
		{ parseAs: 'buffer' },
		read(parseForm),
	);
	// Other content types are not read by the server, which then acts as if there were no body.
	app.addContentTypeParser(
		'*',
		{ parseAs: 'buffer' },
		read(() => undefined),
	);
	void app.register(multipart, {
		limits: { fileSize: UPLOAD_LIMIT, files: 100 },
	});
}

/** The endpoints, with the log, the misbehaviour and the token check before each of them. */
async function registerApi(
	api: FastifyInstance,
	context: Context,
	prefix: string,
	all: Endpoint[],
) {
	api.addHook('onRequest', async (request, reply) => {
		request.entry = context.requests.add(logged(context, request));
		request.misbehaviour = context.faults.take(request.entry);
		if (request.misbehaviour.length > 0) request.entry.faults = request.misbehaviour;
		if (dropUnread(request.misbehaviour, request, reply)) return reply;
		return undefined;
	});
	api.addHook('preHandler', async (request, reply) => {
		// Read whole before anything goes wrong, so that the log is complete and the client is never cut off.
		request.upload = await readUpload(request, context.store.contents);
		note(context, request);
		if (await faultsBefore(context, request.misbehaviour, request, reply)) return reply;
		return undefined;
	});
	api.addHook('onSend', async (request, reply, payload) => {
		const sent = await faultsAfter(context.clock, request.misbehaviour, request, reply, payload);
		if (request.entry && !request.raw.socket.destroyed) request.entry.status = reply.statusCode;
		return headersFirst(reply, sent);
	});
	for (const endpoint of all) {
		api.route({
			method: endpoint.method,
			url: (endpoint.root ?? prefix) + endpoint.path,
			config: { endpoint: endpoint.id },
			handler: (request, reply) => answer(context, endpoint, request, reply),
		});
	}
}

const logged = ({ clock }: Context, request: FastifyRequest): LoggedRequest => ({
	id: request.id,
	endpoint: request.routeOptions.config.endpoint,
	method: request.method,
	path: request.url,
	headers: request.headers,
	arrivedAt: clock.now(),
});

function note({ requests }: Context, { entry, body, upload }: FastifyRequest): void {
	if (!entry) return;
	requests.keepBody(entry, body);
	if (upload) requests.keepUpload(entry, upload.fields, upload.files);
}

async function answer(
	context: Context,
	endpoint: Endpoint,
	request: FastifyRequest,
	reply: FastifyReply,
) {
	const caller = context.tokens.identify(request.headers);
	const { misbehaviour } = request;
	const call: Call = {
		context,
		caller,
		method: request.method,
		path: request.url,
		params: request.params as Record<string, string>,
		query: request.query as Record<string, unknown>,
		headers: request.headers,
		body: request.body,
		misbehaviour,
		upload: request.upload,
	};
	const work = (async () => await endpoint.handle(call))();
	const worked = await workedOrGivenUp(context.clock, misbehaviour, reply, work);
	if (worked === undefined) return reply;
	reply.code(endpoint.status);
	if (endpoint.contentType) reply.type(endpoint.contentType);
	if (endpoint.headers) reply.headers(endpoint.headers);
	return reply.send(worked.result);
}

/** The answer to anything thrown; what the framework itself refuses gets the server's words. */
function sendError(error: unknown, reply: FastifyReply) {
	const { status, body } = translated(error);
	return reply.code(status).type('application/json; charset=utf-8').send(body);
}

function translated(error: unknown): ApiError {
	if (error instanceof ApiError) return error;
	if (!isError(error)) return internal();
	const code = 'code' in error ? String(error.code) : '';
	if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return tooLarge();
	return code.startsWith('FST_ERR_CTP') ? badRequest(error.message) : internal();
}
