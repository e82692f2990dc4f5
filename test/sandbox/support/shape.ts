import { isPlainObject } from 'lodash';

/** Fields whose values must be the recorded ones, not only of the same type. */
const EXACT = new Set([
	'message',
	'error',
	'statusCode',
	'role',
	'content',
	'code',
	'severity',
	'routine',
	'table',
	'column',
	'total',
	'expires_after',
	'parseStatus',
	'capabilities',
	'originalName',
]);

/** Fields that hold the server's own statement: that they are there is compared, not what is in them. */
const OPAQUE = new Set(['parameters']);

/** What stands in a recording for what was not kept. */
const LEFT_OUT = '(left out)';

const typeOf = (value: unknown) =>
	value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

/**
 * What of an answer is not as recorded: keys that are missing or too many, other JSON types, other values of
 * exact fields. A recorded null goes with anything, since another row may have a value there, and so does what the
 * recording leaves out. With `partial`
 * the recording was cut, and only what is left of it is looked for.
 */
export function differences(
	recorded: unknown,
	actual: unknown,
	partial = false,
	path = '',
	key = '',
): string[] {
	if (recorded === null || recorded === LEFT_OUT) return [];
	const [expected, found] = [typeOf(recorded), typeOf(actual)];
	if (expected !== found) return [`${path}: ${found} instead of ${expected}`];
	if (OPAQUE.has(key)) return [];
	if (Array.isArray(recorded)) {
		return ofArrays(recorded, actual as unknown[], partial, path, key);
	}
	if (isPlainObject(recorded)) return ofObjects(recorded as Loose, actual as Loose, partial, path);
	if (EXACT.has(key) && recorded !== actual) {
		return [`${path}: ${String(actual)} instead of ${String(recorded)}`];
	}
	return [];
}

type Loose = Record<string, unknown>;

function ofArrays(
	recorded: unknown[],
	actual: unknown[],
	partial: boolean,
	path: string,
	key: string,
) {
	if (!partial && recorded.length !== actual.length) {
		return [`${path}: ${actual.length} elements instead of ${recorded.length}`];
	}
	return recorded.flatMap((element, index) =>
		differences(element, actual[index], partial, `${path}[${index}]`, key),
	);
}

function ofObjects(recorded: Loose, actual: Loose, partial: boolean, path: string) {
	const extra = Object.keys(actual).filter((key) => !(key in recorded));
	return [
		...(partial ? [] : extra.map((key) => `${path}.${key}: not recorded`)),
		...Object.keys(recorded).flatMap((key) =>
			key in actual
				? differences(recorded[key], actual[key], partial, `${path}.${key}`, key)
				: [`${path}.${key}: missing`],
		),
	];
}

/** The beginning of a JSON text as a value: cut back to the last complete element and closed again. */
export function repaired(text: string): unknown {
	const open: string[] = [];
	let [inString, lastComma, closers] = [false, 0, ''];
	for (let i = 0; i < text.length; i += 1) {
		const char = text[i];
		if (inString) {
			if (char === '\\') i += 1;
			else if (char === '"') inString = false;
		} else if (char === '"') inString = true;
		else if (char === '{') open.push('}');
		else if (char === '[') open.push(']');
		else if (char === '}' || char === ']') open.pop();
		else if (char === ',') [lastComma, closers] = [i, [...open].reverse().join('')];
	}
	return JSON.parse(text.slice(0, lastComma) + closers) as unknown;
}
