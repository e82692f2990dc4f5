import { CERTIFICATE_REASONS, type Failure } from './failure';

/**
 * Transient statuses, of servers and proxies: Cloudflare has 520 to 524 and 530, others 529. 409, 413, 422 and 500
 * are final for the same request.
 */
const TRANSIENT_STATUS = new Set([
	...[408, 425, 429, 502, 503, 504],
	...[520, 521, 522, 523, 524, 529, 530],
]);

/** Codes of a failed TLS connection or a rejected certificate: nothing is sent, and a retry does not help. */
const TLS_CODES = new Set([
	...Object.keys(CERTIFICATE_REASONS),
	'EPROTO',
	'ERR_SSL_PACKET_LENGTH_TOO_LONG',
	'ERR_SSL_WRONG_VERSION_NUMBER',
]);

/** Codes of a connection that was never made: nothing was sent. */
const NEVER_SENT = new Set([
	...TLS_CODES,
	'ECONNREFUSED',
	'ENOTFOUND',
	'EAI_AGAIN',
	'EHOSTUNREACH',
	'ENETUNREACH',
]);

/** Whether a retry may help. */
export function isTransient(failure: Failure): boolean {
	const { kind, status = 0, code = '' } = failure;
	if (TLS_CODES.has(code)) return false;
	if (kind === 'network' || kind === 'timeout' || kind === 'unreadable') return true;
	if (isForeignNotFound(failure) || isBusy(failure)) return true;
	return kind === 'status' && TRANSIENT_STATUS.has(status);
}

/** Whether a 404 is not the API's own, but that of a proxy whose server is down, or of an unrelated server. */
export const isForeignNotFound = (failure: Failure) =>
	failure.kind === 'status' && failure.status === 404 && failure.missing === undefined;

/** Whether the answer seems to be from another server than one of this API, or nothing of this API has ever answered. */
export const isForeignAnswer = ({ kind, unanswered }: Failure) =>
	kind === 'unreadable' || unanswered === true;

/** A request is given up after this many consecutive foreign answers. */
export const MAX_FOREIGN_ANSWERS = 3;

/**
 * Whether the server certainly did not process the request. A bare 503 does not count, as a proxy may send it after
 * the server has read the request; one with Retry-After comes before that.
 */
export function certainlyNotDone(failure: Failure): boolean {
	const { status, retryAfterMs, missing } = failure;
	if (isNeverSent(failure) || missing === 'route') return true;
	return status === 429 || (status === 503 && retryAfterMs !== undefined) || isBusy(failure);
}

/** Whether nothing was sent, and another try will hardly change that. */
export const isNeverSent = ({ kind, code = '' }: Failure) =>
	kind === 'refused' || kind === 'blocked' || (kind === 'network' && NEVER_SENT.has(code));

/**
 * The server's reason for a rejection that is temporary, given before it looks at the request (`knowledge`,
 * recorded).
 */
const BUSY_REASON = /^embedding rebuild is running/i;

/** Whether the server says that it is busy with other work that must end first. */
export const isBusy = ({ kind, status, reason = '' }: Failure) =>
	kind === 'status' && status === 400 && BUSY_REASON.test(reason);

/**
 * Whether it is unknown if the server has processed the request, or still does. Proxies also send statuses above 501,
 * for a server that did not answer.
 */
export function isOutcomeUnknown(failure: Failure): boolean {
	const { status = 0 } = failure;
	return (isTransient(failure) || status > 501) && !certainlyNotDone(failure);
}

/**
 * Whether the server lacks a route: any 404, 405 or 501 that is not about a record comes from something that does not
 * know it.
 */
export function isNoRoute({ kind, status = 0, missing }: Failure): boolean {
	if (kind !== 'status') return false;
	return status === 405 || status === 501 || (status === 404 && missing !== 'record');
}

/** Whether the server does not take the token, or not for this. */
export const isTokenRefused = ({ status = 0 }: Failure) => status === 401 || status === 403;

/** Whether the answer may mean that a record does not exist: 404, and on Xpert also 500. */
export const mayMeanNoRecord = ({ kind, status, missing }: Failure) =>
	kind === 'status' && (missing === 'record' || status === 500);

/** Whether the request was too large for the server or a proxy: nothing of it was read. */
export const isTooLarge = ({ kind, status }: Failure) => kind === 'status' && status === 413;

/** Statuses of a server or gateway whose own wait timed out. */
const TIMEOUT_STATUS = new Set([408, 504, 524]);

/** Whether the request timed out, so that a smaller one may succeed. */
export const isOverdue = ({ kind, status = 0 }: Failure) =>
	kind === 'timeout' || (kind === 'status' && TIMEOUT_STATUS.has(status));

/** Codes of a connection that the other side closed during the request. */
const CONNECTION_CLOSED = new Set(['ECONNRESET', 'EPIPE']);

/**
 * Whether the connection was closed. Some servers do this with a request that is too large, instead of answering 413.
 */
export const isCutOff = ({ kind, code = '' }: Failure) =>
	kind === 'network' && CONNECTION_CLOSED.has(code);

/** Statuses with which the server rejects the content of a request. */
const REJECTION_STATUS = new Set([400, 404, 422]);

/** Whether the server itself has read the request and rejects its content. */
export function isRejection(failure: Failure): boolean {
	const { status = 0 } = failure;
	const isOwnAnswer =
		!isForeignNotFound(failure) && failure.missing !== 'route' && !isBusy(failure);
	return REJECTION_STATUS.has(status) && isOwnAnswer;
}

/** Whether the server may have processed part of a request with several elements. */
export const mayBePartlyDone = (failure: Failure) => isRejection(failure) || failure.status === 500;
