import compact from 'lodash/compact';
import get from 'lodash/get';
import isNil from 'lodash/isNil';
import omitBy from 'lodash/omitBy';
import uniq from 'lodash/uniq';
import { DateTime } from 'luxon';
import type { IDataObject, IN8nHttpFullResponse } from 'n8n-workflow';
import { z } from 'zod';

import { readUrl } from './credential';
import type { Failure } from './failure';
import { redactWords, titleOf, type Redact } from './sanitize';

/** Matches the key `credentials`, also with escaped letters. */
const MAY_HOLD_CREDENTIALS = /"credentials"|\\u00[67]/i;

/**
 * Removes, in place, the key under which a provider's record holds its API keys, which no workflow may see (E2, beyond
 * the contract). `JSON.parse` with a function fails for an answer that is nested deeply.
 */
function removeCredentials(answer: unknown): void {
	const left = [answer];
	while (left.length > 0) {
		const value = left.pop();
		if (isJsonObject(value)) delete value.credentials;
		if (typeof value === 'object' && value !== null)
			for (const one of Object.values(value as Record<string, unknown>)) left.push(one);
	}
}

/**
 * Parses an answer by its content, because content types are unreliable: E9 sends a number as `text/html`, LangGraph
 * sends JSON as `text/plain`.
 *
 * @param body as received
 * @param redact applied to the words of the server in it
 * @returns the JSON value without the key `credentials` of any record; the text itself if it is no JSON; `undefined`
 * for an empty body
 */
export function parseAnswer(body: unknown, redact?: Redact): unknown {
	if (typeof body !== 'string') return body;
	const text = body.trim();
	if (text === '') return undefined;
	let answer: unknown;
	try {
		answer = JSON.parse(text);
	} catch {
		return body;
	}
	if (MAY_HOLD_CREDENTIALS.test(text)) removeCredentials(answer);
	if (redact) redactWords(answer, text, redact);
	return answer;
}

/** Whether a text is an HTML page. */
export function isHtml(text: string): boolean {
	return /^(<!doctype html|<html)/i.test(text.trimStart());
}

/** What is read of an answer. The messages of its issues follow "cannot be read:". */
export type AnswerSchema<Answer = unknown> = z.ZodType<Answer, z.ZodTypeDef, unknown>;

/** A 2xx, parsed. */
export interface Answered<Answer> {
	ok: true;
	status: number;
	answer: Answer;
	/** The time of the server, in milliseconds since the epoch, if it tells (`Date`). */
	serverTime?: number;
	failure?: undefined;
}

/** A failure without its request. */
export type Details = Omit<Failure, 'method' | 'path'>;

/** Any answer, also none. */
export const anyAnswer = z.unknown();

/** A record with non-empty values for these keys, and any other fields. */
export function recordWith(...keys: string[]) {
	return z
		.record(z.unknown(), { message: 'it is no record' })
		.superRefine((record, { addIssue }) => {
			for (const key of keys.filter((one) => (record[one] ?? '') === ''))
				addIssue({ code: 'custom', path: [key] });
		});
}

const NO_LIST = { message: 'it holds no list of results' };

/** The list in an answer: the answer itself, or its value for `resultsKey`. */
export function listAnswer(resultsKey?: string): AnswerSchema<unknown[]> {
	const list = z.array(z.unknown(), NO_LIST);
	if (resultsKey === undefined) return list;
	const record = z.record(z.unknown(), NO_LIST);
	return record.transform((answer) => answer[resultsKey]).pipe(list);
}

/** What a schema misses in an answer, in words that follow "cannot be read:". */
export function answerIssue(answer: unknown, { issues }: z.ZodError): string {
	const [first] = issues;
	if (answer === undefined && first?.code !== 'custom') return 'it is empty';
	// The words of zod itself name types, which say nothing to users.
	if (first?.path.length === 0)
		return first.message.startsWith('it ') ? first.message : 'it is not what was asked for';
	return `it holds no ${uniq(issues.map(({ path }) => path.join('.'))).join(' or no ')}`;
}

/**
 * What is wrong with a 2xx answer, if anything: a web page is no answer of this API, text that starts like JSON but
 * does not parse was cut off, and some servers report a failure with a 2xx status.
 *
 * @param answer the result of `parseAnswer`
 * @param isText whether it arrived as text that is no JSON
 */
export function answerFlaw(answer: unknown, isText: boolean): string | undefined {
	if (isJsonObject(answer)) return refusalIn(answer);
	if (typeof answer !== 'string' || !isText) return undefined;
	if (isHtml(answer)) return 'it is an HTML page, not an answer of this API';
	if (/^[[{]/.test(answer.trimStart())) return 'it breaks off or is not valid JSON';
	return undefined;
}

/** The failure that a 2xx answer reports. No record of this API has these fields. */
function refusalIn({ statusCode, success, message }: IDataObject): string | undefined {
	const details = typeof message === 'string' && message !== '' ? `: ${message}` : '';
	if (typeof statusCode === 'number' && statusCode >= 400)
		return `it says ${statusCode} itself${details}`;
	return success === false ? `it says that nothing was done${details}` : undefined;
}

/** Whether a value is a JSON object (not an array, not null). */
export function isJsonObject(value: unknown): value is IDataObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** PostgreSQL error codes that users of this API meet, in plain words (seen on the live server). */
const DATABASE_REASONS: Record<string, string> = {
	'22001': 'a text is too long for its field',
	'22021': 'a text holds a character that it cannot store',
	'22P05': 'a text holds a character that it cannot store',
	'22003': 'a number is out of range',
	'22007': 'a date is not valid or out of range',
	'22P02':
		'a value has the wrong form, such as an ID that is not a UUID or text where a number belongs',
	'23502': 'a required value is missing',
	'23503': 'it refers to a record that does not exist',
	'23505': 'a record with the same key exists already',
};

/** Where servers give their reason, best first. */
const REASON_PATHS = ['message', 'error.issues', 'error.message', 'error', 'detail'];

/**
 * The server's reason in an answer that is not a 2xx: `{message}` with a text or an array, raw database errors (without
 * their SQL and parameters), `{error}`, `{detail}`, ZodError issues, plain text and HTML pages. `sanitize` must make it
 * fit to be shown.
 *
 * @param answer the parsed answer
 * @returns the reason, or `undefined` if there is none
 */
export function failureReason(answer: unknown): string | undefined {
	if (typeof answer === 'string') {
		if (!isHtml(answer)) return answerFlaw(answer, true) ? 'an answer that breaks off' : answer;
		const title = titleOf(answer);
		return title ? `an HTML page with the title "${title}"` : 'an HTML page';
	}
	if (!isJsonObject(answer)) return undefined;
	if (typeof answer.query === 'string' || isJsonObject(answer.driverError))
		return databaseReason({ ...(answer.driverError as IDataObject), ...omitBy(answer, isNil) });
	const reasons = REASON_PATHS.map((path) => textOrList(get(answer, path)));
	return reasons.find((reason) => reason !== undefined);
}

/**
 * What a 404 of the API says does not exist: a record, or its route (`Cannot POST /api/ai/…`, recorded). Other
 * servers and proxies answer in other shapes.
 */
export function missingIn(answer: unknown): Failure['missing'] {
	if (!isJsonObject(answer) || answer.statusCode !== 404) return undefined;
	if (typeof answer.message !== 'string') return undefined;
	return /^Cannot [A-Z]+ \//.test(answer.message) ? 'route' : 'record';
}

/** @param error what the database says, also where the server passes it on as the error of its driver */
function databaseReason({ code, detail, column, table }: IDataObject): string {
	const parts = [
		DATABASE_REASONS[String(code)] ?? 'a value was not accepted',
		// Only details about a key are short and safe; others contain the values of the whole row.
		typeof detail === 'string' && detail.startsWith('Key (') && detail,
		typeof column === 'string' && `field ${column} of ${String(table)}`,
		typeof code === 'string' && code !== '' && `database code ${code}`,
	];
	return `The server's database refused the data: ${compact(parts).join('; ')}`;
}

/** A text, or a list of texts or of Zod's issues. */
function textOrList(value: unknown): string | undefined {
	if (typeof value === 'string') return value || undefined;
	if (!Array.isArray(value)) return undefined;
	const texts = value.map((entry: unknown) => {
		if (!isJsonObject(entry) || typeof entry.message !== 'string') return entry;
		const { path, message } = entry;
		const key = Array.isArray(path) ? path.join('.') : '';
		return key ? `${key}: ${message}` : message;
	});
	return texts.filter((text) => typeof text === 'string').join('; ') || undefined;
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

/** The parsed answer of a response, or why there is none. */
export function readResponse<Answer>(
	{ statusCode: status, headers, body, statusMessage }: IN8nHttpFullResponse,
	schema: AnswerSchema<Answer>,
	redact: Redact,
): Answered<Answer> | Details {
	const requestId = textIn(headers['x-request-id']);
	const answer = parseAnswer(body, redact);
	if (status >= 200 && status < 300) {
		// Text that parsed as JSON is complete, even if it starts with a bracket.
		const flaw = answerFlaw(answer, answer === body);
		const { success, data, error } = schema.safeParse(answer);
		const serverTime = Date.parse(String(headers.date)) || undefined;
		if (success && flaw === undefined) return { ok: true, status, answer: data, serverTime };
		const reason = flaw ?? (error && answerIssue(answer, error));
		return { kind: 'unreadable', status, requestId, reason };
	}
	if (status >= 300 && status < 400)
		return { kind: 'redirect', status, requestId, reason: originOf(textIn(headers.location)) };
	return {
		kind: 'status',
		status,
		requestId,
		reason: failureReason(answer) ?? textIn(statusMessage),
		retryAfterMs: parseRetryAfter(headers['retry-after'], Date.now()),
		missing: status === 404 ? missingIn(answer) : undefined,
	};
}

const textIn = (header: unknown) =>
	typeof header === 'string' && header !== '' ? header : undefined;

function originOf(location: string | undefined): string {
	if (location === undefined) return 'another address';
	const url = readUrl(location);
	if (!url) return 'another path of the same server';
	// Addresses that are not of the web have no origin.
	return url.origin === 'null' ? url.protocol : url.origin;
}
