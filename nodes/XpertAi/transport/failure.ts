import compact from 'lodash/compact';
import { NodeApiError, type INode } from 'n8n-workflow';

import { sanitize } from './sanitize';

/** What to do about each kind of failure, if status and answer say no more. */
const KIND_HINTS = {
	/** Not sent, because the credential or its restrictions forbid it. */
	refused: 'Open the Xpert AI credential and correct it there.',
	/** Not sent, because n8n's SSRF protection forbids the address. */
	blocked:
		'Check the Base URL of the credential. If it is right, whoever runs n8n can allow its address in N8N_SSRF_ALLOWED_IP_RANGES or its host name in N8N_SSRF_ALLOWED_HOSTNAMES.',
	/** The execution was stopped. */
	cancelled: '',
	/** No answer in time. */
	timeout: 'Check how busy the server is. It may still have done the work.',
	/** No answer. */
	network:
		'Check the Base URL of the credential, that the server runs, and the proxy if n8n uses one.',
	/** The server redirects. */
	redirect: 'Enter the address the server points to as the Base URL of the credential.',
	/** The request succeeded, but what it started did not. */
	unsuccessful: '',
	/** A 2xx that this API does not send. */
	unreadable:
		'Enter the address of an Xpert AI server as Base URL in the credential, not that of a page, and look at proxies on the way. The server may have done the work.',
	/** Any other answer. */
	status: '',
};

/** Why a request failed, as plain data, so that callers can decide without exceptions. */
export interface Failure {
	kind: keyof typeof KIND_HINTS;
	/** HTTP status, if there was an answer. */
	status?: number;
	/** Node.js error code, if there was none (`ECONNREFUSED`, …). */
	code?: string;
	/** The reason in one line: the server's, or the node's. */
	reason?: string;
	/**
	 * Of a 404: what the API says does not exist, a record or the route. Without it, the answer is not the API's, but
	 * for example that of a proxy while a container restarts.
	 */
	missing?: 'record' | 'route';
	/** Whether this API has not answered any request yet, in an execution that somebody watches. */
	unanswered?: boolean;
	/** The server's `x-request-id`, for its log. */
	requestId?: string;
	/** How long the server asks to wait, in milliseconds (`Retry-After`). */
	retryAfterMs?: number;
	/** How often the request was sent, if that is known. */
	attempts?: number;
	/** Path of the request, without the origin; empty if no request failed. */
	path: string;
	method: string;
}

const STATUS_HINTS: Record<number, string> = {
	401: 'Make a new key under Settings → API Keys on the server and enter it as Access Token in the credential: this one may have expired, or belong to another server.',
	404: 'Enter the address of an Xpert AI server as Base URL in the credential, without the path of a page: https://api.example.com. An older server may not offer this operation, and proxies also answer this way while their server is away.',
	407: 'The proxy between n8n and the server asks for a user name and password. Whoever runs n8n adds them to its address, e.g. HTTPS_PROXY=http://user:password@proxy.example.com:3128.',
	408: 'The server gave up waiting. Run it again later.',
	413: 'Make it smaller, or have the limit raised: Xpert AI servers take up to 50 MB of JSON in one request, many proxies less.',
	429: 'Wait, then run it again with fewer at once.',
	500: 'Xpert AI servers answer this way to an ID that is not a UUID and to a body they cannot read. Check these, then look up the request ID in the log of the server.',
};

const OUTAGE_HINT = 'The server could not finish the request. Run it again later.';

const RECORD_HINT =
	'The server does not have this, or the key may not see it. Check the IDs and names you have given.';

const PLAIN_HTTP_HINT =
	'Enter the Base URL with http://, or with the port at which the server speaks https. For http:// to another host, switch on Allow Insecure HTTP in the credential.';

/** Reasons why a certificate is rejected, by Node.js error code. */
export const CERTIFICATE_REASONS: Record<string, string> = {
	CERT_HAS_EXPIRED: 'its certificate has expired',
	DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed and not trusted',
	ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
	SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from an authority that is not trusted',
	UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate comes from an authority that is not known',
	UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes from an authority that is not known',
};

/** By Node.js error code, or by message where there is no code. */
const NETWORK_REASONS: Record<string, string> = {
	...CERTIFICATE_REASONS,
	ECONNREFUSED: 'nothing accepts connections at this address',
	ENOTFOUND: 'the host name is not known',
	EAI_AGAIN: 'the host name could not be looked up just now',
	ECONNRESET: 'the connection was closed before an answer came',
	EPIPE: 'the connection was closed while sending',
	EHOSTUNREACH: 'the host cannot be reached',
	ENETUNREACH: 'the network cannot be reached',
	// The code of axios for a connection that closes while the answer is read.
	ERR_BAD_RESPONSE: 'the connection was closed in the middle of the answer',
	'Proxy connection ended before receiving CONNECT response':
		'the proxy closed the connection without an answer',
	EPROTO: 'no secure connection could be agreed on',
};

/** Texts of an error that say more than kind and status do. */
export interface FailureWords {
	message?: string;
	/** What to do. */
	hint?: string;
}

/**
 * Makes the error that a user reads: what happened to which thing, and what to do. n8n shows its data, such as path and
 * request ID, among the details. It contains neither the token nor the request's headers.
 */
export function toNodeApiError(
	failure: Failure,
	{ node, itemIndex, ...words }: FailureWords & { node: INode; itemIndex?: number },
): NodeApiError {
	const { message = failureMessage(failure) } = words;
	const description = failureDescription(failure, words.hint);
	const httpCode = failure.status?.toString() ?? failure.code;
	const shown = { message, description, httpCode, itemIndex };
	const error = new NodeApiError(node, { message }, shown);
	// n8n replaces messages that contain a network code with a general one.
	error.message = message;
	error.context.data = { ...failure };
	return error;
}

/** What happened, in one sentence. */
export function failureMessage(failure: Failure): string {
	return MESSAGES[failure.kind](failure);
}

const MESSAGES: Record<Failure['kind'], (failure: Failure) => string> = {
	refused: ({ reason }) => reason ?? 'The request was not sent',
	blocked: ({ reason }) => `n8n's SSRF protection does not allow requests to ${reason}`,
	// n8n recognizes a stopped execution by the word "canceled".
	cancelled: () => 'The execution was canceled before the server answered',
	timeout: () => 'The server did not answer in time',
	network: (failure) => {
		const { code, reason } = failure;
		const known = speaksPlainHttp(failure)
			? 'the address speaks http, not https'
			: (NETWORK_REASONS[code ?? reason ?? ''] ?? reason ?? 'the connection broke');
		return `The server could not be reached: ${known}${code ? ` (${code})` : ''}`;
	},
	redirect: ({ reason, status }) =>
		`The server redirects to ${reason}, which the node does not follow with your token (HTTP ${status})`,
	// The reason comes from a 2xx answer, which was not sanitized.
	unsuccessful: ({ reason = '' }) => sanitize(reason) ?? 'It did not end well',
	unreadable: ({ reason, status }) =>
		`The server's answer cannot be read: ${reason} (HTTP ${status})`,
	status: ({ reason, status = 0 }) => {
		const known = STATUS_MESSAGES[status];
		if (known) return `${known}${reason ? `: ${reason}` : ''} (HTTP ${status})`;
		return `The ${status === 407 ? 'proxy' : 'server'} answered ${status}: ${reason || 'it gave no reason'}`;
	},
};

/** Statuses that say what happened better than the reason of the server. */
const STATUS_MESSAGES: Record<number, string> = {
	401: 'The server does not accept this key',
	403: 'This key may not do this',
	413: 'This is too large for the server',
	429: 'The server takes no more requests just now',
};

/** Whether a plain-text answer came during the TLS handshake. */
function speaksPlainHttp({ kind, code, reason = '' }: Failure): boolean {
	const pattern = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/;
	return kind === 'network' && pattern.test(`${code} ${reason}`.replace(/ /g, '_').toUpperCase());
}

function failureDescription(failure: Failure, hint = generalHint(failure)): string {
	const { status, reason = '', retryAfterMs } = failure;
	const isOffered = status !== 501 && !/not (yet )?implemented/i.test(reason);
	return compact([
		isOffered ? hint : 'This server does not offer this operation.',
		retryAfterMs && `The server asks to wait ${Math.ceil(retryAfterMs / 1000)} seconds.`,
	]).join(' ');
}

/** What to do, as far as kind and status say. */
function generalHint(failure: Failure): string {
	const { kind, status = 0, missing } = failure;
	if (missing === 'record') return RECORD_HINT;
	if (speaksPlainHttp(failure)) return PLAIN_HTTP_HINT;
	if (kind !== 'status') return KIND_HINTS[kind];
	return STATUS_HINTS[status] ?? (status >= 500 ? OUTAGE_HINT : '');
}
