import { isNil, isPlainObject } from 'lodash';

/** A step of a path: the name of a property, or an index. */
interface Step {
	key: string;
	/** Whether the step begins with `?.`, so that a missing parent gives undefined. */
	isOptional: boolean;
}

/** Matches an expression in one pair of braces that starts with `$json`. `STEP_PATTERN` checks the text behind `$json`. */
const JSON_EXPRESSION_PATTERN = /^\{\{\s*\$json(?=[.?[])([^{}]+)\}\}$/;

/** Matches `.name`, `["a name"]`, `['a name']` or `[0]`, also with `?.`. Does not match texts with a backslash. */
const STEP_PATTERN =
	/(?:(\?)?\.([\p{ID_Start}$_][\p{ID_Continue}$]*)|(\?\.)?\[(?:"([^"\\\p{Cc}\p{Zl}\p{Zp}]*)"|'([^'\\\p{Cc}\p{Zl}\p{Zp}]*)'|(0|[1-9]\d{0,8}))\])/uy;

/**
 * Parses an expression that only reads a value of the item, e.g. `{{ $json.author["first name"] }}`.
 *
 * @param expression without the leading `=`
 * @returns the steps below `$json`; undefined for any other expression
 */
export function parseReadExpression(expression: string): Step[] | undefined {
	const path = JSON_EXPRESSION_PATTERN.exec(expression)?.[1]?.trimEnd() ?? '';
	const steps: Step[] = [];
	for (let at = 0; at < path.length; at = STEP_PATTERN.lastIndex) {
		STEP_PATTERN.lastIndex = at;
		const found = STEP_PATTERN.exec(path);
		if (!found) return undefined;
		const [, markOfName, name, markOfBrackets, ...keysInBrackets] = found;
		const key = name ?? keysInBrackets.find((one) => one !== undefined) ?? '';
		steps.push({ key, isOptional: (markOfName ?? markOfBrackets) !== undefined });
	}
	return steps.length > 0 ? steps : undefined;
}

/**
 * Reads a value without n8n's expression engine, which is slower. Reads only own properties of plain objects and lists.
 *
 * @returns an object with the value, if it is a text, a finite number, true, false, null or undefined. n8n's engines
 * return such a value unchanged. Returns no object if n8n must evaluate the expression.
 */
export function readPath(json: unknown, steps: Step[]): { value: unknown } | undefined {
	let value = json;
	for (const { key, isOptional } of steps) {
		if (isOptional && isNil(value)) return { value: undefined };
		if (!Array.isArray(value) && !isPlainObject(value)) return undefined;
		const parent = value as Record<string, unknown>;
		const property = Object.getOwnPropertyDescriptor(parent, key);
		const isInherited = !property && key in parent;
		if (isInherited || property?.get) return undefined;
		value = parent[key];
	}
	return isPassedOnUnchanged(value) ? { value } : undefined;
}

const isPassedOnUnchanged = (value: unknown): boolean =>
	isNil(value) || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value);
