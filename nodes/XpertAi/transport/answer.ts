import { castArray, compact, get, isNil, isString, omitBy, uniq } from 'lodash';
import type { IDataObject, IN8nHttpFullResponse } from 'n8n-workflow';
import { z } from 'zod';

import { eachOf, openObject } from '../payloads/common';
import { readUrl } from './credential';
import type { Failure } from './failure';
import { cleanAnswer, titleOf, type Redact } from './sanitize';

/**
 * Parses an answer by its content, because content types are unreliable: E9 sends a number as `text/html`, LangGraph
 * sends JSON as `text/plain`.
 *
 * @param body as received; a body that is not text is returned unchanged
 * @param redact applied to the error texts in JSON (see `cleanAnswer`); default no redaction
 * @returns the JSON value, in which no record has the key `credentials`; the text itself if it is not JSON; `undefined`
 * for an empty text
 */
export function parseAnswer(body: unknown, redact: Redact = (text) => text): unknown {
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
 * The schema of an answer. Errors show the message of an issue after "cannot be read:". The message of an issue about
 * the whole answer must start with "it ".
 */
export type AnswerSchema<Answer = unknown> = z.ZodType<Answer, z.ZodTypeDef, unknown>;

/** A 2xx answer, parsed. */
export interface Answered<Answer> {
	ok: true;
	status: number;
	answer: Answer;
	/**
	 * The time of the server when it answered, in milliseconds since the epoch; undefined without a valid `Date`
	 * header.
	 */
	serverTime?: number;
	failure?: undefined;
}

/** A failure without the method and path of its request. */
export type Details = Omit<Failure, 'method' | 'path'>;

/** Accepts any answer, even an empty one. HTML pages and incomplete JSON are still rejected (see `answerFlaw`). */
export const anyAnswer = z.unknown();

const filled = z.unknown().refine((value) => (value ?? '') !== '');

/** Returns the schema of a record that has non-empty values for these keys. Other fields are allowed. */
export const recordWith = (...keys: string[]) => openObject(eachOf(filled, ...keys));

/**
 * Returns a function that takes the values of a path and returns the schema of the requested record. The schema rejects
 * a record whose ID is not the first value of the path (ignoring case).
 *
 * @param what the kind of record, as users call it
 * @param key the key of the ID in the record
 */
export function recordAbout(what: string, key = 'id') {
	return (asked: Record<string, string>) =>
		recordWith(key).refine(
			(answer) => String(answer[key]).toLowerCase() === Object.values(asked)[0]?.toLowerCase(),
			`it is about another ${what}`,
		);
}

/** Returns a schema that reads the list in an answer: the answer itself, or its value for `resultsKey`. */
export const listAnswer = (resultsKey?: string): AnswerSchema<unknown[]> =>
	z.preprocess(
		(answer) => (resultsKey ? get(answer, [resultsKey]) : answer),
		z.array(z.unknown(), { message: 'it holds no list of results' }),
	);

/** Says why an answer does not match its schema, in words that follow "cannot be read:". */
export function answerIssue(answer: unknown, { issues }: z.ZodError): string {
	const [first] = issues;
	if (answer === undefined && first?.code !== 'custom') return 'it is empty';
	// Messages of this package start with "it ". All others come from zod and name types, which mean nothing to users.
	if (first?.path.length === 0)
		return first.message.startsWith('it ') ? first.message : 'it is not what was asked for';
	return `it holds no ${uniq(issues.map(({ path }) => path.join('.'))).join(' or no ')}`;
}

/**
 * Says why the text of an answer cannot be accepted, whatever the schema: it is a web page, which this API never sends,
 * or it starts like JSON but does not parse, probably because it was cut off.
 *
 * @param answer the result of `parseAnswer`
 * @param isText whether `answer` is text that did not parse as JSON
 * @returns undefined if the answer can be accepted
 */
export function answerFlaw(answer: unknown, isText: boolean): string | undefined {
	if (typeof answer !== 'string' || !isText) return undefined;
	if (isHtml(answer)) return 'it is an HTML page, not an answer of this API';
	return /^[[{]/.test(answer.trimStart()) ? 'it breaks off or is not valid JSON' : undefined;
}

/** Whether a value is a JSON object (not an array, not null). */
export const isJsonObject = (value: unknown): value is IDataObject =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reasons in plain words for the PostgreSQL error codes that the live server has sent. */
const DATABASE_REASONS: Record<string, string> = {
	'22001': 'a text is too long for its field',
	'22P02': 'a value has the wrong form, such as an ID that is not a UUID',
	'23502': 'a required value is missing',
	'23503': 'it refers to a record that does not exist',
	'23505': 'a record with the same key exists already',
};

/** The paths in an answer at which servers give the reason of a failure, best first. */
const REASON_PATHS = ['message', 'error.message', 'error', 'detail'];

/**
 * Returns the reason that a server gives in an answer that is not a 2xx. Reads `{message}` with a text or an array, raw
 * database errors (without their SQL and parameters), `{error}`, `{detail}`, plain text and HTML pages. Callers must
 * `sanitize` the reason before it is shown.
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
	return compact(REASON_PATHS.map((path) => textOrList(get(answer, path))))[0];
}

/**
 * Returns what does not exist according to a 404: the route, if the message is like `Cannot POST /api/ai/…` (recorded),
 * or else a record. Returns undefined for other servers and for proxies, whose answers do not have the form of this
 * API.
 */
export function missingIn(answer: unknown): Failure['missing'] {
	const { statusCode, message } = isJsonObject(answer) ? answer : {};
	if (statusCode !== 404 || typeof message !== 'string') return undefined;
	return /^Cannot [A-Z]+ \//.test(message) ? 'route' : 'record';
}

/** The reason of a database error, from the merged fields of the answer and of its `driverError`. */
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

/** Joins the texts of a value that is a text or a list of texts; empty for any other value. */
const textOrList = (value: unknown) => castArray(value).filter(isString).join('; ');

/** Converts a Retry-After header from seconds to milliseconds; undefined for any other form, such as a date. */
export const parseRetryAfter = (header: unknown) =>
	/^\d+(\.\d+)?$/.test(String(header)) ? Number(header) * 1000 : undefined;

/** Parses a response: returns the answer of a 2xx, or the failure. */
export function readResponse<Answer>(
	{ statusCode: status, headers, body, statusMessage }: IN8nHttpFullResponse,
	schema: AnswerSchema<Answer>,
	redact: Redact,
): Answered<Answer> | Details {
	const requestId = textIn(headers['x-request-id']);
	const answer = parseAnswer(body, redact);
	if (status >= 200 && status < 300) {
		// If `answer` is still the body, the body did not parse. Only then does a bracket at the start mean JSON that was
		// cut off: a valid JSON string can also start with a bracket.
		const flaw = answerFlaw(answer, answer === body);
		const { success, data, error } = schema.safeParse(answer);
		const serverTime = Date.parse(String(headers.date)) || undefined;
		if (success && flaw === undefined) return { ok: true, status, answer: data, serverTime };
		const reason = flaw ?? (error && answerIssue(answer, error));
		return { kind: 'unreadable', status, requestId, reason };
	}
	if (status >= 300 && status < 400)
		return { kind: 'redirect', status, requestId, reason: readUrl(`${headers.location}`)?.origin };
	return {
		kind: 'status',
		status,
		requestId,
		reason: failureReason(answer) ?? textIn(statusMessage),
		retryAfterMs: parseRetryAfter(headers['retry-after']),
		missing: status === 404 ? missingIn(answer) : undefined,
	};
}

const textIn = (header: unknown) => (typeof header === 'string' && header) || undefined;
