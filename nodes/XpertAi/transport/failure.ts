import { compact, inRange } from 'lodash';

import {
	CERTIFICATE_REASONS,
	failsTls,
	NETWORK_REASONS,
	PLAIN_HTTP,
	UNCONNECTED_REASONS,
} from './networkCodes';
import { sanitize } from './sanitize';

/** The kinds of failures. */
export type FailureKind =
	/** The credential is invalid or does not allow the host, so the node sent no request. */
	| 'refused'
	/** n8n's SSRF protection blocked the address. */
	| 'blocked'
	/** The execution was stopped. */
	| 'cancelled'
	/** The answer did not arrive in time. */
	| 'timeout'
	/** The connection failed or broke. */
	| 'network'
	/** The server answered with a redirect (3xx), which the node does not follow. */
	| 'redirect'
	/** The server answered, but the operation failed. Example: a run of the assistant ended with an error. */
	| 'unsuccessful'
	/** A 2xx answer does not contain the expected data. Example: an HTML page or incomplete JSON. */
	| 'unreadable'
	/** The server or a proxy sent an error status, such as 404 or 502, or reported a failure under a 2xx status. */
	| 'status';

/** The default hint for each kind of failure. */
const KIND_HINTS: Record<FailureKind, string> = {
	refused: 'Open the Xpert AI credential and correct it there.',
	blocked:
		'If the Base URL of the credential is right, whoever runs n8n can allow its address in N8N_SSRF_ALLOWED_IP_RANGES or its host name in N8N_SSRF_ALLOWED_HOSTNAMES.',
	cancelled: '',
	timeout: 'Check how busy the server is. It may still have done the work.',
	network: 'Check the Base URL of the credential, the server, and the proxy if n8n uses one.',
	redirect: 'Enter the address the server points to as the Base URL of the credential.',
	unsuccessful: '',
	unreadable:
		'Enter the address of an Xpert AI server as Base URL in the credential, not that of a page, and look at proxies on the way. The server may have done the work.',
	status: '',
};

/** Why a request failed. Functions return failures instead of throwing them. */
export interface Failure {
	kind: FailureKind;
	/** HTTP status, if the server or a proxy answered. */
	status?: number;
	/** The error code of Node.js or axios, such as `ECONNREFUSED`. */
	code?: string;
	/** The PostgreSQL error code in an error response, such as `23505`. */
	databaseCode?: string;
	/** The reason from the server or the node, in one line. */
	reason?: string;
	/**
	 * What does not exist: the record or the route. Set only for a 404 of the Xpert AI server. `call` removes `route`
	 * if only one answer reported a missing route.
	 */
	missing?: 'record' | 'route';
	/**
	 * True until a server has answered; a 404 of a proxy or an unrelated server does not count. Set only in executions
	 * that a user started in the editor.
	 */
	unanswered?: boolean;
	/** The header `x-request-id` of the answer. It identifies the request in the server's log. */
	requestId?: string;
	/** The wait time that the server asks for (`Retry-After`), in milliseconds. */
	retryAfterMs?: number;
	/** How often the request was sent, if known. */
	attempts?: number;
	/** The path of the request, without the origin. Empty if the failure does not come from a request. */
	path: string;
	method: string;
}

const STATUS_HINTS: Record<number, string> = {
	401: 'Make a new key under Settings → API Keys on the server and enter it in the credential: this one may have expired, or belong to another server.',
	404: 'Enter the address of an Xpert AI server as Base URL in the credential, without the path of a page. An older server may not offer this operation, and proxies also answer this way while their server is away.',
	407: 'The proxy between n8n and the server asks for a user name and password. Whoever runs n8n adds them to its address in HTTPS_PROXY.',
	408: 'The server gave up waiting. Run it again later.',
	413: 'Make it smaller, or have the limit raised: Xpert AI servers take 50 MB of JSON in one request, many proxies less.',
	429: 'Wait, then run it again with fewer at once.',
	500: 'Xpert AI servers answer this way to an ID that is not a UUID and to a body they cannot read. Then look up the request ID in the log of the server.',
};

const OUTAGE_HINT = 'The server could not finish the request. Run it again later.';

const REPORTED_HINT =
	'It may have done part of the work. Look up the request ID in the log of the server.';

const RECORD_HINT =
	'The server does not have this, or the key may not see it. Check the IDs and names you have given.';

const PLAIN_HTTP_HINT =
	'Enter the Base URL with the port that speaks https, or with http:// and, for another host, Allow Insecure HTTP.';

const CERTIFICATE_HINT =
	'Certificates are always checked. Have that of the server corrected. For an authority of your own, whoever runs n8n names the file of its certificate in NODE_EXTRA_CA_CERTS.';

/** Describes a failure in one sentence. */
export const failureMessage = (failure: Failure): string => MESSAGES[failure.kind](failure);

const MESSAGES: Record<FailureKind, (failure: Failure) => string> = {
	refused: ({ reason }) => reason ?? 'The request was not sent',
	blocked: ({ reason }) => `n8n's SSRF protection does not allow requests to ${reason}`,
	// n8n recognizes a stopped execution by the word "canceled" in this text.
	cancelled: () => 'The execution was canceled before the server answered',
	timeout: () => 'The server did not answer in time',
	network: (failure) => {
		const { code, reason } = failure;
		const known = speaksPlainHttp(failure)
			? 'the address speaks http, not https'
			: (NETWORK_REASONS.get(code ?? reason ?? '') ?? reason ?? 'the connection broke');
		return `The server could not be reached: ${known}${code ? ` (${code})` : ''}`;
	},
	redirect: ({ reason, status }) =>
		`The server redirects to ${reason ?? 'another address'}, which the node does not follow with your token (HTTP ${status})`,
	// The reason can be raw text from a 2xx answer.
	unsuccessful: ({ reason = '' }) => sanitize(reason) ?? 'It did not end well',
	unreadable: ({ reason, status }) =>
		`The server's answer cannot be read: ${reason} (HTTP ${status})`,
	status: (failure) => {
		const { reason, status = 0 } = failure;
		const known = STATUS_MESSAGES[status];
		if (isReported(failure))
			return `The server says that it failed: ${reason || 'it gave no reason'} (HTTP ${status})`;
		if (known) return `${known}${reason ? `: ${reason}` : ''} (HTTP ${status})`;
		return `The ${status === 407 ? 'proxy' : 'server'} answered ${status}: ${reason || 'it gave no reason'}`;
	},
};

/** Messages for common error statuses. */
const STATUS_MESSAGES: Record<number, string> = {
	401: 'The server does not accept this key',
	403: 'This key may not do this',
	413: 'This is too large for the server',
	429: 'The server takes no more requests just now',
};

const speaksPlainHttp = ({ kind, code, reason = '' }: Failure) =>
	kind === 'network' && PLAIN_HTTP.test(`${code} ${reason}`.replace(/ /g, '_').toUpperCase());

/**
 * Describes what the user can do. Includes the wait time that the server asks for.
 *
 * @param hint replaces the default hint
 */
export function failureDescription(failure: Failure, hint = generalHint(failure)): string {
	const { status, reason = '', retryAfterMs } = failure;
	const isOffered = status !== 501 && !/not (yet )?implemented/i.test(reason);
	return compact([
		isOffered ? hint : 'This server does not offer this operation.',
		retryAfterMs && `The server asks to wait ${Math.ceil(retryAfterMs / 1000)} seconds.`,
	]).join(' ');
}

/** Returns the hint for the kind and status of a failure, or an empty text. */
function generalHint(failure: Failure): string {
	const { kind, status = 0, code = '', missing } = failure;
	if (missing === 'record') return RECORD_HINT;
	if (speaksPlainHttp(failure)) return PLAIN_HTTP_HINT;
	if (kind === 'network' && CERTIFICATE_REASONS.has(code)) return CERTIFICATE_HINT;
	if (kind !== 'status') return KIND_HINTS[kind];
	if (isReported(failure)) return REPORTED_HINT;
	return STATUS_HINTS[status] ?? (status >= 500 ? OUTAGE_HINT : '');
}

/** HTTP statuses of temporary failures. Not 500, which Xpert AI servers send for invalid requests. */
const TRANSIENT_STATUS = [408, 425, 429, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530];

/** Whether the failure is temporary, so a retry can succeed. */
export function isTransient(failure: Failure): boolean {
	const { kind, status = 0, code = '' } = failure;
	// A retry cannot fix a rejected certificate or a wrong protocol.
	if (failsTls(code)) return false;
	if (kind === 'network' || kind === 'timeout' || kind === 'unreadable') return true;
	if (isForeignNotFound(failure) || isBusy(failure)) return true;
	return kind === 'status' && TRANSIENT_STATUS.includes(status);
}

/** Whether a proxy or an unrelated server sent a 404. */
export const isForeignNotFound = (failure: Failure) =>
	failure.kind === 'status' && failure.status === 404 && failure.missing === undefined;

/** Whether the failure suggests that there is no Xpert AI server at the Base URL. */
export const isForeignAnswer = ({ kind, unanswered }: Failure) =>
	kind === 'unreadable' || unanswered === true;

/** `call` stops retrying after this many consecutive foreign answers (see `isForeignAnswer`). */
export const MAX_FOREIGN_ANSWERS = 3;

/**
 * Whether the server certainly did not process the request. False for a 503 without a `Retry-After` header, because a
 * proxy can send such a 503 while the server processes the request.
 */
export function certainlyNotDone(failure: Failure): boolean {
	const { status, retryAfterMs, missing } = failure;
	if (isNeverSent(failure) || missing === 'route') return true;
	return status === 429 || (status === 503 && retryAfterMs !== undefined) || isBusy(failure);
}

/** Whether the request was never sent to the server. */
export const isNeverSent = ({ kind, code = '' }: Failure) =>
	kind === 'refused' ||
	kind === 'blocked' ||
	(kind === 'network' && (UNCONNECTED_REASONS.has(code) || failsTls(code)));

/**
 * Matches the server's reason for rejecting requests during an index rebuild of a knowledgebase. The server processes
 * no part of these requests. Recorded in `test/recordings/knowledge.json`.
 */
const BUSY_REASON = /^embedding rebuild is running/i;

/** Whether the server rejected the request because of an index rebuild (see `BUSY_REASON`). */
export const isBusy = ({ kind, status, reason = '' }: Failure) =>
	kind === 'status' && status === 400 && BUSY_REASON.test(reason);

/**
 * Whether the server may have processed the request, or may still process it. The server may still process the
 * request after a status above 501, because a proxy usually sends such a status, and may have done part of it if it
 * reports a failure under a 2xx status. Always false for the kind
 * `cancelled`, so callers must handle this kind separately.
 */
export function isOutcomeUnknown(failure: Failure): boolean {
	const { status = 0 } = failure;
	return (
		(isTransient(failure) || isReported(failure) || status > 501) && !certainlyNotDone(failure)
	);
}

/** Whether the server reported a failure under a 2xx status, with `success: false`. */
const isReported = ({ kind, status = 0 }: Failure) =>
	kind === 'status' && inRange(status, 200, 300);

/** Whether the response suggests that the route does not exist. */
export function isNoRoute({ kind, status = 0, missing }: Failure): boolean {
	if (kind !== 'status') return false;
	return status === 405 || status === 501 || (status === 404 && missing !== 'record');
}

/** Whether the server rejects the token, in general (401) or for this request (403). */
export const isTokenRefused = ({ status = 0 }: Failure) => status === 401 || status === 403;

/** Whether the record may be missing. Xpert AI servers report a missing record with 404 or 500. */
export const mayMeanNoRecord = ({ kind, status, missing }: Failure) =>
	kind === 'status' && (missing === 'record' || status === 500);

/** Whether the request was too large for the server or a proxy. No part of such a request is processed. */
export const isTooLarge = ({ kind, status }: Failure) => kind === 'status' && status === 413;

/** Whether no answer came in time. A smaller request may get an answer in time. */
export const isOverdue = ({ kind, status = 0 }: Failure) =>
	kind === 'timeout' || (kind === 'status' && [408, 504, 524].includes(status));

/** Whether the connection was closed. Some servers and proxies do this with a request that is too large. */
export const isCutOff = ({ kind, code = '' }: Failure) =>
	kind === 'network' && ['ECONNRESET', 'EPIPE'].includes(code);

/** Whether a record with the same ID was created at the same moment. Recorded in `test/recordings/turn-lock.json`. */
export const isDuplicate = ({ status, databaseCode }: Failure) =>
	status === 400 && databaseCode === '23505';

/** Whether the server rejected the content of the request. */
export const isRejection = (failure: Failure) =>
	(failure.status === 400 && !isBusy(failure)) ||
	failure.status === 422 ||
	failure.missing === 'record';

/** Whether the server may have processed part of the request. */
export const mayBePartlyDone = (failure: Failure) => isRejection(failure) || failure.status === 500;
