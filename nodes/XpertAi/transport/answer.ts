import { castArray, compact, get, inRange, isInteger, isNil, isString, omitBy, uniq } from 'lodash';
import { DateTime } from 'luxon';
import type { IDataObject, IN8nHttpFullResponse } from 'n8n-workflow';
import { z } from 'zod';

import { isJsonObject } from '../payloads/json';
import { eachOf, openObject, type Schema } from '../payloads/schemas';
import { systemClock } from './clock';
import { parseUrl } from './credential';
import type { Failure } from './failure';
import { titleOf } from './sanitize';
import { cleanAnswer } from './cleanAnswer';
import { type Redact } from './redact';

/**
 * Parses an answer as JSON. Ignores the content type, because servers send even a number as `text/html`.
 *
 * @param body as received. A body that is not text is returned unchanged.
 * @param redact redacts the error texts in JSON (see `cleanAnswer`); default no redaction
 * @returns the JSON value, cleaned by `cleanAnswer`; undefined for blank text. Text that is not JSON stays unchanged.
 */
export function parseJsonText(body: unknown, redact: Redact = (text) => text): unknown {
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

export const isHtml = (text: string): boolean => /^(<!doctype html|<html)/i.test(text.trimStart());

/**
 * The schema of an answer. Custom messages start with "it ", because errors show the message after "cannot be read:".
 */
export type AnswerSchema<Answer = unknown> = Schema<Answer>;

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
export type FailureDetails = Omit<Failure, 'method' | 'path'>;

/** Accepts any answer, even an empty answer, except one that reports a failure (see `reportedStatus`). */
export const anySuccessfulAnswer = z
	.unknown()
	.refine((answer) => reportedStatus(answer, 200) === undefined);

const filled = z.unknown().refine((value) => (value ?? '') !== '');

/** Returns a schema for a record with a non-empty value for each key. The record can have more fields. */
export const recordWith = (...keys: string[]) => openObject(eachOf(filled, ...keys));

/**
 * Returns a function that creates a schema for one record. The record must have the ID that the request asked for,
 * which is the first path parameter. The comparison ignores case.
 *
 * @param what the kind of record, for the error message
 * @param key the field with the ID of the record
 */
export function schemaOfAskedRecord(what: string, key = 'id') {
	return (asked: Record<string, string>) =>
		recordWith(key).refine(
			(answer) => String(answer[key]).toLowerCase() === Object.values(asked)[0]?.toLowerCase(),
			`it is about another ${what}`,
		);
}

/**
 * Returns a schema for a list of results.
 *
 * @param resultsKey the field of the answer that contains the list; by default, the answer itself is the list
 */
export const listAnswer = (resultsKey?: string): AnswerSchema<unknown[]> =>
	z.preprocess(
		(answer) => (resultsKey ? get(answer, [resultsKey]) : answer),
		z.array(z.unknown(), { message: 'it holds no list of results' }),
	);

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
 * Detects an HTML page or invalid JSON, because a schema may accept such text.
 *
 * @param answer the result of `parseJsonText`
 * @param form `text`: `answer` is a text that did not parse as JSON
 * @returns what is wrong, or undefined if the answer can be accepted
 */
export function unreadableReason(answer: unknown, form: 'json' | 'text'): string | undefined {
	if (typeof answer !== 'string' || form === 'json') return undefined;
	if (isHtml(answer)) return 'it is an HTML page, not an answer of this API';
	return /^[[{]/.test(answer.trimStart()) ? 'it breaks off or is not valid JSON' : undefined;
}

/**
 * Returns the status of a failure that a 2xx answer reports in its body: its `statusCode`, or the status of the answer
 * for `success: false`. Except in `anySuccessfulAnswer`, only for answers that do not match their schema, because a good record
 * may have such fields.
 *
 * @returns undefined if the answer reports no failure
 */
function reportedStatus(answer: unknown, status: number): number | undefined {
	const { statusCode, success } = isJsonObject(answer) ? answer : {};
	if (isInteger(statusCode) && inRange(Number(statusCode), 400, 600)) return Number(statusCode);
	return success === false ? status : undefined;
}

/** Reasons in plain words for PostgreSQL error codes that a real server has sent. */
const DATABASE_REASONS: Record<string, string> = {
	'22001': 'a text is too long for its field',
	'22003': 'a number is out of range',
	'22007': 'a date is not valid or out of range',
	'22021': 'a text holds a character that it cannot store',
	'22P02':
		'a value has the wrong form, such as an ID that is not a UUID or text where a number belongs',
	'22P05': 'a text holds a character that it cannot store',
	'23502': 'a required value is missing',
	'23503': 'it refers to a record that does not exist',
	'23505': 'a record with the same key exists already',
};

/** Fields of an error response that can contain the reason, in order of preference. */
const REASON_PATHS = ['message', 'error.issues', 'error.message', 'error', 'detail'];

/**
 * Returns the reason in an error response. The response can be JSON, plain text or an HTML page.
 * Callers must `sanitize` the reason before showing it.
 *
 * @param answer the parsed answer
 * @returns `undefined` if there is no reason
 */
export function failureReason(answer: unknown): string | undefined {
	if (typeof answer === 'string') {
		if (!isHtml(answer))
			return unreadableReason(answer, 'text') ? 'an answer that breaks off' : answer;
		const title = titleOf(answer);
		return title ? `an HTML page with the title "${title}"` : 'an HTML page';
	}
	if (!isJsonObject(answer)) return undefined;
	if (typeof answer.query === 'string' || isJsonObject(answer.driverError))
		return databaseReason({ ...(answer.driverError as IDataObject), ...omitBy(answer, isNil) });
	return compact(REASON_PATHS.map((path) => joinedText(get(answer, path))))[0];
}

/**
 * Returns what a 404 answer reports as missing:
 *
 * - `route`: for a message like `Cannot POST /api/ai/…`.
 * - `record`: for any other message of the Xpert AI server.
 * - undefined: for an answer of another server, such as a proxy.
 */
export function missingIn(answer: unknown): Failure['missing'] {
	const { statusCode, message } = isJsonObject(answer) ? answer : {};
	if (statusCode !== 404 || typeof message !== 'string') return undefined;
	return /^Cannot [A-Z]+ \//.test(message) ? 'route' : 'record';
}

/** Returns the PostgreSQL error code in an error response, if any. */
function databaseCodeIn(answer: unknown): string | undefined {
	const code: unknown = get(answer, 'code');
	return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

function databaseReason({ code, detail, column, table }: IDataObject): string {
	const parts = [
		DATABASE_REASONS[String(code)] ?? 'a value was not accepted',
		// A `detail` about a key is short and safe to show. Any other `detail` can contain the values of the whole row.
		typeof detail === 'string' && detail.startsWith('Key (') && detail,
		typeof column === 'string' && `field ${column} of ${String(table)}`,
		typeof code === 'string' && code !== '' && `database code ${code}`,
	];
	return `The server's database refused the data: ${compact(parts).join('; ')}`;
}

/** Converts a text, an issue, or a list of these to one text. Any other value becomes an empty text. */
const joinedText = (value: unknown) => castArray(value).map(issueText).filter(isString).join('; ');

/** Converts an issue of a validator, such as zod's, to text. Returns any other value unchanged. */
function issueText(entry: unknown): unknown {
	if (!isJsonObject(entry) || typeof entry.message !== 'string') return entry;
	const { path, message } = entry;
	const key = Array.isArray(path) ? path.join('.') : '';
	return key ? `${key}: ${message}` : message;
}

/**
 * Reads a Retry-After header, which holds seconds or an HTTP date.
 *
 * @param now the current time, in milliseconds since the epoch
 * @returns milliseconds to wait, never below 0; undefined for any other text
 */
export function parseRetryAfter(header: unknown, now: number): number | undefined {
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
): Answered<Answer> | FailureDetails {
	const requestId = textIn(headers['x-request-id']);
	const answer = parseJsonText(body, redact);
	/** @param failedStatus the HTTP status, or the status that the body of a 2xx answer reports */
	const failure = (failedStatus: number, otherReason?: string): FailureDetails => ({
		kind: 'status',
		status: failedStatus,
		requestId,
		databaseCode: databaseCodeIn(answer),
		reason: failureReason(answer) ?? otherReason,
		retryAfterMs: parseRetryAfter(headers['retry-after'], systemClock.now()),
		missing: failedStatus === 404 ? missingIn(answer) : undefined,
	});
	if (status >= 300 && status < 400)
		return { kind: 'redirect', status, requestId, reason: redirectTarget(headers.location) };
	if (status < 200 || status >= 300) return failure(status, textIn(statusMessage));
	// `parseJsonText` returns the body unchanged if the body is not JSON.
	const form = answer === body ? 'text' : 'json';
	const unreadable = unreadableReason(answer, form);
	const { success, data, error } = schema.safeParse(answer);
	const serverTime = Date.parse(String(headers.date)) || undefined;
	if (success && unreadable === undefined) return { ok: true, status, answer: data, serverTime };
	const reported = reportedStatus(answer, status);
	if (reported !== undefined) return failure(reported);
	const reason = unreadable ?? (error && answerIssue(answer, error));
	return { kind: 'unreadable', status, requestId, reason };
}

/** Describes where a redirect leads, without the path and the query, which may contain secrets. */
function redirectTarget(location: unknown): string | undefined {
	const text = textIn(location);
	if (text === undefined) return undefined;
	const url = parseUrl(text);
	if (!url) return 'another path of the same server';
	// Addresses such as `mailto:` have no origin.
	return url.origin === 'null' ? url.protocol : url.origin;
}

const textIn = (header: unknown) => (typeof header === 'string' && header) || undefined;
