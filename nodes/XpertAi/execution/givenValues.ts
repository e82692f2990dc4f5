import { get, isNil, isObject, isPlainObject } from 'lodash';
import type { INode } from 'n8n-workflow';

import { hasLoneSurrogate } from '../payloads/loneSurrogates';
import type { JsonPath } from './issueText';

/**
 * Returns the path of the first part of a value that fits: `[]` for the value itself, undefined if no part fits. First
 * replaces each part that has `toJSON`, e.g. a date, by the result of `toJSON`.
 */
export function findPath(value: unknown, fits: (part: unknown) => boolean): JsonPath | undefined {
	const toJson: unknown = get(value, 'toJSON');
	const part: unknown = typeof toJson === 'function' ? toJson.call(value) : value;
	if (fits(part)) return [];
	if (typeof part !== 'object' || part === null) return undefined;
	for (const [name, inner] of Object.entries(part)) {
		const path = findPath(inner, fits);
		if (path) return [Array.isArray(part) ? Number(name) : name, ...path];
	}
	return undefined;
}

export const isTextWithLoneSurrogate = (text: unknown) =>
	typeof text === 'string' && hasLoneSurrogate(text);

export const isUnsendable = (part: unknown) =>
	(typeof part === 'number' && !Number.isFinite(part)) ||
	isTextWithLoneSurrogate(part) ||
	(isPlainObject(part) && Object.keys(part as object).some(isTextWithLoneSurrogate));

/** Whether a parameter is a resource locator, as n8n stores it. */
export const isLocator = (parameter: unknown): boolean => get(parameter, '__rl') === true;

/**
 * Returns the value of a resource locator, without its display name. The display name can look like an expression.
 * Other parameters stay unchanged.
 */
export const locatorValue = (parameter: unknown): unknown =>
	isLocator(parameter) ? get(parameter, 'value') : parameter;

/** Whether a value is empty. The empty values are `''`, null and undefined. */
export const isNothing = (value: unknown): boolean => value === '' || isNil(value);

/** Whether a value is empty, or a text of nothing but blanks. */
export const isBlank = (value: unknown): boolean =>
	isNil(value) || (typeof value === 'string' && value.trim() === '');

/** Returns the value of a parameter before n8n resolves expressions. For a resource locator, returns only its value. */
export const givenFor = ({ parameters }: Pick<INode, 'parameters'>, name: string): unknown =>
	locatorValue(get(parameters, name));

/** Returns the issue of an expression whose result is empty: nothing, only blanks, or an empty list or object. */
export const emptyExpressionIssue = (result?: unknown): string =>
	`is empty: its expression gave ${emptyValueName(result)} for this item`;

/** How to correct an expression with an empty result. Often, an approval or form node has replaced `$json`. */
export const EMPTY_EXPRESSION_ADVICE =
	"Correct the expression, or leave such items out before, with a Filter node. To read from a node further back, name that node: {{ $('Name of the Node').item.json.nameOfTheField }}";

/** Names an empty value for a message: `nothing`, `only blanks`, or an empty list or object as JSON. */
export function emptyValueName(value: unknown): string {
	if (isNothing(value)) return 'nothing';
	return isObject(value) ? JSON.stringify(value) : 'only blanks';
}

/** Whether the user filled in a parameter. A lone `=` does not count. */
export function isFilled(node: INode, name: string): boolean {
	const given = givenFor(node, name) ?? '';
	return typeof given !== 'string' || !['', '='].includes(given.trim());
}

/** Matches a variable or function of n8n expressions. Other `{{ }}` templates, e.g. Jinja, rarely contain these. */
const VARIABLE =
	/\$(?:\(|(?:json|binary|input|node|items?|from(?:AI|ai)|now|today|workflow|execution(?:Id)?|vars|env|secrets|(?:item|run)Index|prevNode|parameter|data|nodeVersion|jmespath|if|ifEmpty|max|min|agentInfo|getPairedItem)\b)/;

/** Matches an n8n expression without braces, such as `$json.text`. */
const WITHOUT_BRACES =
	/^\$(?:(?:json|binary|input)[.[]|\((['"`])[^'"`]*\1\)\.(?:item|first|last|all)\b)\S*$/;

/** Whether a Fixed parameter contains an expression. n8n does not resolve expressions in Fixed parameters. */
export const isExpressionInFixed = (part: unknown): boolean =>
	typeof part === 'string' &&
	!part.startsWith('=') &&
	(WITHOUT_BRACES.test(part.trim()) ||
		part.match(BRACED)?.some((code) => VARIABLE.test(code)) === true);

/** Matches double braces with their content. The content excludes `{{`, so that matching takes linear time. */
const BRACED = /\{\{((?:(?!\{\{)[^])*?)\}\}/g;
