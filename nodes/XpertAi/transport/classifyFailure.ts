import { CERTIFICATE_REASONS } from './failure';
import type { Failure } from './failure';

/**
 * Statuses that say "not now", of servers and of what stands before them: Cloudflare has 520 to 524 and 530, others
 * 529. 409, 413, 422 and 500 are the server's last word on the same request.
 */
const TRANSIENT_STATUS = new Set([
	...[408, 425, 429, 502, 503, 504],
	...[520, 521, 522, 523, 524, 529, 530],
]);

/** No secure connection, or a certificate that is not accepted: nothing is sent, and trying again does not help. */
const TLS_CODES = new Set([
	...Object.keys(CERTIFICATE_REASONS),
	'EPROTO',
	'ERR_SSL_PACKET_LENGTH_TOO_LONG',
	'ERR_SSL_WRONG_VERSION_NUMBER',
]);

/** Codes of a connection that was never made: nothing can have arrived. */
const NEVER_SENT = new Set([
	...TLS_CODES,
	'ECONNREFUSED',
	'ENOTFOUND',
	'EAI_AGAIN',
	'EHOSTUNREACH',
	'ENETUNREACH',
]);

/** Whether trying again may help at all. */
export function isTransient(failure: Failure): boolean {
	const { kind, status = 0, code = '' } = failure;
	if (TLS_CODES.has(code)) return false;
	if (kind === 'network' || kind === 'timeout' || kind === 'unreadable') return true;
	if (isForeignNotFound(failure) || isBusy(failure)) return true;
	return kind === 'status' && TRANSIENT_STATUS.has(status);
}

/**
 * Whether a 404 came that is not the API's own: of a proxy whose server is away, or of quite another server. One
 * that speaks of a missing route counts as such where the route has answered before.
 */
export function isForeignNotFound(failure: Failure): boolean {
	return failure.kind === 'status' && failure.status === 404 && !isMissing(failure);
}

/**
 * Whether it seems that somebody else has answered than a server of this API: with a 404 at an address that
 * never answered before, which may be a wrong one, or with a success that is none of this API's; or that nobody
 * ever answers there.
 */
export function isForeignAnswer(failure: Failure): boolean {
	const { kind, unanswered, answeredBefore } = failure;
	return kind === 'unreadable' || unanswered === true || (isForeignNotFound(failure) && !answeredBefore);
}

/** How often in a row a request is sent to somebody else, or to nobody. */
export const MAX_FOREIGN_ANSWERS = 3;

/**
 * Whether the server certainly did nothing with the request. A bare 503 may come from a proxy after
 * the server has read it, so it does not count; one with Retry-After comes before.
 */
export function certainlyNotDone(failure: Failure): boolean {
	const { kind, status, code = '', retryAfterMs, missing } = failure;
	if (kind === 'refused' || kind === 'blocked' || missing === 'route') return true;
	if (kind === 'network') return NEVER_SENT.has(code);
	return status === 429 || (status === 503 && retryAfterMs !== undefined) || isBusy(failure);
}

/** How the server says no to what it takes again by itself, before it looks at what it was sent (`knowledge`, recorded). */
const BUSY_REASON = /^embedding rebuild is running/i;

/** Whether the server is at work on something else that has to end first, by its own words. */
export function isBusy({ kind, status, reason = '' }: Failure): boolean {
	return kind === 'status' && status === 400 && BUSY_REASON.test(reason);
}

/**
 * Whether it is not known whether the server has done the request, or is still at work on it. Statuses above 501
 * are also those of proxies, for a server that did not answer them.
 */
export function isOutcomeUnknown(failure: Failure): boolean {
	const { status = 0 } = failure;
	return (isTransient(failure) || status > 501) && !certainlyNotDone(failure);
}

/** Whether the API says that what it was asked for is not there: a record, or the route. */
export function isMissing(failure: Failure): boolean {
	return failure.missing === 'record' || isRouteMissing(failure);
}

/** Whether the server does not have the route, by its own words, said twice (`sendWithRetries`). */
export function isRouteMissing({ missing, answeredBefore = false }: Failure): boolean {
	return missing === 'route' && !answeredBefore;
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
const TIMEOUT_STATUS = new Set([408, 504, 524]);

/** Whether the answer did not come in time, so that a smaller request may have one. */
export function isOverdue({ kind, status = 0 }: Failure): boolean {
	return kind === 'timeout' || (kind === 'status' && TIMEOUT_STATUS.has(status));
}

/** Codes of a connection that the other side closed while the request was on its way. */
const CONNECTION_CLOSED = new Set(['ECONNRESET', 'EPIPE']);

/** Whether the connection was closed, as some do with a request that is too large instead of answering 413. */
export function isCutOff({ kind, code = '' }: Failure): boolean {
	return kind === 'network' && CONNECTION_CLOSED.has(code);
}

/** Statuses of the server's own word on what it was sent. */
const REJECTION_STATUS = new Set([400, 404, 422]);

/** Whether the server itself has read the request and says no to what is in it. */
export function isRejection(failure: Failure): boolean {
	const { status = 0 } = failure;
	const isOwnAnswer = !isForeignNotFound(failure) && !isRouteMissing(failure) && !isBusy(failure);
	return REJECTION_STATUS.has(status) && isOwnAnswer;
}

/** Whether the server may have done part of a request that holds several things, and no more than that. */
export function mayBePartlyDone(failure: Failure): boolean {
	return isRejection(failure) || failure.status === 500;
}
