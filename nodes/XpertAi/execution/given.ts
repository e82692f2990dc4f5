import { get, isNil, isPlainObject } from 'lodash';
import type { INode } from 'n8n-workflow';

import { isJsonObject } from '../payloads/json';
import { hasLoneSurrogate } from '../payloads/loneSurrogates';
import type { JsonPath } from './issueText';

/** Returns the path of the first matching part of a value. Calls `toJSON` before the match, e.g. on dates. */
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

export const isBrokenText = (text: unknown) => typeof text === 'string' && hasLoneSurrogate(text);

export const isUnsendable = (part: unknown) =>
	(typeof part === 'number' && !Number.isFinite(part)) ||
	isBrokenText(part) ||
	(isPlainObject(part) && Object.keys(part as object).some(isBrokenText));

/**
 * Returns the value of a resource locator, without its display name. The display name can look like an expression.
 * Other parameters stay unchanged.
 */
export const locatorValue = (parameter: unknown): unknown =>
	isJsonObject(parameter) && parameter.__rl === true ? parameter.value : parameter;

/** Whether a parameter is empty. The empty values are `''`, null and undefined. */
export function isNothing(parameter: unknown): boolean {
	const value = locatorValue(parameter);
	return value === '' || isNil(value);
}

/** Whether a parameter is empty, or a text of nothing but blanks. */
export function isBlank(parameter: unknown): boolean {
	const value = locatorValue(parameter);
	return isNil(value) || (typeof value === 'string' && value.trim() === '');
}

/** Returns the value of a parameter before n8n resolves expressions. */
export const givenFor = ({ parameters }: Pick<INode, 'parameters'>, name: string): unknown =>
	locatorValue(get(parameters, name));

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
export const isFixedExpression = (part: unknown): boolean =>
	typeof part === 'string' &&
	!part.startsWith('=') &&
	(WITHOUT_BRACES.test(part.trim()) ||
		part.match(BRACED)?.some((code) => VARIABLE.test(code)) === true);

/** Matches double braces with their content. The content excludes `{{`, so that matching takes linear time. */
const BRACED = /\{\{((?:(?!\{\{)[^])*?)\}\}/g;
