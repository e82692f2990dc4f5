import { randomUUID } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import multipart from '@fastify/multipart';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { isError } from 'lodash';
import type { Contents } from './contents';
import type { Call, Context, Endpoint } from './context';
import { ApiError, badRequest, internal, notFound, tooLarge } from './errors';
import { dropUnread, faultsAfter, faultsBefore, workedOrGivenUp } from './faultHooks';
import type { Action } from './faults';
import type { LoggedRequest, RequestLog, Upload } from './requestLog';
import { endpoints } from './routes';
import { registerAdmin } from './routes/admin';
import type { Store } from './store';

declare module 'fastify' {
	interface FastifyRequest {
		/** The log entry of the request; null on the sandbox's own routes. */
		entry: LoggedRequest | null;
		misbehaviour: Action[];
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
		reply.header('date', new Date(context.clock.now()).toUTCString());
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

async function readUpload(
	request: FastifyRequest,
	contents: Contents,
): Promise<Upload | undefined> {
	if (!request.isMultipart()) return undefined;
	const upload: Upload = { fields: {}, files: [] };
	for await (const part of request.parts()) {
		if (part.type === 'field') {
			upload.fields[part.fieldname] = String(part.value);
			continue;
		}
		const content = await contents.receive(part.file);
		const { fieldname: field, filename, mimetype } = part;
		upload.files.push({ field, filename, mimetype, size: content.size, content });
	}
	return upload;
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
			url: (endpoint.isOutside ? prefix.replace(/\/ai$/, '') : prefix) + endpoint.path,
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

/**
 * Sends the headers before a streamed answer. Without them sent, Fastify takes a client that has gone
 * meanwhile for a failure of the handler, and fails itself where it wants to say so.
 *
 * @returns the payload, for a hook to hand on
 */
function headersFirst(reply: FastifyReply, payload: unknown): unknown {
	if (payload instanceof Readable && !reply.raw.headersSent)
		reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
	return payload;
}

/** Uploaded files at the `url` that E12 and E16 give, for everyone; the log does not hold these requests. */
function registerPublicFiles(app: FastifyInstance, { contents }: Store): void {
	app.addHook('onSend', async (_request, reply, payload) => headersFirst(reply, payload));
	app.get<{ Params: { '*': string } }>('/public/*', (request, reply) => {
		const content = contents.at(request.params['*']);
		if (content === undefined) throw notFound(`Cannot GET ${request.url}`);
		return reply.type('application/octet-stream').send(content.head);
	});
}

/** JSON bodies may be exactly this long (`E03` "body 52428801 bytes"). */
const JSON_LIMIT = 52_428_800;

/** Newer JavaScript engines append the line and column, the recorded server does not. */
const withoutPlace = (message: string) => message.replace(/ \(line \d+ column \d+\)$/, '');

/**
 * Reads a JSON body as the server does: nothing reads as undefined, and only objects and arrays are taken
 * (`E03` "null", `E02` "string json").
 */
function parseJson(text: string): unknown {
	if (text === '') return undefined;
	const [first] = /\S/.exec(text) ?? [''];
	if (first !== '' && first !== '{' && first !== '[') {
		throw badRequest(`Unexpected token '${first}', "${text}" is not valid JSON`);
	}
	try {
		return JSON.parse(text) as unknown;
	} catch (error) {
		throw badRequest(withoutPlace(error instanceof Error ? error.message : String(error)));
	}
}

/** Reads an HTML form body, which the server takes wherever it takes JSON (`E01` "form"). */
const parseForm = (text: string): unknown => Object.fromEntries(new URLSearchParams(text));
