import { get, isNil, isObject } from 'lodash';
import type { INode } from 'n8n-workflow';

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
export const unresolvedValue = ({ parameters }: Pick<INode, 'parameters'>, name: string): unknown =>
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
export function isParameterFilled(node: INode, name: string): boolean {
	const given = unresolvedValue(node, name) ?? '';
	return typeof given !== 'string' || !['', '='].includes(given.trim());
}
