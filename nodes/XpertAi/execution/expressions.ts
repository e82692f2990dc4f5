import { attempt, isError, isObject, memoize, set } from 'lodash';
import type { IExecuteFunctions, INode } from 'n8n-workflow';

import { type IdentityRule, identityValue } from '../payloads/identity';
import { parseTemplate } from '../payloads/template';

/** Where expressions are evaluated: an item of an execution. */
export interface Place {
	readonly context: IExecuteFunctions;
	readonly index: number;
	readonly node: INode;
	/** The values of the expressions that were evaluated for this item, by the paths of their parameters. */
	known?: Map<string, unknown>;
}

/** Takes the expressions of a node apart, once each. */
export const templatesOf = memoize<
	(node: INode) => (expression: string) => ReturnType<typeof parseTemplate>
>(() => memoize((expression: string) => parseTemplate(expression.slice(1))));
templatesOf.cache = new WeakMap();

/** Evaluates an expression of a parameter, unless this was done before for this item. An error is not kept. */
function once(place: Place, path: string, read: () => unknown): unknown {
	const known = (place.known ??= new Map<string, unknown>());
	if (!known.has(path)) known.set(path, read());
	return known.get(path);
}

/** Returns the result of n8n. In an error, names the field that n8n shows to the user. */
function named(field: string, read: () => unknown): unknown {
	// A value may be an error as well.
	const outcome = attempt(() => ({ value: read() }));
	if (!isError(outcome)) return outcome.value;
	if ('context' in outcome && isObject(outcome.context)) set(outcome, 'context.parameter', field);
	throw outcome;
}

/**
 * Evaluates an expression of a parameter as n8n does it.
 *
 * @param path the path of the parameter
 * @param field the name of the parameter for error messages
 */
export const valueOf = (place: Place, expression: string, path: string, field: string): unknown =>
	once(place, path, () => {
		const { context, index } = place;
		const options = { skipValidation: true } as const;
		return named(
			field,
			() => context.getNodeParameter(path, index, expression, options) as unknown,
		);
	});

/** Evaluates an expression of a parameter part by part. Returns its value, or the part that is missing. */
export const identityOf = (
	place: Place,
	expression: string,
	path: string,
	field: string,
	rule: IdentityRule,
): unknown =>
	once(place, `${path}, part by part`, () => {
		const { context, index, node } = place;
		const evaluatePart = (part: string): unknown =>
			named(field, () => context.evaluateExpression(part, index) as unknown);
		return identityValue(templatesOf(node)(expression), evaluatePart, rule);
	});
