import { attempt, isError } from 'lodash';
import type { IDataObject } from 'n8n-workflow';

/**
 * Parses JSON. Integers that JavaScript would round become text, because they are usually IDs.
 *
 * @throws SyntaxError if the text is not JSON
 */
export const parseExactJson = (text: string): unknown =>
	JSON.parse(ROUNDABLE.test(text) ? quoteRoundedIntegers(text) : text) as unknown;

/** Matches 16 digits in a row. `JSON.parse` may round a number with so many digits. */
const ROUNDABLE = /\d{16}/;

/** Puts quotes around each integer that `JSON.parse` would round. */
function quoteRoundedIntegers(json: string): string {
	let inString = false;
	return json.replace(/\\.|"|-?\d[\d.eE+-]*/g, (token) => {
		if (token === '"') inString = !inString;
		const isRounded =
			!inString && /^-?[1-9]\d{15,}$/.test(token) && String(Number(token)) !== token;
		return isRounded ? `"${token}"` : token;
	});
}

/**
 * Sorts the keys of all objects inside a JSON value, so that equal values have the same JSON text. A value that is
 * nested too deeply stays unchanged.
 */
export function withSortedKeys<Value>(value: Value): Value {
	const sorted: unknown = attempt(sortKeys, value);
	return isError(sorted) ? value : (sorted as Value);
}

function sortKeys(value: unknown): unknown {
	if (typeof value !== 'object' || value === null) return value;
	if (Array.isArray(value)) return value.map(sortKeys);
	const given = value as Record<string, unknown>;
	// An object with `toJSON`, e.g. a date, writes its own JSON.
	if (typeof given.toJSON === 'function') return value;
	// An object without a prototype can have a key such as `__proto__`.
	const sorted = Object.create(null) as Record<string, unknown>;
	for (const key of Object.keys(value).sort()) sorted[key] = sortKeys(given[key]);
	return sorted;
}

/** Whether a value is a JSON object (not an array, not null). */
export const isJsonObject = (value: unknown): value is IDataObject =>
	typeof value === 'object' && value !== null && !Array.isArray(value);
