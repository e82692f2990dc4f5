import { uniq } from 'lodash';
import { DateTime } from 'luxon';
import type { IN8nHttpFullResponse } from 'n8n-workflow';
import type { z } from 'zod';

import { systemClock } from './clock';
import { parseUrl } from './credential';
import type { Failure } from './failure';
import { cleanAnswer } from './cleanAnswer';
import type { Redact } from './redact';
import { databaseCodeIn, failureReason, whatIsReportedMissing } from './failureReason';
import { type AnswerSchema, reportedFailureStatus } from './answerSchemas';
import { unreadableReason } from './unreadable';

/**
 * Parses an answer as JSON. Ignores the content type, because servers send even a number as `text/html`.
 *
 * @param body as received. A body that is not text is returned unchanged.
 * @param redact redacts the error texts in JSON (see `cleanAnswer`); default no redaction
 * @returns the JSON value, cleaned by `cleanAnswer`; undefined for blank text. Text that is not JSON stays unchanged.
 */
export function parseAndCleanJson(body: unknown, redact: Redact = (text) => text): unknown {
	if (typeof body !== 'string') return body;
	const text = body.trim();
	if (text === '') return undefined;
	let answer: unknown;
	try {
		answer = JSON.parse(text);
	} catch {
		return body;
	}
	cleanAnswer(answer, redact);
	return answer;
}

/** A parsed 2xx answer. */
export interface Answered<Answer> {
	ok: true;
	status: number;
	answer: Answer;
	/** The server's time, in milliseconds since the epoch. Undefined without a valid `Date` header. */
	serverTime?: number;
	failure?: undefined;
}

/** A failure without the method and path of its request. */
export type FailureWithoutRequest = Omit<Failure, 'method' | 'path'>;

/** Describes why an answer does not match its schema. Errors show this text after "cannot be read:". */
export function answerIssue(answer: unknown, { issues }: z.ZodError): string {
	const [first] = issues;
	if (answer === undefined && first?.code !== 'custom') return 'it is empty';
	// Messages of this package start with "it ". Other messages come from zod and are too technical for users.
	if (first?.path.length === 0)
		return first.message.startsWith('it ') ? first.message : 'it is not what was asked for';
	return `it holds no ${uniq(issues.map(({ path }) => path.join('.'))).join(' or no ')}`;
}

/**
 * Reads a Retry-After header, which holds seconds or an HTTP date.
 *
 * @param now the current time, in milliseconds since the epoch
 * @returns milliseconds to wait, never below 0; undefined for any other text
 */
export function retryAfterMsOf(header: unknown, now: number): number | undefined {
	const text = String(header);
	if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
	const date = DateTime.fromHTTP(text);
	return date.isValid ? Math.max(0, date.toMillis() - now) : undefined;
}

/** Parses a response. Returns the answer or the failure. */
export function readResponse<Answer>(
	{ statusCode: status, headers, body, statusMessage }: IN8nHttpFullResponse,
	schema: AnswerSchema<Answer>,
	redact: Redact,
): Answered<Answer> | FailureWithoutRequest {
	const requestId = textIn(headers['x-request-id']);
	const answer = parseAndCleanJson(body, redact);
	/** @param failedStatus the HTTP status, or the status that the body of a 2xx answer reports */
	const failure = (failedStatus: number, otherReason?: string): FailureWithoutRequest => ({
		kind: 'status',
		status: failedStatus,
		requestId,
		databaseCode: databaseCodeIn(answer),
		reason: failureReason(answer) ?? otherReason,
		retryAfterMs: retryAfterMsOf(headers['retry-after'], systemClock.now()),
		missing: failedStatus === 404 ? whatIsReportedMissing(answer) : undefined,
	});
	if (status >= 300 && status < 400)
		return { kind: 'redirect', status, requestId, reason: redirectTargetText(headers.location) };
	if (status < 200 || status >= 300) return failure(status, textIn(statusMessage));
	// `parseAndCleanJson` returns the body unchanged if the body is not JSON.
	const form = answer === body ? 'text' : 'json';
	const unreadable = unreadableReason(answer, form);
	const { success, data, error } = schema.safeParse(answer);
	const serverTime = Date.parse(String(headers.date)) || undefined;
	if (success && unreadable === undefined) return { ok: true, status, answer: data, serverTime };
	const reported = reportedFailureStatus(answer, status);
	if (reported !== undefined) return failure(reported);
	const reason = unreadable ?? (error && answerIssue(answer, error));
	return { kind: 'unreadable', status, requestId, reason };
}

/** Describes where a redirect leads, without the path and the query, which may contain secrets. */
function redirectTargetText(location: unknown): string | undefined {
	const text = textIn(location);
	if (text === undefined) return undefined;
	const url = parseUrl(text);
	if (!url) return 'another path of the same server';
	// Addresses such as `mailto:` have no origin.
	return url.origin === 'null' ? url.protocol : url.origin;
}

const textIn = (header: unknown) => (typeof header === 'string' && header) || undefined;
