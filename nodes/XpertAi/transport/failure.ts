import { compact } from 'lodash';

import { sanitize } from './sanitize';

/** The default hint for each kind of failure. */
const KIND_HINTS = {
	/** The node did not send the request: the credential is invalid, or its allowed domains exclude the host. */
	refused: 'Open the Xpert AI credential and correct it there.',
	/** n8n's SSRF protection blocked the address. */
	blocked:
		'If the Base URL of the credential is right, whoever runs n8n can allow its address in N8N_SSRF_ALLOWED_IP_RANGES or its host name in N8N_SSRF_ALLOWED_HOSTNAMES.',
	/** The execution was stopped. */
	cancelled: '',
	/** The answer did not arrive in time. */
	timeout:
		'Raise "Timeout (Seconds)" or "Deadline (Minutes)" under Options, or check how busy the server is. It may still have done the work.',
	/** The connection failed or broke. */
	network: 'Check the Base URL of the credential, the server, and the proxy if n8n uses one.',
	/** The server answered with a redirect (3xx), which the node does not follow. */
	redirect: 'Enter the address the server points to as the Base URL of the credential.',
	/** The server answered, but the operation failed: for example, the run ended with an error. */
	unsuccessful: '',
	/** The server sent a 2xx, but not the expected data: for example, an HTML page or incomplete JSON. */
	unreadable:
		'Enter the address of an Xpert AI server as Base URL in the credential, not that of a page, and look at proxies on the way. The server may have done the work.',
	/** The server or a proxy sent a status that is neither 2xx nor 3xx. */
	status: '',
};

/** Why a request failed. Functions return a failure as a value and do not throw it. */
export interface Failure {
	kind: keyof typeof KIND_HINTS;
	/** HTTP status, if the server or a proxy answered. */
	status?: number;
	/** The error code of Node.js or axios, such as `ECONNREFUSED`. Set if no complete answer arrived. */
	code?: string;
	/** The reason from the server or the node, in one line. */
	reason?: string;
	/**
	 * What is missing according to a 404 of the Xpert AI server. Undefined for other answers, such as a 404 of a proxy.
	 * `call` reports a missing route only after two 404s in a row.
	 */
	missing?: 'record' | 'route';
	/**
	 * True if no Xpert AI server has answered a request of this execution yet. Set only in executions that a user
	 * starts in the editor. These executions give up early.
	 */
	unanswered?: boolean;
	/** The header `x-request-id` of the answer. It identifies the request in the server's log. */
	requestId?: string;
	/** The wait time that the server asks for (`Retry-After`), in milliseconds. */
	retryAfterMs?: number;
	/** How often the request was sent, if known. */
	attempts?: number;
	/** The path of the request, without the origin. Empty for a failure without a request. */
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

/** Matches the Node.js error codes of a connection that could not be opened. */
const UNCONNECTED_CODE = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;

/** User-friendly reasons for network errors, by error code. */
const NETWORK_REASONS: Record<string, string> = {
	ECONNREFUSED: 'nothing accepts connections at this address',
	ENOTFOUND: 'the host name is not known',
	EAI_AGAIN: 'the host name could not be looked up just now',
	EPROTO: 'no secure connection could be agreed on',
	ECONNRESET: 'the connection was closed before an answer came',
	EPIPE: 'the connection was closed while sending',
	// The code of axios for a connection that closes in the middle of an answer.
	ERR_BAD_RESPONSE: 'the connection was closed in the middle of the answer',
};

/** Describes a failure in one sentence. */
export const failureMessage = (failure: Failure): string => MESSAGES[failure.kind](failure);

const MESSAGES: Record<Failure['kind'], (failure: Failure) => string> = {
	refused: ({ reason }) => reason ?? 'The request was not sent',
	blocked: ({ reason }) => `n8n's SSRF protection does not allow requests to ${reason}`,
	// The text must contain "canceled": n8n recognizes a stopped execution by this word.
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
	// The reason can be text from a 2xx answer that was not sanitized before.
	unsuccessful: ({ reason = '' }) => sanitize(reason) ?? 'It did not end well',
	unreadable: ({ reason, status }) =>
		`The server's answer cannot be read: ${reason} (HTTP ${status})`,
	status: ({ reason, status = 0 }) => {
		const known = STATUS_MESSAGES[status];
		if (known) return `${known}${reason ? `: ${reason}` : ''} (HTTP ${status})`;
		return `The ${status === 407 ? 'proxy' : 'server'} answered ${status}: ${reason || 'it gave no reason'}`;
	},
};

/** Messages for common statuses. The server's reason follows the message. */
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
 * Describes what the user can do: a hint, then the wait time that the server asks for. If the server does not offer the
 * operation, a fixed sentence replaces the hint.
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

/** Returns the hint for the kind and status of a failure. Returns an empty text if there is no hint. */
function generalHint(failure: Failure): string {
	const { kind, status = 0, missing } = failure;
	if (missing === 'record') return RECORD_HINT;
	if (speaksPlainHttp(failure)) return PLAIN_HTTP_HINT;
	if (kind !== 'status') return KIND_HINTS[kind];
	return STATUS_HINTS[status] ?? (status >= 500 ? OUTAGE_HINT : '');
}

/**
 * HTTP statuses of temporary failures. Cloudflare sends 520 to 524 and 530; other services send 529. 409, 413, 422 and
 * 500 are not in the list, because a retry would get the same answer.
 */
const TRANSIENT_STATUS = [408, 425, 429, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530];

/** Whether the failure is temporary, so that a retry can help. */
export function isTransient(failure: Failure): boolean {
	const { kind, status = 0, code = '' } = failure;
	// A retry changes neither the certificate nor the protocol, so TLS would fail again.
	if (failsTls(code)) return false;
	if (kind === 'network' || kind === 'timeout' || kind === 'unreadable') return true;
	if (isForeignNotFound(failure) || isBusy(failure)) return true;
	return kind === 'status' && TRANSIENT_STATUS.includes(status);
}

/** Whether the failure is a 404 from a proxy or an unrelated server, not from the Xpert AI server. */
export const isForeignNotFound = (failure: Failure) =>
	failure.kind === 'status' && failure.status === 404 && failure.missing === undefined;

/** Whether a server other than Xpert AI probably answered: the answer is unreadable, or `unanswered` is true. */
export const isForeignAnswer = ({ kind, unanswered }: Failure) =>
	kind === 'unreadable' || unanswered === true;

/** After this many foreign answers in a row (see `isForeignAnswer`), a request is not repeated. */
export const MAX_FOREIGN_ANSWERS = 3;

/**
 * Whether the server certainly did not process the request. A 503 counts only with Retry-After. Without this header, a
 * proxy may have sent the 503 after the server had read the request.
 */
export function certainlyNotDone(failure: Failure): boolean {
	const { status, retryAfterMs, missing } = failure;
	if (isNeverSent(failure) || missing === 'route') return true;
	return status === 429 || (status === 503 && retryAfterMs !== undefined) || isBusy(failure);
}

/** Whether nothing was sent to the server: the request was not allowed, or no TCP or TLS connection was made. */
export const isNeverSent = ({ kind, code = '' }: Failure) =>
	kind === 'refused' ||
	kind === 'blocked' ||
	(kind === 'network' && (UNCONNECTED_CODE.test(code) || failsTls(code)));

/**
 * Matches the reason of a server that is rebuilding the index of a knowledgebase. During the rebuild, the server
 * rejects requests without processing them (recorded, `knowledge`).
 */
const BUSY_REASON = /^embedding rebuild is running/i;

/** Whether the server rejected the request because of an index rebuild (see `BUSY_REASON`). */
export const isBusy = ({ kind, status, reason = '' }: Failure) =>
	kind === 'status' && status === 400 && BUSY_REASON.test(reason);

/**
 * Whether the server may have processed the request, or may still process it. Proxies send statuses above 501 if the
 * server did not answer. Always false for `cancelled`: callers must check that kind themselves.
 */
export function isOutcomeUnknown(failure: Failure): boolean {
	const { status = 0 } = failure;
	return (isTransient(failure) || status > 501) && !certainlyNotDone(failure);
}

/** Whether the server seems to lack the route: the status is 405 or 501, or 404 without a missing record. */
export function isNoRoute({ kind, status = 0, missing }: Failure): boolean {
	if (kind !== 'status') return false;
	return status === 405 || status === 501 || (status === 404 && missing !== 'record');
}

/** Whether the server rejects the token, in general (401) or for this request (403). */
export const isTokenRefused = ({ status = 0 }: Failure) => status === 401 || status === 403;

/** Whether the answer can mean that a record is missing. Xpert AI servers send 404 or 500 for a missing record. */
export const mayMeanNoRecord = ({ kind, status, missing }: Failure) =>
	kind === 'status' && (missing === 'record' || status === 500);

/** Whether the server or a proxy rejected the whole request because of its size. */
export const isTooLarge = ({ kind, status }: Failure) => kind === 'status' && status === 413;

/** Whether the server itself, not a proxy, rejected the content of the request. */
export const isRejection = (failure: Failure) =>
	(failure.status === 400 && !isBusy(failure)) ||
	failure.status === 422 ||
	failure.missing === 'record';

/** Whether the server may have processed part of the request: possible after a rejection or a 500. */
export const mayBePartlyDone = (failure: Failure) => isRejection(failure) || failure.status === 500;
