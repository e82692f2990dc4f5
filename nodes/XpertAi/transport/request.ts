import { clamp, compact, get, mapValues, memoize, pick } from 'lodash';
import { hash } from 'crypto';
import type {
	IDataObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	IN8nHttpFullResponse,
} from 'n8n-workflow';

import { type Answered, type FailureWithoutRequest, readResponse } from './answer';
import type { AnswerSchema } from './answerSchemas';
import { API_ROOT, CREDENTIAL_NAME } from './api';
import {
	type CredentialFields,
	readCredential,
	readRequestTarget,
	type RequestContext,
	type RequestTarget,
	tokenOf,
} from './credential';
import type { Failure } from './failure';
import { type EventStreamOptions, readStream } from './eventStream';
import { closeFiles } from './multipart';
import { sanitizedLine } from './sanitizedLine';
import { type Redact, redactor } from './redact';

export interface ApiRequest<Answer = unknown> {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** The path below `apiRoot`, with encoded parameters (see `buildPath`). */
	path: string;
	/** The root path of the API; default `/api/ai`. */
	apiRoot?: string;
	/** JSON text, or a multipart form. */
	body?: string | FormData;
	/** The maximum total time. For a stream or a form upload, the maximum idle time. */
	timeoutMs: number;
	/** The maximum total time of a stream or a form upload. Default: no limit. */
	totalMs?: number;
	/** If true, stopping the execution does not cancel the request. */
	ignoresStop?: boolean;
	/** The schema of a 2xx answer. */
	schema: AnswerSchema<Answer>;
	/** If set, a 2xx answer is an event stream. `timeoutMs` must exceed the interval of the server's heartbeats. */
	stream?: EventStreamOptions;
}

/** The outcome of a request: the parsed 2xx answer, or the failure. */
export type RequestOutcome<Answer = unknown> = Answered<Answer> | { ok: false; failure: Failure };

/** Sends a request once. Returns failures instead of throwing them. */
export type Send = <Answer>(request: ApiRequest<Answer>) => Promise<RequestOutcome<Answer>>;

/** A client that sends requests with one credential. */
export type Connection = ReturnType<typeof createConnection>;

/** Returns the connection for a dropdown list or a poll, which have no input items. */
export const connectionWithoutItem = async (context: RequestContext): Promise<Connection> =>
	createConnection(await readCredential(context), context);

/** Returns the connection of a credential. Requests never follow redirects, so that no other server gets the token. */
function createConnection(credential: CredentialFields, context: RequestContext) {
	const target = readRequestTarget(credential);
	const token = tokenOf(credential);
	const redact = redactor(token);
	const send: Send = async <Answer>(request: ApiRequest<Answer>) => {
		const { method, path, apiRoot = API_ROOT, schema } = request;
		const received = await sendOnce(request, target, redact, context);
		const outcome = isFailureWithoutRequest(received)
			? received
			: readResponse(received, schema, redact);
		if (!isFailureWithoutRequest(outcome)) return outcome;
		// Removes the token and markup from the texts of a failure, because n8n shows these texts.
		const texts = pick(outcome, 'code', 'reason', 'requestId');
		const safeTexts = mapValues(texts, (text) => text && sanitizedLine(redact(text)));
		const failure = { ...outcome, ...safeTexts, method, path: redact(apiRoot + path) };
		return { ok: false, failure };
	};
	return {
		send,
		/** The root address of the server; empty if the node rejects the credential. */
		server: 'root' in target ? target.root : '',
		/** A hash that identifies the server and the token, but does not reveal the token. */
		account: hash('sha256', JSON.stringify([target, token])),
		/** The ID of the credential in n8n; empty if the node has no credential. */
		credentialId: context.getNode().credentials?.[CREDENTIAL_NAME]?.id ?? '',
	};
}

const isFailureWithoutRequest = (outcome: object): outcome is FailureWithoutRequest =>
	'kind' in outcome;

/** Rounds a time up to whole milliseconds, within the range of timers. A time of 0 would mean no timeout. */
const wholeMs = (ms: number) => clamp(Math.ceil(ms), 1, 2 ** 31 - 1);

/** Sends a request. Returns the unparsed response, or a failure. */
async function sendOnce(
	{ method, path, apiRoot = API_ROOT, body, stream, ...limits }: ApiRequest,
	target: RequestTarget,
	redact: Redact,
	context: RequestContext,
): Promise<IN8nHttpFullResponse | FailureWithoutRequest> {
	if ('issue' in target) return { kind: 'invalidCredential', reason: target.issue };
	const { root, allowedDomains } = target;
	// n8n's `timeout` limits the idle time. Except for a stream or a form, `timeoutMs` also limits the total time.
	const timeout = wholeMs(limits.timeoutMs);
	const totalMs = stream || body instanceof FormData ? limits.totalMs : timeout;
	const deadline = totalMs === undefined ? undefined : AbortSignal.timeout(wholeMs(totalMs));
	const cancelled = limits.ignoresStop ? undefined : executionCancelSignal(context);
	const signal = AbortSignal.any(compact([deadline, stream?.signal, cancelled]));
	const options: IHttpRequestOptions = {
		method,
		url: `${root}${apiRoot}${path}`,
		headers: {
			Accept: stream ? 'text/event-stream' : 'application/json',
			...(stream?.lastEventId !== undefined && { 'Last-Event-ID': stream.lastEventId }),
			...(typeof body === 'string' && { 'Content-Type': 'application/json' }),
		},
		// The node sends JSON as bytes, because n8n's client would parse a JSON text once more, which takes time.
		body: typeof body === 'string' ? Buffer.from(body) : body,
		encoding: stream ? 'stream' : 'text',
		timeout,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		sendCredentialsOnCrossOriginRedirect: false,
		allowedDomains,
	};
	// n8n reads the abort signal from the context, not from the options.
	const ownContext = withMethods(context, { getExecutionCancelSignal: () => signal });
	try {
		const request = context.helpers.httpRequestWithAuthentication;
		const response = (await request.call(
			ownContext,
			CREDENTIAL_NAME,
			options,
		)) as IN8nHttpFullResponse;
		return stream ? await readStream(response, stream, redact, signal) : response;
	} catch (error) {
		return unreadErrorResponse(error) ?? failureFromError(error, cancelled, deadline);
	} finally {
		if (body instanceof FormData) closeFiles(body);
	}
}

type ErrorResponse = Partial<{ status: number; statusText: string; headers: IDataObject }>;

/**
 * Returns an error response whose body could not be read, with an empty body.
 *
 * @returns undefined if the error contains no response with a status from 400
 */
function unreadErrorResponse(error: unknown): IN8nHttpFullResponse | undefined {
	const { status = 0, statusText, headers } = get(error, 'cause.response', {}) as ErrorResponse;
	if (status < 400) return undefined;
	return { statusCode: status, statusMessage: statusText, headers: { ...headers }, body: '' };
}

/**
 * Converts an error of n8n's HTTP client to a failure. Copies only some fields, because the error contains the token.
 */
function failureFromError(
	error: unknown,
	cancelled?: AbortSignal,
	deadline?: AbortSignal,
): FailureWithoutRequest {
	const codes: unknown[] = ['cause.code', 'httpCode', 'code'].map((path) => get(error, path));
	const code = codes.find((value): value is string => typeof value === 'string');
	if (cancelled?.aborted) return { kind: 'cancelled', code };
	if (deadline?.aborted) return { kind: 'timeout', code: 'ECONNABORTED' };
	// Neither of these signals was aborted, so it was the signal of the stream (see `EventStreamOptions`).
	if (code === 'ERR_CANCELED') return { kind: 'cancelled', code };
	// axios can wrap n8n's SSRF error, so the causes of the error are searched.
	const causes: unknown[] = [get(error, 'cause.cause'), get(error, 'cause'), error];
	const block = causes.find((cause) => /^SsrfBlocked/.test(String(get(cause, 'name'))));
	if (block) return { kind: 'blocked', reason: String(get(block, 'ip') ?? get(block, 'hostname')) };
	if (code === 'ECONNABORTED' || code === 'ETIMEDOUT') return { kind: 'timeout', code };
	const reason = get(error, 'cause.message') ?? get(error, 'message');
	return { kind: 'network', code, reason: typeof reason === 'string' ? reason : undefined };
}

/** Returns the signal that n8n aborts when the execution is stopped. Undefined for dropdown lists and polls. */
export function executionCancelSignal(context: RequestContext): AbortSignal | undefined {
	const { getExecutionCancelSignal } = context as Partial<IExecuteFunctions>;
	return getExecutionCancelSignal?.call(context);
}

/**
 * Returns the connection of each item. Items with the same credential data share a connection. A credential without
 * expressions is not read for each item, because each read queries n8n's database.
 */
export async function connectionsOf(context: IExecuteFunctions): Promise<Connection[]> {
	const items = context.getInputData();
	if (items.length <= 1 || !(await hasExpressions(context))) {
		const connection = createConnection(await readCredential(context, 0), context);
		return items.map(() => connection);
	}
	const connectOnce = memoize(createConnection, (credential) => JSON.stringify(credential));
	const connections: Connection[] = [];
	for (const index of items.keys()) {
		// n8n reads the credential for each request, but without an item index. The override adds the index.
		const getCredentials = async (type: string) => await context.getCredentials(type, index);
		const credential = await readCredential(context, index);
		connections.push(connectOnce(credential, withMethods(context, { getCredentials })));
	}
	return connections;
}

/**
 * Whether fields of the credential are expressions, or the credential cannot be read. Reads the credential with an object
 * in place of the item index. To resolve an expression, n8n looks up the item and so converts this object to a number.
 * If the credential cannot be read, the message of `readCredential` converts the object, too.
 */
async function hasExpressions(context: IExecuteFunctions): Promise<boolean> {
	let isIndexUsed = false;
	const toPrimitive = () => {
		isIndexUsed = true;
		return 0;
	};
	await readCredential(context, { [Symbol.toPrimitive]: toPrimitive } as unknown as number);
	return isIndexUsed;
}

/** Returns a context that inherits from `context` and overrides these methods. */
const withMethods = (context: RequestContext, methods: object) =>
	Object.assign(Object.create(context) as RequestContext, methods);
