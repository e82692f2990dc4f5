import isEmpty from 'lodash/isEmpty';
import type { IDataObject } from 'n8n-workflow';

/**
 * Parses an answer by its content, because content types are unreliable: E9 sends a number as
 * `text/html`, LangGraph sends JSON as `text/plain`.
 *
 * @param text the body as it arrived
 * @returns the JSON value without what any record holds as `credentials`, the text itself when it is no JSON, or `undefined` for an empty body
 */
export function parseAnswer(text: string): unknown {
	const trimmed = text.trim();
	if (trimmed === '') return undefined;
	try {
		return JSON.parse(trimmed, MAY_HOLD_CREDENTIALS.test(trimmed) ? withoutCredentials : undefined);
	} catch {
		return text;
	}
}

/** Where the record of a provider has its keys, which no workflow is to see (E2, beyond the contract). */
const CREDENTIALS_KEY = 'credentials';

/** Its name, also with letters that are escaped. */
const MAY_HOLD_CREDENTIALS = /"credentials"|\\u00[67]/i;

const withoutCredentials = (key: string, value: unknown) => (key === CREDENTIALS_KEY ? undefined : value);

/** Whether a text is an HTML page. */
export function isHtml(text: string): boolean {
	return /^(<!doctype html|<html)/i.test(text.trimStart());
}

/**
 * Says what is wrong with an answer that should be of a certain kind, in words that follow "cannot be
 * read:"; `undefined` for one that is right.
 *
 * @param answer the result of `parseAnswer`
 */
export type AnswerCheck = (answer: unknown) => string | undefined;

/** Makes the check of an answer that nothing can be read from unless it is of this kind. */
export function answerMustBe(isRight: (answer: unknown) => boolean, flaw: string): AnswerCheck {
	return (answer) => {
		if (answer === undefined) return 'it is empty';
		return isRight(answer) ? undefined : flaw;
	};
}

/** Whether a value is a JSON object with something under each of these keys. */
export function hasFields(value: unknown, ...keys: string[]): value is IDataObject {
	return isJsonObject(value) && keys.every((key) => (value[key] ?? '') !== '');
}

/** Makes the check of an answer that must be a record with something under each of these keys. */
export function answerWith(...keys: string[]): AnswerCheck {
	return answerMustBe((answer) => hasFields(answer, ...keys), `it holds no ${keys.join(' or no ')}`);
}

/** The list in an answer, under a key of it where it has one. */
export function listIn(answer: unknown, resultsKey?: string): unknown {
	if (resultsKey === undefined) return answer;
	return isJsonObject(answer) ? answer[resultsKey] : undefined;
}

/** Makes the check of an answer that must hold a list. */
export function answerWithList(resultsKey?: string): AnswerCheck {
	return answerMustBe(
		(answer) => Array.isArray(listIn(answer, resultsKey)),
		'it holds no list of results',
	);
}

/**
 * What is wrong with the answer of a success, if anything: a web page is no answer of this API, text that starts
 * like JSON but does not parse was cut off on the way, and some servers say no with a status that says yes.
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

/** The no in an answer that came as a success; no record of this API has these fields. */
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

/** Whether a value is a JSON object with nothing in it. */
export function isEmptyObject(value: unknown): boolean {
	return isJsonObject(value) && isEmpty(value);
}
