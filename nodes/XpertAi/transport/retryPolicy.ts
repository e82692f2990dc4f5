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

/**
 * How long to wait before the next try: exponential with full jitter, but never less than `leastMs`.
 *
 * @param attempt the try that has just failed, counted from 1
 * @param random a number from 0 up to 1
 */
export function retryDelayMs(attempt: number, minMs: number, random: number): number {
	const ceiling = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempt - 1));
	return Math.max(minMs, Math.round(ceiling * random));
}

/** The least wait where somebody else seems to answer, as while a container restarts, in milliseconds. */
export const FOREIGN_ANSWER_PAUSE_MS = 1_000;

/** The least wait where the server limits requests without saying when to come back, in milliseconds. */
const RATE_LIMIT_PAUSE_MS = 2_000;

/** Statuses of a server that has more to do than it can, or wants to. */
const RATE_LIMIT_STATUS = new Set([429, 529]);

/** The least wait before the next try, in milliseconds: what the server asked for, else by what is known to pass. */
export function minPauseMs({ kind, status = 0, retryAfterMs }: Failure): number {
	if (retryAfterMs !== undefined) return retryAfterMs;
	if (RATE_LIMIT_STATUS.has(status)) return RATE_LIMIT_PAUSE_MS;
	// Whoever answers so may do it only until the server is back, as while a container restarts.
	return kind === 'unreadable' || status === 404 ? FOREIGN_ANSWER_PAUSE_MS : 0;
}

/**
 * Reads a Retry-After header: seconds or an HTTP date.
 *
 * @param now milliseconds since the epoch
 * @returns milliseconds to wait, never below 0; `undefined` for anything else
 */
export function parseRetryAfter(header: unknown, now: number): number | undefined {
	if (typeof header !== 'string') return undefined;
	if (/^\d+(\.\d+)?$/.test(header)) return Number(header) * 1000;
	const date = DateTime.fromHTTP(header);
	return date.isValid ? Math.max(0, date.toMillis() - now) : undefined;
}
