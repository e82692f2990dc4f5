import { attempt, get, has, isError, isNil, isObject, memoize, set, toPath } from 'lodash';
import type { IExecuteFunctions, INode } from 'n8n-workflow';

import { type IdentityOptions, identityValue, MissingPart } from '../payloads/identity';
import { parseReadExpression, readPath } from '../payloads/readPath';
import { parseTemplate } from '../payloads/template';

/** Where expressions are evaluated: an item of an execution. */
export interface Place {
	readonly context: IExecuteFunctions;
	readonly index: number;
	readonly node: INode;
	/** The values of the expressions that were evaluated for this item, by the paths of their parameters. */
	known?: Map<string, unknown>;
}

/** An expression that only reads a value of the item. */
interface Read {
	steps: NonNullable<ReturnType<typeof parseReadExpression>>;
	/** Whether n8n gave the same value for an item. Unset as long as no item has told. */
	isTrusted?: boolean;
}

/** Returns what is known of the expressions of a node. n8n gives each execution a node object of its own. */
const simpleReadsOf = memoize<(node: INode) => (expression: string) => Read | undefined>(() =>
	memoize((expression: string) => {
		const steps = parseReadExpression(expression);
		return steps && { steps };
	}),
);
simpleReadsOf.cache = new WeakMap();

/** Takes the expressions of a node apart, once each. */
export const templatesOf = memoize<
	(node: INode) => (expression: string) => ReturnType<typeof parseTemplate>
>(() => memoize((expression: string) => parseTemplate(expression.slice(1))));
templatesOf.cache = new WeakMap();

/**
 * Evaluates an expression. An expression that only reads a value of the item is read without n8n, which takes a hundred
 * times as long. The first value of each such expression comes from n8n: if n8n gives another value or rejects the
 * expression, the node never reads it by itself.
 *
 * @param expression without the leading `=`
 * @param byN8n asks n8n for the value
 */
function evaluate(
	{ context, index, node }: Place,
	expression: string,
	byN8n: () => unknown,
): unknown {
	const read = simpleReadsOf(node)(expression);
	if (!read || read.isTrusted === false) return byN8n();
	const found = readPath(context.getInputData()[index]?.json, read.steps);
	if (!found) return byN8n();
	if (read.isTrusted) return found.value;
	const value = byN8n();
	if (!Object.is(value, found.value)) read.isTrusted = false;
	else if (!isNil(value)) read.isTrusted = true;
	return value;
}

/** Evaluates an expression of a parameter, unless this was done before for this item. An error is not kept. */
function evaluateOnce(place: Place, path: string, read: () => unknown): unknown {
	const known = (place.known ??= new Map<string, unknown>());
	if (!known.has(path)) known.set(path, read());
	return known.get(path);
}

/** Returns the result of n8n. In an error, names the field that n8n shows to the user. */
function withFieldInError(field: string, read: () => unknown): unknown {
	// A value may be an error as well.
	const outcome = attempt(() => ({ value: read() }));
	if (!isError(outcome)) return outcome.value;
	if ('context' in outcome && isObject(outcome.context)) set(outcome, 'context.parameter', field);
	throw outcome;
}

/** Matches an expression that may read the parameter beside its own, e.g. `$parameter["&description"]`. */
const READS_SIBLING = /\$parameter[^]*&/;

export const readsSibling = (expression: string): boolean => READS_SIBLING.test(expression);

/**
 * Lets n8n evaluate an expression. n8n finds the parameters beside it only if it reads their whole collection, which
 * evaluates them as well.
 */
function byN8n({ context, index, node }: Place, expression: string, path: string): unknown {
	const read = (from: string): unknown =>
		context.getNodeParameter(from, index, expression, { skipValidation: true });
	const steps = readsSibling(expression) ? toPath(path) : [];
	const above = steps.slice(0, -1).map((step) => `[${JSON.stringify(step)}]`);
	if (above.length === 0 || !has(node.parameters, steps)) return read(path);
	return get(read(above.join('')), steps.slice(-1));
}

/**
 * Evaluates an expression of a parameter as n8n does it.
 *
 * @param path the path of the parameter
 * @param field the name of the parameter for error messages
 */
export const expressionValue = (
	place: Place,
	expression: string,
	path: string,
	field: string,
): unknown =>
	evaluateOnce(place, path, () =>
		withFieldInError(field, () =>
			evaluate(place, expression.slice(1), () => byN8n(place, expression, path)),
		),
	);

/** Evaluates an expression of a parameter part by part. Returns its value, or the part that is missing. */
export const expressionValueByParts = (
	place: Place,
	expression: string,
	path: string,
	field: string,
	options: IdentityOptions,
): unknown =>
	evaluateOnce(place, `${path}, part by part`, () => {
		const { context, index, node } = place;
		const evaluatePart = (part: string): unknown =>
			withFieldInError(field, () =>
				evaluate(place, part, () => context.evaluateExpression(part, index) as unknown),
			);
		return identityValue(templatesOf(node)(expression), evaluatePart, options);
	});

/** Does the same as `identityOf`. A value that has all its parts is kept for `valueOf`, which would give the same. */
export function keepValueByParts(...asked: Parameters<typeof expressionValueByParts>): unknown {
	const [place, , path] = asked;
	const value = expressionValueByParts(...asked);
	return value instanceof MissingPart ? value : evaluateOnce(place, path, () => value);
}
