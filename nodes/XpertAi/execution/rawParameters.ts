import get from 'lodash/get';
import isNil from 'lodash/isNil';
import memoize from 'lodash/memoize';
import { isExpression, type INode, type INodeProperties } from 'n8n-workflow';

import { isJsonObject } from '../transport/answer';
import { fieldName, findPath } from './inputIssues';

/**
 * Finds an expression inside a Fixed text of a node, which n8n does not resolve. Memoized, so that each parameter is
 * searched once.
 */
const fixedPaths = memoize((node: INode) =>
	memoize((name: string) => findPath(givenFor(node, name), isFixedExpression)),
);
fixedPaths.cache = new WeakMap();

/** The value of a resource locator. Its cached display name may be any text and must not be searched. */
function locatorValue(parameter: unknown): unknown {
	return isJsonObject(parameter) && parameter.__rl === true ? parameter.value : parameter;
}

/** Whether a parameter is empty. */
export function isNothing(parameter: unknown): boolean {
	const value = locatorValue(parameter);
	return value === '' || isNil(value);
}

/** The flaw of a Fixed parameter that contains an expression. */
export function fixedExpression(node: INode, name: string, fields: INodeProperties[]) {
	const fixed = fixedPaths(node)(name);
	if (!fixed) return undefined;
	const path = [...name.split('.'), ...fixed].filter((part) => !GROUPS.includes(part));
	return {
		field: fieldName(path, { fields }),
		rule: 'is Fixed and holds an expression: switch it to Expression',
		fix: 'Fixed and Expression stand above the field.',
	};
}

/** Keys under which n8n nests the values of a mapper or a group; the user sees no names for them. */
const GROUPS: unknown[] = ['value', 'values'];

/** The value of a parameter before n8n resolves it. Only this form tells a Fixed text from an expression. */
export function givenFor({ parameters }: INode, name: string): unknown {
	return locatorValue(get(parameters, name));
}

/** Whether the user filled in a parameter; an expression counts, even if it is empty. */
export function isFilled(node: INode, name: string): boolean {
	const given = givenFor(node, name) ?? '';
	return typeof given !== 'string' || !['', '='].includes(given.trim());
}

/**
 * The variables and functions of n8n; other template languages, such as Jinja, Handlebars or Helm, have none of them.
 */
const VARIABLE =
	/\$(?:\(|(?:json|binary|input|node|items?|from(?:AI|ai)|now|today|workflow|execution(?:Id)?|vars|env|secrets|(?:item|run)Index|prevNode|parameter|data|nodeVersion|jmespath|if|ifEmpty|max|min|agentInfo|getPairedItem)\b)/;

/** An expression that only lacks its braces, such as `$json.text`. */
const WITHOUT_BRACES =
	/^\$(?:(?:json|binary|input)[.[]|\((['"`])[^'"`]*\1\)\.(?:item|first|last|all)\b)\S*$/;

function isFixedExpression(part: unknown): boolean {
	if (typeof part !== 'string' || part.startsWith('=') || !part.includes('$')) return false;
	return (
		WITHOUT_BRACES.test(part.trim()) ||
		part.match(BRACED)?.some((code) => VARIABLE.test(code)) === true
	);
}

/** What stands in double braces; up to the next ones, so that a long text is searched once. */
const BRACED = /\{\{((?:(?!\{\{)[^])*?)\}\}/g;

/** The text of an expression if every part in braces is empty. */
export function constantPart(expression: unknown): string {
	if (!isExpression(expression) || !expression.includes('{{')) return '';
	return expression.slice(1).replace(BRACED, '');
}
