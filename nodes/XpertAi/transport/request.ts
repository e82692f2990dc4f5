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

import { answerFlaw, answerIssue, parseAnswer } from './answer';
import type { AnswerSchema } from './answer';
import { API_ROOT, CREDENTIAL_NAME } from './api';
import { readUrl } from './baseUrl';
import { readCredential, readRequestTarget, secretsOf } from './credential';
import type { ReadCredential, RequestContext } from './credential';
import type { Failure } from './failure';
import { failureReason, missingIn, parseRetryAfter } from './failureReason';
import { readEvents, isEventStream, streamHeaders, bodyText } from './eventStream';
import type { Body, EventStream } from './eventStream';
import { closeFiles } from './multipart';
import { sanitize, withoutSecrets } from './sanitize';

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
	/** How long the whole answer may take, even if it keeps arriving. */
	totalMs?: number;
	/** Whether to send it even after the execution was stopped; `totalMs` limits it then. */
	afterStop?: boolean;
	/** What is read of a 2xx answer; `anyAnswer` takes any JSON, text or none. */
	schema: AnswerSchema<Answer>;
	/** Reads a 2xx answer as a stream of events; `timeoutMs` must be longer than its heartbeat. */
	stream?: EventStream;
}

/** The outcome of a request: the parsed answer of a 2xx, or the failure. */
export type Outcome<Answer = unknown> =
	| { ok: true; status: number; answer: Answer }
	| { ok: false; failure: Failure };

/** A failure without its request. */
type Details = Omit<Failure, 'method' | 'path'>;

/** Fields of a failure with foreign text, which must be sanitized. */
const FOREIGN_TEXTS = ['code', 'reason', 'requestId'] as const;

/** Sends a request. Never throws because of the network or the server. */
export type Send = <Answer>(request: ApiRequest<Answer>) => Promise<Outcome<Answer>>;

/**
 * Makes the function that sends requests with the node's credential. The token is sent only to the origin of the Base
 * URL: redirects are not followed, and the credential's allowed domains go along with every request.
 */
export async function createSend(context: RequestContext): Promise<Send> {
	return connect(await readCredential(context), context).send;
}

/** @param itemIndex the item whose credential it is, if each item has its own */
function connect(
	credential: ReadCredential,
	context: RequestContext,
	itemIndex?: number,
): Connection {
	const target = readRequestTarget(credential);
	const secrets = secretsOf(credential);

	const send: Send = async (request) => {
		const {
			method,
			path,
			apiRoot = API_ROOT,
			body,
			timeoutMs,
			totalMs,
			schema,
			stream,
			afterStop,
		} = request;
		// All foreign text passes here: no failure contains the token, or markup.
		const fail = (details: Details): Outcome<never> => ({
			ok: false,
			failure: {
				...details,
				...mapValues(pick(details, FOREIGN_TEXTS), (text) => text && sanitize(text, secrets)),
				method,
				path: withoutSecrets(apiRoot + path, secrets),
			},
		});
		if ('refusal' in target) return fail({ kind: 'refused', reason: target.refusal });

		const options: IHttpRequestOptions = {
			method,
			url: `${target.root}${apiRoot}${path}`,
			headers: {
				...(stream ? streamHeaders(stream) : { Accept: 'application/json' }),
				...(typeof body === 'string' && { 'Content-Type': 'application/json' }),
			},
			// JSON is sent as bytes: n8n's client would parse text again.
			body: typeof body === 'string' ? Buffer.from(body) : body,
			encoding: stream ? 'stream' : 'text',
			// The HTTP client treats 0.4 as no timeout.
			timeout: Math.max(1, Math.ceil(timeoutMs)),
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			sendCredentialsOnCrossOriginRedirect: false,
			allowedDomains: target.allowedDomains,
		};
		const deadline = totalMs === undefined ? undefined : AbortSignal.timeout(Math.ceil(totalMs));
		const cancelled = afterStop ? undefined : cancelSignal(context);
		const signals = compact([deadline, stream?.signal, cancelled]);
		const signal = signals.length > 1 ? AbortSignal.any(signals) : signals[0];
		const received = await context.helpers.httpRequestWithAuthentication
			.call(contextFor(context, signal, itemIndex), CREDENTIAL_NAME, options)
			.then(async (full: IN8nHttpFullResponse) =>
				stream ? await receiveStream(full, stream, signal) : full,
			)
			.catch((error: unknown) => refusalHead(error) ?? networkFailure(error, cancelled, deadline));
		if (body instanceof FormData) closeFiles(body);
		if ('kind' in received) return fail(received);
		// An answer in place of a stream can only be a rejection.
		if (stream && !isEventStream(received)) return readResponse(received, NO_STREAM, fail);
		return readResponse(received, schema, fail);
	};
	const account = hash('sha256', JSON.stringify([target, secrets]));
	return { send, secrets, account };
}

/** An answer of the wrong kind in place of a stream. */
const NO_STREAM = z.custom<never>(() => false, 'it is no stream of events');

/** Reads a stream to its end, which leaves no answer; any other answer is read as text. */
async function receiveStream(
	full: IN8nHttpFullResponse,
	stream: EventStream,
	signal: AbortSignal | undefined,
): Promise<IN8nHttpFullResponse | Details> {
	const body = full.body as Body;
	if (!isEventStream(full)) return { ...full, body: await bodyText(body, signal) };
	const end = await readEvents(body, stream, signal);
	return end ? { ...end, status: full.statusCode } : { ...full, body: '' };
}

function readResponse<Answer>(
	response: IN8nHttpFullResponse,
	schema: AnswerSchema<Answer>,
	fail: (facts: Details) => Outcome<never>,
): Outcome<Answer> {
	const { statusCode: status, headers } = response;
	const requestId = headerText(headers['x-request-id']);
	const answer = typeof response.body === 'string' ? parseAnswer(response.body) : response.body;
	if (status >= 200 && status < 300) {
		// Text that parsed as JSON is complete, even if it starts with a bracket.
		const flaw = answerFlaw(answer, answer === response.body);
		const { success, data, error } = schema.safeParse(answer);
		if (success && flaw === undefined) return { ok: true, status, answer: data };
		const reason = flaw ?? (error && answerIssue(answer, error));
		return fail({ kind: 'unreadable', status, requestId, reason });
	}
	if (status >= 300 && status < 400) {
		const location = headerText(headers.location);
		return fail({ kind: 'redirect', status, requestId, reason: originOf(location) });
	}
	return fail({
		kind: 'status',
		status,
		requestId,
		reason: failureReason(answer) ?? headerText(response.statusMessage),
		retryAfterMs: parseRetryAfter(headers['retry-after'], Date.now()),
		missing: status === 404 ? missingIn(answer) : undefined,
	});
}

/**
 * The head of a rejection whose body broke off. It says more than the broken connection: proxies that refuse a tunnel
 * close the connection this way.
 */
function refusalHead(error: unknown): IN8nHttpFullResponse | undefined {
	const head: unknown = get(error, 'cause.response');
	const statusCode: unknown = get(head, 'status');
	if (typeof statusCode !== 'number' || statusCode < 400) return undefined;
	const statusMessage = headerText(get(head, 'statusText'));
	const headers: IDataObject = { ...get(head, 'headers', {}) };
	return { statusCode, statusMessage, headers, body: '' };
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

/** A context for one request: n8n takes the abort signal, and the credential of an item, only from the context. */
function contextFor(
	context: RequestContext,
	signal?: AbortSignal,
	itemIndex?: number,
): RequestContext {
	const getCredentials = async (type: string) =>
		await (context as IExecuteFunctions).getCredentials(type, itemIndex);
	return Object.create(context, {
		...(signal && { getExecutionCancelSignal: { value: () => signal } }),
		...(itemIndex !== undefined && { getCredentials: { value: getCredentials } }),
	}) as RequestContext;
}

function headerText(value: unknown): string | undefined {
	return typeof value === 'string' && value !== '' ? value : undefined;
}

function originOf(location: string | undefined): string {
	if (location === undefined) return 'another address';
	const url = readUrl(location);
	if (!url) return 'another path of the same server';
	// Addresses that are not of the web have no origin.
	return url.origin === 'null' ? url.protocol : url.origin;
}

/** What the requests of an item are sent with. Items with the same credential share a connection. */
export interface Connection {
	send: Send;
	/** All spellings of the token, which must not appear in output (`spellingsOf`). */
	secrets: string[];
	/** Stands for the server and the token, without telling them. */
	account: string;
}

/**
 * The connections of all items. Fields of a credential may be expressions, which n8n resolves for one item at a time.
 * Reading a credential queries n8n's database, so it is read for each item only if it may differ.
 */
export async function connectionsOf(context: IExecuteFunctions): Promise<Connection[]> {
	const items = context.getInputData();
	const first = await readCredential(context, 0);
	if (items.length <= 1 || (await isSameForAll(first, context, items.length))) {
		const connection = connect(first, context);
		return items.map(() => connection);
	}
	const connectOnce = memoize(connect, (credential) => JSON.stringify(credential));
	const connections: Connection[] = [];
	for (const index of items.keys())
		connections.push(connectOnce(await readCredential(context, index), context, index));
	return connections;
}

/**
 * Whether a credential is the same for all items. Then it can also be read for an item that does not exist; an
 * expression that uses its item fails there. Reading the last item excludes expressions that only count items.
 */
async function isSameForAll(
	first: ReadCredential,
	context: IExecuteFunctions,
	itemCount: number,
): Promise<boolean> {
	if ('refusal' in first) return false;
	for (const index of [itemCount, itemCount - 1])
		if (!isEqual(first, await readCredential(context, index))) return false;
	return true;
}
