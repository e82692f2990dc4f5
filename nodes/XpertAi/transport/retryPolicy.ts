import { DateTime } from 'luxon';

import type { Failure } from './failure';

/** How often, and for how long, a request is retried. */
export interface RetryLimits {
	/** Attempts in total, including the first. */
	maxTries: number;
	/** Time since the first attempt, after which no further attempt starts. */
	maxElapsedMs: number;
}

/** Limits of a single request. n8n's Retry On Fail, or the next run of the workflow, covers longer outages. */
export const SINGLE_REQUEST_LIMITS: RetryLimits = { maxTries: 3, maxElapsedMs: 30_000 };

const BASE_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;

/**
 * The delay before the next attempt: exponential backoff with full jitter, but at least `minMs`.
 *
 * @param attempt the attempt that failed, counted from 1
 * @param random a number from 0 to below 1
 */
export function retryDelayMs(attempt: number, minMs: number, random: number): number {
	const ceiling = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempt - 1));
	return Math.max(minMs, Math.round(ceiling * random));
}

/** The minimum delay after a foreign answer, as while a container restarts, in milliseconds. */
export const FOREIGN_ANSWER_PAUSE_MS = 1_000;

/** The minimum delay after a rate limit without Retry-After, in milliseconds. */
const RATE_LIMIT_PAUSE_MS = 2_000;

/** Statuses of a rate limit or an overload. */
const RATE_LIMIT_STATUS = new Set([429, 529]);

/** The minimum delay before the next attempt, in milliseconds: Retry-After, or a delay for temporary failures. */
export function minPauseMs({ kind, status = 0, retryAfterMs }: Failure): number {
	if (retryAfterMs !== undefined) return retryAfterMs;
	if (RATE_LIMIT_STATUS.has(status)) return RATE_LIMIT_PAUSE_MS;
	// Such an answer may come only until the server is back, as while a container restarts.
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
