import { compact } from 'lodash';

import { sanitize } from './sanitize';

/** The hint for each kind of failure, if no more specific hint applies. */
const KIND_HINTS = {
	/** Not sent: the credential is not valid, or its allowed domains exclude the host. */
	refused: 'Open the Xpert AI credential and correct it there.',
	/** Not sent: n8n's SSRF protection blocks the address. */
	blocked:
		'If the Base URL of the credential is right, whoever runs n8n can allow its address in N8N_SSRF_ALLOWED_IP_RANGES or its host name in N8N_SSRF_ALLOWED_HOSTNAMES.',
	/** The execution was stopped. */
	cancelled: '',
	/** The answer did not arrive in time. */
	timeout:
		'Raise "Timeout (Seconds)" or "Deadline (Minutes)" under Options, or check how busy the server is. It may still have done the work.',
	/** There was no connection, or it broke. */
	network: 'Check the Base URL of the credential, the server, and the proxy if n8n uses one.',
	/** The server answered with a redirect (3xx), which the node does not follow. */
	redirect: 'Enter the address the server points to as the Base URL of the credential.',
	/** The request succeeded, but the answer says that the work behind it failed. */
	unsuccessful: '',
	/**
	 * A 2xx with an answer that this API does not send: the answer does not match the schema, or is an HTML page,
	 * incomplete JSON or not the requested stream.
	 */
	unreadable:
		'Enter the address of an Xpert AI server as Base URL in the credential, not that of a page, and look at proxies on the way. The server may have done the work.',
	/** An answer with a status that is neither 2xx nor 3xx. */
	status: '',
};

/** Why a request failed, as plain data, so that callers can decide what to do without catching exceptions. */
export interface Failure {
	kind: keyof typeof KIND_HINTS;
	/** HTTP status, if there was an answer. */
	status?: number;
	/** The error code of Node.js or axios, if there was no complete answer (`ECONNREFUSED`, …). */
	code?: string;
	/** The reason in one line, given by the server or by the node. */
	reason?: string;
	/**
	 * What does not exist according to a 404 of the API: a record or the route. Undefined for all other answers, e.g.
	 * for a 404 that a proxy sends while a container restarts, and for a missing route that only one answer reported.
	 */
	missing?: 'record' | 'route';
	/**
	 * True if this API has not answered any request of the execution so far. Set only for executions that a user
	 * started in the editor: these give up early if the address is wrong.
	 */
	unanswered?: boolean;
	/** The `x-request-id` of the answer, by which the request is found in the log of the server. */
	requestId?: string;
	/** How long the server asks to wait, in milliseconds (`Retry-After`). */
	retryAfterMs?: number;
	/** How often the request was sent, if known. */
	attempts?: number;
	/** The path of the request, without the origin; empty if the failure does not come from a request. */
	path: string;
	method: string;
}

const STATUS_HINTS: Record<number, string> = {
	401: 'Make a new key under Settings → API Keys on the server and enter it in the credential: this one may have expired, or belong to another server.',
	404: 'Enter the address of an Xpert AI server as Base URL in the credential, without the path of a page. An older server may not offer this operation, and proxies also answer this way while their server is away.',
	407: 'The proxy between n8n and the server asks for a user name and password. Whoever runs n8n adds them to its address in HTTPS_PROXY.',
	413: 'Make it smaller, or have the limit raised: Xpert AI servers take 50 MB of JSON in one request, many proxies less.',
	429: 'Wait, then run it again with fewer at once.',
	500: 'Xpert AI servers answer this way to an ID that is not a UUID and to a body they cannot read. Then look up the request ID in the log of the server.',
};

const OUTAGE_HINT = 'The server could not finish the request. Run it again later.';

const RECORD_HINT =
	'The server does not have this, or the key may not see it. Check the IDs and names you have given.';

const PLAIN_HTTP_HINT =
	'Enter the Base URL with the port that speaks https, or with http:// and, for another host, Allow Insecure HTTP.';

/** Matches the Node.js error codes of a failed TLS connection or a rejected certificate. */
const TLS_CODE = /^(EPROTO|ERR_TLS_.+|CERT_.+|.*SELF_SIGNED_CERT.*|UNABLE_TO_(GET|VERIFY)_.+)$/;

/** Matches the Node.js error codes of a connection that was never made. */
const UNCONNECTED_CODE = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;

/** Reasons for network errors whose Node.js messages are not clear to users. */
const NETWORK_REASONS: Record<string, string> = {
	ECONNREFUSED: 'nothing accepts connections at this address',
	ENOTFOUND: 'the host name is not known',
	EAI_AGAIN: 'the host name could not be looked up just now',
	EPROTO: 'no secure connection could be agreed on',
	ECONNRESET: 'the connection was closed before an answer came',
	EPIPE: 'the connection was closed while sending',
	// The code of axios for a connection that closes while the answer is read.
	ERR_BAD_RESPONSE: 'the connection was closed in the middle of the answer',
};

/** Says in one sentence what happened. */
export const failureMessage = (failure: Failure): string => MESSAGES[failure.kind](failure);

const MESSAGES: Record<Failure['kind'], (failure: Failure) => string> = {
	refused: ({ reason }) => reason ?? 'The request was not sent',
	blocked: ({ reason }) => `n8n's SSRF protection does not allow requests to ${reason}`,
	// Contains the word "canceled", by which n8n recognizes a stopped execution.
	cancelled: () => 'The execution was canceled before the server answered',
	timeout: () => 'The server did not answer in time',
	network: (failure) => {
		const { code, reason } = failure;
		const known = speaksPlainHttp(failure)
			? 'the address speaks http, not https'
			: (NETWORK_REASONS[code ?? ''] ?? reason ?? 'the connection broke');
		return `The server could not be reached: ${known}${code ? ` (${code})` : ''}`;
	},
	redirect: ({ reason, status }) =>
		`The server redirects to ${reason ?? 'another address'}, which the node does not follow with your token (HTTP ${status})`,
	// This reason comes from a 2xx answer. Unlike the reasons in error responses, it has not been sanitized yet.
	unsuccessful: ({ reason = '' }) => sanitize(reason) ?? 'It did not end well',
	unreadable: ({ reason, status }) =>
		`The server's answer cannot be read: ${reason} (HTTP ${status})`,
	status: ({ reason, status = 0 }) => {
		const known = STATUS_MESSAGES[status];
		if (known) return `${known}${reason ? `: ${reason}` : ''} (HTTP ${status})`;
		return `The ${status === 407 ? 'proxy' : 'server'} answered ${status}: ${reason || 'it gave no reason'}`;
	},
};

/** Messages for statuses that users understand better than the server's reason, which is shown after the message. */
const STATUS_MESSAGES: Record<number, string> = {
	401: 'The server does not accept this key',
	403: 'This key may not do this',
	413: 'This is too large for the server',
	429: 'The server takes no more requests just now',
};

/** Matches the TLS errors that occur when a server answers in plain HTTP. */
const PLAIN_HTTP = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/;

const failsTls = (code: string) => TLS_CODE.test(code) || PLAIN_HTTP.test(code);

const speaksPlainHttp = ({ kind, code, reason = '' }: Failure) =>
	kind === 'network' && PLAIN_HTTP.test(`${code} ${reason}`.replace(/ /g, '_').toUpperCase());

/**
 * Describes what the user can do after a failure: a hint, then the time the server asks to wait. If the server does not
 * offer the operation, the text says so in place of the hint.
 *
 * @param hint replaces the general hint
 */
export function failureDescription(failure: Failure, hint = generalHint(failure)): string {
	const { status, reason = '', retryAfterMs } = failure;
	const isOffered = status !== 501 && !/not (yet )?implemented/i.test(reason);
	return compact([
		isOffered ? hint : 'This server does not offer this operation.',
		retryAfterMs && `The server asks to wait ${Math.ceil(retryAfterMs / 1000)} seconds.`,
	]).join(' ');
}

/** The general hint, by kind and status of the failure; empty if there is none. */
function generalHint(failure: Failure): string {
	const { kind, status = 0, missing } = failure;
	if (missing === 'record') return RECORD_HINT;
	if (speaksPlainHttp(failure)) return PLAIN_HTTP_HINT;
	if (kind !== 'status') return KIND_HINTS[kind];
	return STATUS_HINTS[status] ?? (status >= 500 ? OUTAGE_HINT : '');
}

/**
 * Statuses of temporary failures in servers and proxies; 520 to 524 and 530 come from Cloudflare, 529 from other
 * services. 409, 413, 422 and 500 are missing, because the same request would get the same answer again.
 */
const TRANSIENT_STATUS = [408, 425, 429, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530];

/** Whether the failure is temporary, so that a retry can help. */
export function isTransient(failure: Failure): boolean {
	const { kind, status = 0, code = '' } = failure;
	// TLS fails because of the certificate or the protocol, which a retry does not change.
	if (failsTls(code)) return false;
	if (kind === 'network' || kind === 'timeout' || kind === 'unreadable') return true;
	if (isForeignNotFound(failure) || isBusy(failure)) return true;
	return kind === 'status' && TRANSIENT_STATUS.includes(status);
}

/**
 * Whether the failure is a 404 that does not come from the API, but from a proxy whose server is down or from an
 * unrelated server.
 */
export const isForeignNotFound = (failure: Failure) =>
	failure.kind === 'status' && failure.status === 404 && failure.missing === undefined;

/**
 * Whether the answer seems to come from a server of another API: it is unreadable, or this API has not answered any
 * request of the execution so far.
 */
export const isForeignAnswer = ({ kind, unanswered }: Failure) =>
	kind === 'unreadable' || unanswered === true;

/** After this many foreign answers in a row (see `isForeignAnswer`), a request is not repeated. */
export const MAX_FOREIGN_ANSWERS = 3;

/**
 * Whether the failure proves that the server did not process the request. A 503 is a proof only with Retry-After,
 * because servers send this header before they read a request. A 503 without this header can come from a proxy after
 * the server has read the request.
 */
export function certainlyNotDone(failure: Failure): boolean {
	const { status, retryAfterMs, missing } = failure;
	if (isNeverSent(failure) || missing === 'route') return true;
	return status === 429 || (status === 503 && retryAfterMs !== undefined) || isBusy(failure);
}

/**
 * Whether nothing was sent to the server: the credential or n8n forbids the request, no connection was made, or TLS
 * failed.
 */
export const isNeverSent = ({ kind, code = '' }: Failure) =>
	kind === 'refused' ||
	kind === 'blocked' ||
	(kind === 'network' && (UNCONNECTED_CODE.test(code) || failsTls(code)));

/**
 * The start of the reason that servers give while they rebuild the index of a knowledgebase. They reject requests
 * during this time without looking at them (recorded, `knowledge`).
 */
const BUSY_REASON = /^embedding rebuild is running/i;

/** Whether the server rejected the request only because it is rebuilding the index of the knowledgebase. */
export const isBusy = ({ kind, status, reason = '' }: Failure) =>
	kind === 'status' && status === 400 && BUSY_REASON.test(reason);

/**
 * Whether it is unknown if the server processed the request or will still process it: after temporary failures and
 * statuses above 501, unless `certainlyNotDone` is true. Proxies send statuses above 501 for a server that did not
 * answer. False for `cancelled`, which callers must check themselves.
 */
export function isOutcomeUnknown(failure: Failure): boolean {
	const { status = 0 } = failure;
	return (isTransient(failure) || status > 501) && !certainlyNotDone(failure);
}

/** Whether the server seems to lack the route: it answered 405, 501, or a 404 that is not about a record. */
export function isNoRoute({ kind, status = 0, missing }: Failure): boolean {
	if (kind !== 'status') return false;
	return status === 405 || status === 501 || (status === 404 && missing !== 'record');
}

/** Whether the server rejects the token, in general (401) or for this request (403). */
export const isTokenRefused = ({ status = 0 }: Failure) => status === 401 || status === 403;

/**
 * Whether the answer can mean that a record does not exist: a 404 about a record, or a 500, which Xpert AI servers also
 * send for a missing record.
 */
export const mayMeanNoRecord = ({ kind, status, missing }: Failure) =>
	kind === 'status' && (missing === 'record' || status === 500);

/** Whether the request was too large for the server or a proxy. No part of such a request is processed. */
export const isTooLarge = ({ kind, status }: Failure) => kind === 'status' && status === 413;

/** Whether the server, and not a proxy, has read the request and rejects its content. */
export const isRejection = (failure: Failure) =>
	(failure.status === 400 && !isBusy(failure)) ||
	failure.status === 422 ||
	failure.missing === 'record';

/** Whether the server possibly processed some elements of the request before it failed: after a rejection or a 500. */
export const mayBePartlyDone = (failure: Failure) => isRejection(failure) || failure.status === 500;
