import uniq from 'lodash/uniq';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

/**
 * Parses an answer by its content, because content types are unreliable: E9 sends a number as `text/html`, LangGraph
 * sends JSON as `text/plain`.
 *
 * @param text the body as received
 * @returns the JSON value without the key `credentials` of any record; the text itself if it is no JSON; `undefined`
 * for an empty body
 */
export function parseAnswer(text: string): unknown {
	const trimmed = text.trim();
	if (trimmed === '') return undefined;
	try {
		return JSON.parse(trimmed, MAY_HOLD_CREDENTIALS.test(trimmed) ? omitKey : undefined);
	} catch {
		return text;
	}
}

/** The key under which a provider's record holds its API keys, which no workflow may see (E2, beyond the contract). */
const CREDENTIALS_KEY = 'credentials';

/** Matches that key, also with escaped letters. */
const MAY_HOLD_CREDENTIALS = /"credentials"|\\u00[67]/i;

const omitKey = (key: string, value: unknown) => (key === CREDENTIALS_KEY ? undefined : value);

/** Whether a text is an HTML page. */
export function isHtml(text: string): boolean {
	return /^(<!doctype html|<html)/i.test(text.trimStart());
}

/** What is read of an answer. The messages of its issues follow "cannot be read:". */
export type AnswerSchema<Answer = unknown> = z.ZodType<Answer, z.ZodTypeDef, unknown>;

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
	return z
		.record(z.unknown(), NO_LIST)
		.transform((answer) => answer[resultsKey])
		.pipe(list);
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
