import { DateTime } from 'luxon';

import type { Failure } from './failure';

/** How often and how long a request is tried again. */
export interface RetryLimits {
	/** All tries together, the first one included. */
	maxTries: number;
	/** Wall-clock time from the first try on, after which no further one starts. */
	maxElapsedMs: number;
}

/** Limits of a request that stands alone. Longer waits are n8n's Retry On Fail or the next run of the workflow. */
export const SINGLE_REQUEST_LIMITS: RetryLimits = { maxTries: 3, maxElapsedMs: 30_000 };

const BASE_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;

/** Statuses that say "not now". 409, 413, 422 and 500 are the server's last word on the same request. */
const RETRYABLE_STATUS = new Set([408, 425, 429, 502, 503, 504]);

/** No secure connection, or a certificate that is not accepted: nothing is sent, and trying again does not help. */
const NOT_SECURE = new Set([
	'EPROTO',
	'ERR_SSL_PACKET_LENGTH_TOO_LONG',
	'ERR_SSL_WRONG_VERSION_NUMBER',
	'CERT_HAS_EXPIRED',
	'DEPTH_ZERO_SELF_SIGNED_CERT',
	'ERR_TLS_CERT_ALTNAME_INVALID',
	'SELF_SIGNED_CERT_IN_CHAIN',
	'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
	'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
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
export function isTransient({ kind, status, code }: Failure): boolean {
	if (code !== undefined && NOT_SECURE.has(code)) return false;
	if (kind === 'network' || kind === 'timeout' || kind === 'unreadable') return true;
	return kind === 'status' && status !== undefined && RETRYABLE_STATUS.has(status);
}

/**
 * Whether the server certainly did nothing with the request. A bare 503 may come from a proxy after
 * the server has read it, so it does not count; one with Retry-After comes before.
 */
export function certainlyNotDone({ kind, status, code, retryAfterMs }: Failure): boolean {
	if (kind === 'refused' || kind === 'blocked') return true;
	if (kind === 'network') return code !== undefined && NEVER_SENT.has(code);
	return status === 429 || (status === 503 && retryAfterMs !== undefined);
}

/** Answers of a gateway that gave up while the server may go on behind it. */
const GATEWAY_STATUS = new Set([408, 502, 503, 504, 524]);

/** Whether a gateway answered, so that the server may still be at work on the request. */
export function mayGoOnBehind({ status }: Failure): boolean {
	return status !== undefined && GATEWAY_STATUS.has(status);
}

/** Whether the answer is how servers speak of a record that is not there: 404, and on Xpert also 500. */
export function mayMeanNoRecord({ kind, status }: Failure): boolean {
	return kind === 'status' && (status === 404 || status === 500);
}

/**
 * How long to wait before the next try: exponential with full jitter, but never less than the server
 * asked for.
 *
 * @param attempt the try that has just failed, counted from 1
 * @param random a number from 0 up to 1
 */
export function retryDelayMs(
	attempt: number,
	retryAfterMs: number | undefined,
	random: number,
): number {
	const ceiling = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempt - 1));
	return Math.max(retryAfterMs ?? 0, Math.round(ceiling * random));
}

/**
 * Reads a Retry-After header: seconds or an HTTP date.
 *
 * @param now milliseconds since the epoch
 * @returns milliseconds to wait, never below 0; `undefined` for anything else
 */
export function parseRetryAfter(header: unknown, now: number): number | undefined {
	if (typeof header !== 'string' || header.trim() === '') return undefined;
	if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return Number(header) * 1000;
	const date = DateTime.fromHTTP(header.trim());
	return date.isValid ? Math.max(0, date.toMillis() - now) : undefined;
}
