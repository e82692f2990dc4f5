import { attempt, get, has, isError, isNil, isObject, memoize, set, toPath } from 'lodash';
import type { IExecuteFunctions, INode } from 'n8n-workflow';

import { type IdentityOptions, MissingPart, templateValueByParts } from '../payloads/identity';
import { parseReadExpression, readPath } from '../payloads/readPath';
import { parseTemplate } from '../payloads/template';

/** Where expressions are evaluated: an item of an execution. */
export interface ExpressionScope {
	readonly context: IExecuteFunctions;
	readonly index: number;
	readonly node: INode;
	/**
	 * The values of the expressions that were evaluated for this item, by the paths of their parameters. A value that
	 * was evaluated part by part has a key of its own.
	 */
	cachedValues?: Map<string, unknown>;
}

/** An expression that only reads a value of the item. */
interface SimpleRead {
	steps: NonNullable<ReturnType<typeof parseReadExpression>>;
	/** Whether n8n and `readPath` gave the same value for an item. Unset until an item has a value to compare. */
	agreesWithN8n?: boolean;
}

/**
 * Caches the simple reads of a node, by expression. Each execution starts anew, because n8n gives it a new node object.
 */
const simpleReadParserOf = memoize<(node: INode) => (expression: string) => SimpleRead | undefined>(
	() =>
		memoize((expression: string) => {
			const steps = parseReadExpression(expression);
			return steps && { steps };
		}),
);
simpleReadParserOf.cache = new WeakMap();

/** Returns the function that parses an expression of a node, with its leading `=`. The function caches its results. */
export const templateParserOf = memoize<
	(node: INode) => (expression: string) => ReturnType<typeof parseTemplate>
>(() => memoize((expression: string) => parseTemplate(expression.slice(1))));
templateParserOf.cache = new WeakMap();

/**
 * Evaluates an expression. If it only reads a value of the item, the node can read the value itself. This saves time: n8n
 * takes a hundred times as long. At first, n8n evaluates such an expression, too, and the value of n8n is returned. Once
 * both values were equal for an item, and neither null nor undefined, the node reads alone. Once the values have differed,
 * only n8n evaluates the expression.
 *
 * @param expression without the leading `=`
 * @param askN8n asks n8n for the value
 */
function evaluate(
	{ context, index, node }: ExpressionScope,
	expression: string,
	askN8n: () => unknown,
): unknown {
	const read = simpleReadParserOf(node)(expression);
	if (!read || read.agreesWithN8n === false) return askN8n();
	const found = readPath(context.getInputData()[index]?.json, read.steps);
	if (!found) return askN8n();
	if (read.agreesWithN8n) return found.value;
	const value = askN8n();
	if (!Object.is(value, found.value)) read.agreesWithN8n = false;
	else if (!isNil(value)) read.agreesWithN8n = true;
	return value;
}

/**
 * Returns the cached value of an expression of this item. If there is none, calls `read` and caches its value. If
 * `read` throws, nothing is cached.
 */
function evaluateOncePerItem(place: ExpressionScope, path: string, read: () => unknown): unknown {
	const known = (place.cachedValues ??= new Map<string, unknown>());
	if (!known.has(path)) known.set(path, read());
	return known.get(path);
}

/** The path of the field whose expression caused an error. */
export const fieldByError = new WeakMap<object, string>();

/** Returns the result of `read`. In an error of n8n, sets the field that n8n shows to the user. */
function runNamingField(field: string, read: () => unknown): unknown {
	// Wraps the value, because an expression can also return an error object.
	const outcome = attempt(() => ({ value: read() }));
	if (!isError(outcome)) return outcome.value;
	fieldByError.set(outcome, field);
	if ('context' in outcome && isObject(outcome.context)) set(outcome, 'context.parameter', field);
	throw outcome;
}

/** Matches an expression that may read the parameter beside its own, e.g. `$parameter["&description"]`. */
const SIBLING_READ_PATTERN = /\$parameter[^]*&/;

export const readsSiblingParameter = (expression: string): boolean =>
	SIBLING_READ_PATTERN.test(expression);

/**
 * Lets n8n evaluate an expression. If the expression reads a parameter beside its own, reads the whole collection,
 * because n8n finds that parameter only then.
 */
function evaluateInN8n(
	{ context, index, node }: ExpressionScope,
	expression: string,
	path: string,
): unknown {
	// n8n evaluates the expression at the path. If the node has no such parameter, for example because the expression is the
	// default of a field, n8n evaluates the fallback, which is the same expression.
	const read = (from: string): unknown =>
		context.getNodeParameter(from, index, expression, { skipValidation: true });
	const steps = readsSiblingParameter(expression) ? toPath(path) : [];
	const collectionPath = steps.slice(0, -1).map((step) => `[${JSON.stringify(step)}]`);
	if (collectionPath.length === 0 || !has(node.parameters, steps)) return read(path);
	return get(read(collectionPath.join('')), steps.slice(-1));
}

/**
 * Evaluates an expression of a parameter as n8n does it.
 *
 * @param path the path of the parameter
 * @param field the name of the parameter for error messages
 */
export const expressionValue = (
	place: ExpressionScope,
	expression: string,
	path: string,
	field: string,
): unknown =>
	evaluateOncePerItem(place, path, () =>
		runNamingField(field, () =>
			evaluate(place, expression.slice(1), () => evaluateInN8n(place, expression, path)),
		),
	);

/** Evaluates each part of an expression on its own. Returns the value of the expression, or a `MissingPart`. */
export const expressionValueByParts = (
	place: ExpressionScope,
	expression: string,
	path: string,
	field: string,
	options: IdentityOptions,
): unknown =>
	evaluateOncePerItem(place, `${path}, part by part`, () => {
		const { context, index, node } = place;
		const evaluatePart = (part: string): unknown =>
			runNamingField(field, () =>
				evaluate(place, part, () => context.evaluateExpression(part, index) as unknown),
			);
		return templateValueByParts(templateParserOf(node)(expression), evaluatePart, options);
	});

/**
 * Like `expressionValueByParts`. Also caches a complete value for `expressionValue`, which would give the same value.
 */
export function evaluateByPartsAndCacheWhole(
	...asked: Parameters<typeof expressionValueByParts>
): unknown {
	const [place, , path] = asked;
	const value = expressionValueByParts(...asked);
	return value instanceof MissingPart ? value : evaluateOncePerItem(place, path, () => value);
}
