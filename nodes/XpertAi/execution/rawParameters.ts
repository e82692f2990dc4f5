import get from 'lodash/get';
import isNil from 'lodash/isNil';
import memoize from 'lodash/memoize';
import { isExpression } from 'n8n-workflow';
import type { INode } from 'n8n-workflow';

import { isJsonObject } from '../transport/answer';
import { subjectOf, findPlace } from './badInput';
import type { Flaw, Place } from './badInput';
import type { Field } from './fields';

/** A parameter as the user left it: only this tells a Fixed text from what an expression gave. */
interface RawParameter {
	/** What is given, of a resource locator its value. */
	given: unknown;
	/** Where it holds an expression in a Fixed text, which n8n does not resolve. */
	fixed?: Place;
}

/** The parameters of a node as the user left them, each looked through once. */
const rawParameters = memoize(({ parameters }: INode) =>
	memoize((name: string): RawParameter => {
		const given = locatorValue(get(parameters, name));
		return { given, fixed: findPlace(given, isFixedExpression) };
	}),
);
rawParameters.cache = new WeakMap();

/** Of a resource locator its value, beside which it has the name of what was chosen, which may be any text. */
function locatorValue(parameter: unknown): unknown {
	return isJsonObject(parameter) && parameter.__rl === true ? parameter.value : parameter;
}

/** Whether nothing was given for a parameter. */
export function isNothing(parameter: unknown): boolean {
	const value = locatorValue(parameter);
	return value === '' || isNil(value);
}

/** What is wrong with a Fixed parameter that holds an expression. */
export function fixedExpression(node: INode, name: string, fields: Field[]): Flaw | undefined {
	const { fixed } = rawParameters(node)(name);
	if (!fixed) return undefined;
	const path = [...name.split('.'), ...fixed].filter((part) => !GROUPS.includes(part));
	return {
		subject: subjectOf(path, { fields }),
		demand: 'is Fixed and holds an expression: switch it to Expression',
		cure: 'Fixed and Expression stand above the field.',
	};
}

/** The keys under which n8n keeps the values of a mapper or a group, which have no names of their own. */
const GROUPS: unknown[] = ['value', 'values'];

/** What the user gave for a parameter, before n8n resolves it. */
export function givenFor(node: INode, name: string): unknown {
	return rawParameters(node)(name).given;
}

/** Whether the user filled a parameter in; an expression that gives nothing counts. */
export function isFilled(node: INode, name: string): boolean {
	const given = givenFor(node, name) ?? '';
	return typeof given !== 'string' || !['', '='].includes(given.trim());
}

/** One of n8n's variables and functions; other templates, such as Jinja, Handlebars or Helm, have none of these. */
const VARIABLE =
	/\$(?:\(|(?:json|binary|input|node|items?|from(?:AI|ai)|now|today|workflow|execution(?:Id)?|vars|env|secrets|(?:item|run)Index|prevNode|parameter|data|nodeVersion|jmespath|if|ifEmpty|max|min|agentInfo|getPairedItem)\b)/;

/** A whole text that lacks only the braces, such as `$json.text`. */
const WITHOUT_BRACES =
	/^\$(?:(?:json|binary|input)[.[]|\((['"`])[^'"`]*\1\)\.(?:item|first|last|all)\b)\S*$/;

function isFixedExpression(part: unknown): boolean {
	if (typeof part !== 'string' || part.startsWith('=') || !part.includes('$')) return false;
	return WITHOUT_BRACES.test(part.trim()) || braced(part).some(({ code }) => VARIABLE.test(code));
}

/** The pieces of a text that begin with double braces, and what stands in these and behind them. */
function braced(text: string): Array<{ code: string; rest: string }> {
	const pieces = text.split('{{').slice(1);
	return pieces.flatMap((piece) => {
		const end = piece.indexOf('}}');
		return end < 0 ? [] : [{ code: piece.slice(0, end), rest: piece.slice(end + 2) }];
	});
}

/** What an expression gives where none of its parts in braces gives anything. */
export function constantPart(expression: unknown): string {
	if (!isExpression(expression)) return '';
	const pieces = braced(expression);
	const [start = ''] = pieces.length > 0 ? expression.slice(1).split('{{') : [];
	return [start, ...pieces.map(({ rest }) => rest)].join('');
}
