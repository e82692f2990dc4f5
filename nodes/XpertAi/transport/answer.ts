import type { IDataObject } from 'n8n-workflow';

/**
 * Parses an answer by its content, because content types are unreliable: E9 sends a number as
 * `text/html`, LangGraph sends JSON as `text/plain`.
 *
 * @param text the body as it arrived
 * @returns the JSON value, the text itself when it is no JSON, or `undefined` for an empty body
 */
export function parseAnswer(text: string): unknown {
	const trimmed = text.trim();
	if (trimmed === '') return undefined;
	try {
		return JSON.parse(trimmed);
	} catch {
		return text;
	}
}

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

/** The list in an answer: under a key of it where it has one, else the answer itself. */
export function listIn(answer: unknown, resultsKey?: string): unknown {
	return resultsKey !== undefined && isJsonObject(answer) ? answer[resultsKey] : answer;
}

/** Makes the check of an answer that must hold a list. */
export function answerWithList(resultsKey?: string): AnswerCheck {
	return answerMustBe(
		(answer) => Array.isArray(listIn(answer, resultsKey)),
		'it holds no list of results',
	);
}

/**
 * What is wrong with the answer of a success, if anything: a web page is no answer of this API, and
 * text that starts like JSON but does not parse was cut off on the way.
 *
 * @param answer the result of `parseAnswer`
 */
export function answerFlaw(answer: unknown): string | undefined {
	if (typeof answer !== 'string') return undefined;
	if (isHtml(answer)) return 'it is an HTML page, not an answer of this API';
	if (/^[[{]/.test(answer.trimStart())) return 'it breaks off or is not valid JSON';
	return undefined;
}

/** Whether a value is a JSON object (not an array, not null). */
export function isJsonObject(value: unknown): value is IDataObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The output an answer gives when an operation does not shape it: the object itself, one item for
 * each element of an array, and `{ response }` for anything else.
 */
export function answerItems(answer: unknown): IDataObject[] {
	if (Array.isArray(answer)) return answer.map(asJson);
	return [asJson(answer)];
}

/**
 * The output of a delete, which is the same for all of n8n's nodes. A success whose answer counts no
 * record as deleted is told apart; those recorded count one (E17), or give back what there was (E14).
 */
export function deletedItem(answer: unknown): IDataObject[] {
	return [{ deleted: !(isJsonObject(answer) && answer.affected === 0) }];
}

/** An answer as the JSON of an item; what is no object stands under `response`. */
export function asJson(value: unknown): IDataObject {
	if (isJsonObject(value)) return value;
	return value === undefined ? {} : { response: value as IDataObject[string] };
}
