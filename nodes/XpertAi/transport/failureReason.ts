import compact from 'lodash/compact';
import get from 'lodash/get';
import isNil from 'lodash/isNil';
import omitBy from 'lodash/omitBy';
import { DateTime } from 'luxon';
import type { IDataObject } from 'n8n-workflow';

import { answerFlaw, isHtml, isJsonObject } from './answer';
import type { Failure } from './failure';
import { titleOf } from './sanitize';

/** PostgreSQL error codes that users of this API meet, in plain words (raw database answers, service behaviour). */
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

/**
 * The server's reason in an answer that is not a 2xx. It knows every shape in the service behaviour: `{message}` with
 * a text or an array, raw database errors (without their SQL and parameters), `{error}`, `{detail}`, ZodError issues,
 * plain text and HTML pages. `sanitize` must make it fit to be shown.
 *
 * @param answer the parsed answer
 * @returns the reason, or `undefined` if there is none
 */
export function failureReason(answer: unknown): string | undefined {
	return typeof answer === 'string' ? reasonInText(answer) : reasonInJson(answer);
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

function reasonInJson(answer: unknown): string | undefined {
	if (!isJsonObject(answer)) return undefined;
	const isOfDatabase = typeof answer.query === 'string' || isJsonObject(answer.driverError);
	if (isOfDatabase) return databaseReason(answer);
	const reasons = REASON_PATHS.map((path) => textOrList(get(answer, path)));
	return reasons.find((reason) => reason !== undefined);
}

/** Where servers give their reason, best first. */
const REASON_PATHS = ['message', 'error.issues', 'error.message', 'error', 'detail'];

/** What the database says, also where the server passes it on as the error of its driver. */
const databaseFacts = (answer: IDataObject): IDataObject => ({
	...(answer.driverError as IDataObject | undefined),
	...omitBy(answer, isNil),
});

function databaseReason(answer: IDataObject): string {
	const { code, detail, column, table } = databaseFacts(answer);
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

function reasonInText(text: string): string {
	if (!isHtml(text)) return answerFlaw(text, true) ? 'an answer that breaks off' : text;
	const title = titleOf(text);
	return title ? `an HTML page with the title "${title}"` : 'an HTML page';
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
