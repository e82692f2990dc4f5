import { isNil, isPlainObject } from 'lodash';

/** A step of a path: the name of a property, or an index. */
interface Step {
	key: string;
	/** Whether the step begins with `?.`, so that a missing parent gives undefined. */
	isOptional: boolean;
}

/** The code of an expression that is one pair of braces around a path. */
const BRACES = /^\{\{\s*\$json(?=[.?[])([^{}]+)\}\}$/;

/** `.name`, `["a name"]`, `['a name']` or `[0]`, also behind `?.`. A text with a backslash is not understood. */
const STEP =
	/(?:(\?)?\.([\p{ID_Start}$_][\p{ID_Continue}$]*)|(\?\.)?\[(?:"([^"\\\p{Cc}\p{Zl}\p{Zp}]*)"|'([^'\\\p{Cc}\p{Zl}\p{Zp}]*)'|(0|[1-9]\d{0,8}))\])/uy;

/**
 * Parses an expression that only reads a value of the item, e.g. `{{ $json.author["first name"] }}`.
 *
 * @param expression without the leading `=`
 * @returns the steps below `$json`; undefined for any other expression
 */
export function parseReadExpression(expression: string): Step[] | undefined {
	const path = BRACES.exec(expression)?.[1]?.trimEnd() ?? '';
	const steps: Step[] = [];
	for (let at = 0; at < path.length; at = STEP.lastIndex) {
		STEP.lastIndex = at;
		const found = STEP.exec(path);
		if (!found) return undefined;
		const [, optionalName, name, optionalKey, ...keys] = found;
		const key = name ?? keys.find((one) => one !== undefined) ?? '';
		steps.push({ key, isOptional: (optionalName ?? optionalKey) !== undefined });
	}
	return steps.length > 0 ? steps : undefined;
}

/**
 * Reads a value that every engine of n8n hands on unchanged: a text, a finite number, true, false, null or undefined.
 * Reads only own properties of plain objects and lists.
 *
 * @returns undefined if n8n must be asked
 */
export function readPath(json: unknown, steps: Step[]): { value: unknown } | undefined {
	let value = json;
	for (const { key, isOptional } of steps) {
		if (isOptional && isNil(value)) return { value: undefined };
		if (!Array.isArray(value) && !isPlainObject(value)) return undefined;
		const parent = value as Record<string, unknown>;
		const property = Object.getOwnPropertyDescriptor(parent, key);
		if (property ? property.get !== undefined : key in parent) return undefined;
		value = parent[key];
	}
	return isPassedOnUnchanged(value) ? { value } : undefined;
}

const isPassedOnUnchanged = (value: unknown): boolean =>
	isNil(value) || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value);
