import { isPlainObject } from 'lodash';

export type Loose = Record<string, unknown>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether the value is text that the database would take as a UUID. */
export const isUuid = (value: unknown): value is string =>
	typeof value === 'string' && UUID.test(value);

export const isObject = (value: unknown): value is Loose => isPlainObject(value);

/** Whether a NUL stands in any text of a value; no column can hold it. */
export function hasNul(value: unknown): boolean {
	if (typeof value === 'string') return value.includes('\0');
	if (Array.isArray(value)) return value.some(hasNul);
	return isObject(value) && Object.values(value).some(hasNul);
}

/** The value as an object; anything else reads as an empty one, as property access does on the server. */
export const asObject = (value: unknown): Loose => (isObject(value) ? value : {});

export const reasonOf = (error: unknown): string =>
	error instanceof Error ? error.message : String(error);
