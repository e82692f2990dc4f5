import { CERTIFICATE_REASONS } from './failure';
import type { Failure } from './failure';

/** Statuses that say "not now". 409, 413, 422 and 500 are the server's last word on the same request. */
const RETRYABLE_STATUS = new Set([408, 425, 429, 502, 503, 504]);

/** No secure connection, or a certificate that is not accepted: nothing is sent, and trying again does not help. */
const NOT_SECURE = new Set([
	...Object.keys(CERTIFICATE_REASONS),
	'EPROTO',
	'ERR_SSL_PACKET_LENGTH_TOO_LONG',
	'ERR_SSL_WRONG_VERSION_NUMBER',
]);

/** Codes of a connection that was never made: nothing can have arrived. */
const NEVER_SENT = new Set([
	...NOT_SECURE,
	'ECONNREFUSED',
	'ENOTFOUND',
	'EAI_AGAIN',
	'EHOSTUNREACH',
	'ENETUNREACH',
]);

/** Whether trying again may help at all. */
export function isTransient(failure: Failure): boolean {
	const { kind, status, code } = failure;
	if (code !== undefined && NOT_SECURE.has(code)) return false;
	if (kind === 'network' || kind === 'timeout' || kind === 'unreadable') return true;
	if (isStray(failure)) return true;
	return kind === 'status' && status !== undefined && RETRYABLE_STATUS.has(status);
}

/** Whether a 404 came that is not the API's own: a proxy whose server is away, or quite another server. */
export function isStray({ kind, status, missing }: Failure): boolean {
	return kind === 'status' && status === 404 && missing === undefined;
}

/** Tries of a request that somebody else answers at an address which never answered before: it may be a wrong one. */
const TRIES_WHERE_STRAY = 3;

/** How often the same request may be sent in all after a failure. */
export function mostTries(failure: Failure): number {
	return isStray(failure) && !failure.answeredBefore ? TRIES_WHERE_STRAY : Infinity;
}

/**
 * Whether the server certainly did nothing with the request. A bare 503 may come from a proxy after
 * the server has read it, so it does not count; one with Retry-After comes before.
 */
export function certainlyNotDone({ kind, status, code, retryAfterMs, missing }: Failure): boolean {
	if (kind === 'refused' || kind === 'blocked' || missing === 'route') return true;
	if (kind === 'network') return code !== undefined && NEVER_SENT.has(code);
	return status === 429 || (status === 503 && retryAfterMs !== undefined);
}

/** Answers of a gateway that gave up while the server may go on behind it. */
const GATEWAY_STATUS = new Set([408, 502, 503, 504, 524]);

/** Whether a gateway answered, so that the server may still be at work on the request. */
export function mayGoOnBehind({ status }: Failure): boolean {
	return status !== undefined && GATEWAY_STATUS.has(status);
}

/** Whether the API says that what it was asked for is not there: a record, or the route. */
export function isMissing({ kind, missing }: Failure): boolean {
	return kind === 'status' && missing !== undefined;
}

/** Whether the server does not have the route, by its own words, said twice (`sendWithRetries`). */
export function isRouteMissing({ kind, missing }: Failure): boolean {
	return kind === 'status' && missing === 'route';
}

/** Whether the answer is how servers speak of a record that is not there: 404, and on Xpert also 500. */
export function mayMeanNoRecord({ kind, status, missing }: Failure): boolean {
	return kind === 'status' && (missing === 'record' || status === 500);
}

/** Whether the request was larger than the server, or a proxy before it, takes: nothing of it was read. */
export function isTooLarge({ kind, status }: Failure): boolean {
	return kind === 'status' && status === 413;
}

/** What a server or a gateway says that has waited for the work in vain. */
const TIMEOUT_STATUS = new Set([408, 504]);

/** Whether the answer did not come in time, so that a smaller request may have one. */
export function isOverdue({ kind, status = 0 }: Failure): boolean {
	return kind === 'timeout' || (kind === 'status' && TIMEOUT_STATUS.has(status));
}

/** Codes of a connection that the other side closed while the request was on its way. */
const CUT_OFF = new Set(['ECONNRESET', 'EPIPE']);

/** Whether the connection was closed, as some do with a request that is too large instead of answering 413. */
export function isCutOff({ kind, code = '' }: Failure): boolean {
	return kind === 'network' && CUT_OFF.has(code);
}

/** Statuses of the server's own word on what it was sent. */
const REJECTION_STATUS = new Set([400, 404, 422]);

/** Whether the server itself has read the request and says no to what is in it. */
export function isRejection(failure: Failure): boolean {
	const { status } = failure;
	if (status === undefined || isStray(failure) || isRouteMissing(failure)) return false;
	return REJECTION_STATUS.has(status);
}

/** Whether the server may have done part of a request that holds several things, and no more than that. */
export function mayBePartlyDone(failure: Failure): boolean {
	return isRejection(failure) || failure.status === 500;
}

/** Whether something between us and the server answered in its place, which may have done the request. */
export function mayBeDoneBehind(failure: Failure): boolean {
	// Proxies have statuses of their own for a server that did not answer them.
	return (failure.status ?? 0) > 501 && !certainlyNotDone(failure);
}
