import { attempt, get, isPlainObject } from 'lodash';

import { hasLoneSurrogate } from '../payloads/loneSurrogates';

/**
 * Returns the path of the first part of a value that fits: `[]` for the value itself, undefined if no part fits. First
 * replaces each part that has `toJSON`, e.g. a date, by the result of `toJSON`.
 */
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

export const isTextWithLoneSurrogate = (text: unknown) =>
	typeof text === 'string' && hasLoneSurrogate(text);

export const isUnsendable = (part: unknown) =>
	(typeof part === 'number' && !Number.isFinite(part)) ||
	isTextWithLoneSurrogate(part) ||
	(isPlainObject(part) && Object.keys(part as object).some(isTextWithLoneSurrogate));

/** The path to a part of a value, outermost key first. */
export type JsonPath = Array<string | number>;

/** Whether a JSON value sets the part at a path. `{ a: null }` also sets `a.b`, because null replaces all of `a`. */
export function setsPath(value: unknown, [key, ...rest]: JsonPath): boolean {
	if (key === undefined || !isPlainObject(value)) return value !== undefined;
	return Object.hasOwn(value as object, key) && setsPath(get(value, [key]), rest);
}

export const valueAt = (value: unknown, path: JsonPath): unknown =>
	path.length > 0 ? get(value, path) : value;

/** Returns the JSON text of a value, or undefined if the value has none. */
export function stringified(value: unknown): string | undefined {
	const text: unknown = attempt(() => JSON.stringify(value));
	return typeof text === 'string' ? text : undefined;
}
