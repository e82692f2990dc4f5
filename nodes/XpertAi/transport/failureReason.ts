import { castArray, compact, get, isNil, isString, omitBy } from 'lodash';
import type { IDataObject } from 'n8n-workflow';

import { isJsonObject } from '../payloads/json';
import { isHtml, unreadableReason } from './unreadable';
import type { Failure } from './failure';
import { htmlTitleOf } from './sanitizedLine';

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
 * Callers must clean the reason with `sanitizedLine` before showing it.
 *
 * @param answer the parsed answer
 * @returns `undefined` if there is no reason
 */
export function failureReason(answer: unknown): string | undefined {
	if (answer === '') return undefined;
	if (typeof answer === 'string') {
		// A text that begins with "{" or "[" is JSON that breaks off. Any other text is itself the reason.
		if (!isHtml(answer))
			return unreadableReason(answer, 'text') ? 'an answer that breaks off' : answer;
		const title = htmlTitleOf(answer);
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
export function whatIsReportedMissing(answer: unknown): Failure['missing'] {
	const { statusCode, message } = isJsonObject(answer) ? answer : {};
	if (statusCode !== 404 || typeof message !== 'string') return undefined;
	return /^Cannot [A-Z]+ \//.test(message) ? 'route' : 'record';
}

/** Returns the PostgreSQL error code in an error response, if any. */
export function databaseCodeIn(answer: unknown): string | undefined {
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
const joinedText = (value: unknown) =>
	castArray(value).map(serverIssueText).filter(isString).join('; ');

/** Converts an issue of a validator, such as zod's, to text. Returns any other value unchanged. */
function serverIssueText(entry: unknown): unknown {
	if (!isJsonObject(entry) || typeof entry.message !== 'string') return entry;
	const { path, message } = entry;
	const key = Array.isArray(path) ? path.join('.') : '';
	return key ? `${key}: ${message}` : message;
}
