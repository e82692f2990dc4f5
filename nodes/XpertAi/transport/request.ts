import clamp from 'lodash/clamp';
import compact from 'lodash/compact';
import get from 'lodash/get';
import isEqual from 'lodash/isEqual';
import mapValues from 'lodash/mapValues';
import memoize from 'lodash/memoize';
import pick from 'lodash/pick';
import { hash } from 'crypto';
import type {
	IDataObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	IN8nHttpFullResponse,
} from 'n8n-workflow';
import { z } from 'zod';

import { readResponse, type AnswerSchema, type Answered, type Details } from './answer';
import { API_ROOT, CREDENTIAL_NAME } from './api';
import { readCredential, readRequestTarget, tokenOf } from './credential';
import type { ReadCredential, RequestContext } from './credential';
import type { Failure } from './failure';
import { isEventStream, readStream, streamHeaders, type EventStream } from './eventStream';
import { closeFiles } from './multipart';
import { redactor, sanitize, type Redact } from './sanitize';

/** A request of the API. */
export interface ApiRequest<Answer = unknown> {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** Path below `apiRoot`, with its parameters already encoded (see `buildPath`). */
	path: string;
	/** `/api/ai` without it. */
	apiRoot?: string;
	/** JSON text, already serialized, or a multipart form. */
	body?: string | FormData;
	/** How long the connection may be silent: n8n's client restarts this timeout with every byte. */
	timeoutMs: number;
	/** How long a stream or the sending of a form may take in all, even if bytes keep arriving; others `timeoutMs`. */
	totalMs?: number;
	/** Whether to send it even after the execution was stopped. */
	afterStop?: boolean;
	/** What is read of a 2xx answer; `anyAnswer` takes any JSON, text or none. */
	schema: AnswerSchema<Answer>;
	/** Reads a 2xx answer as a stream of events; `timeoutMs` must be longer than its heartbeat. */
	stream?: EventStream;
}

/** The outcome of a request: the parsed answer of a 2xx, or the failure. */
export type Outcome<Answer = unknown> = Answered<Answer> | { ok: false; failure: Failure };

/** Sends a request. Never throws because of the network or the server. */
export type Send = <Answer>(request: ApiRequest<Answer>) => Promise<Outcome<Answer>>;

/** What requests with a credential are sent with. */
export interface Connection {
	send: Send;
	/** Stands for the server and the token, without telling them. */
	account: string;
}

/** Makes what sends the requests of a list in the editor or of a poll, which have no items. */
export async function createSend(context: RequestContext): Promise<Send> {
	return connect(await readCredential(context), context).send;
}

/**
 * Makes what sends requests with the node's credential. The token is sent only to the origin of the Base URL: redirects
 * are not followed, and the credential's allowed domains go along with every request.
 *
 * @param ofItem methods that take the place of the context's, where each item has a credential of its own
 */
function connect(credential: ReadCredential, context: RequestContext, ofItem = {}): Connection {
	const target = readRequestTarget(credential);
	const token = tokenOf(credential);
	const redact = redactor(token);
	const send: Send = async <Answer>(request: ApiRequest<Answer>) => {
		const { method, path, apiRoot = API_ROOT, schema, stream } = request;
		const received =
			'refusal' in target
				? ({ kind: 'refused', reason: target.refusal } as const)
				: await exchange(request, target, redact, context, ofItem);
		// An answer in place of a stream can only be a rejection.
		const isRejected = stream && 'headers' in received && !isEventStream(received);
		const outcome: Answered<Answer> | Details =
			'kind' in received
				? received
				: readResponse(received, isRejected ? NO_STREAM : schema, redact);
		if ('ok' in outcome) return outcome;
		// All foreign text passes here: no failure contains the token, or markup.
		const foreign = pick(outcome, 'code', 'reason', 'requestId');
		const safe = mapValues(foreign, (text) => text && sanitize(redact(text)));
		const failure = { ...outcome, ...safe, method, path: redact(apiRoot + path) };
		return { ok: false, failure };
	};
	return { send, account: hash('sha256', JSON.stringify([target, token])) };
}

/** A time as timers take it; the HTTP client treats 0.4 as no timeout. */
const wholeMs = (ms: number) => clamp(Math.ceil(ms), 1, 2 ** 31 - 1);

/** Sends a request and receives the response, or why there is none. */
async function exchange(
	{ method, path, apiRoot = API_ROOT, body, stream, ...limits }: ApiRequest,
	{ root, allowedDomains }: { root: string; allowedDomains?: string },
	redact: Redact,
	context: RequestContext,
	ofItem: object,
): Promise<IN8nHttpFullResponse | Details> {
	const timeout = wholeMs(limits.timeoutMs);
	const totalMs = stream || body instanceof FormData ? limits.totalMs : timeout;
	const deadline = totalMs === undefined ? undefined : AbortSignal.timeout(wholeMs(totalMs));
	const cancelled = limits.afterStop ? undefined : cancelSignal(context);
	const signal = AbortSignal.any(compact([deadline, stream?.signal, cancelled]));
	const options: IHttpRequestOptions = {
		method,
		url: `${root}${apiRoot}${path}`,
		headers: {
			...(stream ? streamHeaders(stream) : { Accept: 'application/json' }),
			...(typeof body === 'string' && { 'Content-Type': 'application/json' }),
		},
		// JSON is sent as bytes: n8n's client would parse text again.
		body: typeof body === 'string' ? Buffer.from(body) : body,
		encoding: stream ? 'stream' : 'text',
		timeout,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		sendCredentialsOnCrossOriginRedirect: false,
		allowedDomains,
	};
	// n8n takes the abort signal only from the context.
	const own = Object.assign(Object.create(context) as RequestContext, ofItem, {
		getExecutionCancelSignal: () => signal,
	});
	try {
		const send = context.helpers.httpRequestWithAuthentication;
		const full = (await send.call(own, CREDENTIAL_NAME, options)) as IN8nHttpFullResponse;
		return stream ? await readStream(full, stream, redact, signal) : full;
	} catch (error) {
		return refusalHead(error) ?? networkFailure(error, cancelled, deadline);
	} finally {
		if (body instanceof FormData) closeFiles(body);
	}
}

/** An answer of the wrong kind in place of a stream. */
const NO_STREAM = z.custom<never>(() => false, 'it is no stream of events');

type Head = Partial<{ status: number; statusText: string; headers: IDataObject }>;

/**
 * The head of a rejection whose body broke off. It says more than the broken connection: proxies that refuse a tunnel
 * close the connection this way.
 */
function refusalHead(error: unknown): IN8nHttpFullResponse | undefined {
	const { status = 0, statusText, headers } = get(error, 'cause.response', {}) as Head;
	if (status < 400) return undefined;
	return { statusCode: status, statusMessage: statusText, headers: { ...headers }, body: '' };
}

/** n8n wraps the error of axios; only its code and message are kept, never the request. */
function networkFailure(error: unknown, signal?: AbortSignal, deadline?: AbortSignal): Details {
	const codes: unknown[] = ['cause.code', 'httpCode', 'code'].map((path) => get(error, path));
	const code = codes.find((value): value is string => typeof value === 'string');
	if (deadline?.aborted && !signal?.aborted) return { kind: 'timeout', code: 'ECONNABORTED' };
	if (signal?.aborted || code === 'ERR_CANCELED') return { kind: 'cancelled', code };
	const blocked = blockedTarget(error);
	if (blocked !== undefined) return { kind: 'blocked', reason: blocked };
	if (code === 'ECONNABORTED' || code === 'ETIMEDOUT') return { kind: 'timeout', code };
	const reason = get(error, 'cause.message') ?? get(error, 'message');
	return { kind: 'network', code, reason: typeof reason === 'string' ? reason : undefined };
}

/**
 * The address or host name that n8n's SSRF protection blocked. If it blocks while connecting, axios wraps its error
 * as well.
 */
function blockedTarget(error: unknown): string | undefined {
	const causes: unknown[] = [get(error, 'cause.cause'), get(error, 'cause'), error];
	const block = causes.find((cause) => /^SsrfBlocked/.test(String(get(cause, 'name'))));
	if (block === undefined) return undefined;
	return String(get(block, 'ip') ?? get(block, 'hostname') ?? 'this address');
}

/** The signal that is aborted when the execution is stopped; lists in the editor and polls have none. */
export function cancelSignal(context: RequestContext): AbortSignal | undefined {
	const { getExecutionCancelSignal } = context as Partial<IExecuteFunctions>;
	return getExecutionCancelSignal?.call(context);
}

/**
 * The connections of all items, which share one if their credential is the same. Fields of a credential may be
 * expressions, which n8n resolves for one item at a time. Reading a credential queries n8n's database, so it is read for
 * each item only if it may differ.
 */
export async function connectionsOf(context: IExecuteFunctions): Promise<Connection[]> {
	const items = context.getInputData();
	const read = async (index: number) => await readCredential(context, index);
	const first = await read(0);
	// An expression that uses its item fails for an item that does not exist. Reading the last item excludes expressions
	// that only count items.
	const isSame = async (index: number) =>
		!('refusal' in first) && isEqual(first, await read(index));
	if (items.length <= 1 || ((await isSame(items.length)) && (await isSame(items.length - 1)))) {
		const connection = connect(first, context);
		return items.map(() => connection);
	}
	const connectOnce = memoize(connect, (credential) => JSON.stringify(credential));
	const connections: Connection[] = [];
	for (const index of items.keys()) {
		// n8n reads the credential again for each request.
		const getCredentials = async (type: string) => await context.getCredentials(type, index);
		connections.push(connectOnce(await read(index), context, { getCredentials }));
	}
	return connections;
}
