import fc from 'fast-check';
import { DateTime } from 'luxon';
import type { IDataObject } from 'n8n-workflow';

/** Names of columns, among them such as n8n rejects, and such as every object inherits. */
const KEYS = ['a', 'b', 'a b', 'a.b', 'größe', 'length', '0', '', 'toString', 'map', 'binding'];
const UNSAFE_KEYS = ['constructor', '__proto__', 'prototype', 'constructorName', 'first('];
const key = fc.constantFrom(...KEYS, ...UNSAFE_KEYS);

class Instance {
	a = 'of an instance';

	get b() {
		return 'of a class';
	}
}

const leaf = fc.constantFrom<unknown>(
	...['x', 'y z', '', ' ', '{{ $json.a }}', '=x', 'a\ud800'],
	...[0, -0, 1.5, 2 ** 60, Number.NaN, Infinity, true, false, null, undefined],
	...[new Date(0), new Date(Number.NaN), DateTime.fromISO('2026-01-31T08:00:00Z')],
	...[new Instance(), () => 1],
);

const { value } = fc.letrec<{ value: unknown; json: Record<string, unknown> }>((tie) => ({
	value: fc.oneof(
		{ maxDepth: 3 },
		{ arbitrary: leaf, weight: 3 },
		{ arbitrary: tie('json'), weight: 2 },
		fc.array(tie('value'), { maxLength: 3 }),
	),
	json: fc.dictionary(key, tie('value'), { maxKeys: 6 }),
}));

/** An object with own properties only, also where they are called `__proto__`. */
const object = fc.array(fc.tuple(key, value, fc.boolean()), { maxLength: 8 }).map((properties) => {
	const json = {};
	for (const [name, held, isGetter] of properties)
		Object.defineProperty(json, name, {
			...(isGetter ? { get: () => held } : { value: held, writable: true }),
			enumerable: true,
			configurable: true,
		});
	return json as IDataObject;
});

/** What input items may hold. */
export const sources: fc.Arbitrary<IDataObject> = fc.oneof(
	object,
	fc.record({ a: value, b: object }).map((json) => json as IDataObject),
);

/** A step of a path, in the ways in which it can be written. */
const step = fc.tuple(key, fc.nat(3), fc.boolean()).map(([name, how, isOptional]) => {
	const isWord = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name);
	if (isWord && how < 2) return `${isOptional ? '?' : ''}.${name}`;
	const quoted = how === 2 ? `'${name}'` : JSON.stringify(name);
	return `${isOptional ? '?.' : ''}[${/^\d$/.test(name) && how < 2 ? name : quoted}]`;
});

/** Paths such as `$json.a?.["a b"][0]`. */
export const paths: fc.Arbitrary<string> = fc
	.array(step, { minLength: 1, maxLength: 3 })
	.map((steps) => `$json${steps.join('')}`);
