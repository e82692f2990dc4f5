import fc from 'fast-check';
import { DateTime } from 'luxon';

/** Deeper than any function that calls itself can follow. */
const LEVELS = 10_000;
const LONG = 20_000;

/** A value of a kind that no user means to enter, and what to call it in a report. */
export interface HostileValue {
	kind: string;
	value: unknown;
}

/** Texts that mean something to paths, headers, parsers or JavaScript itself. */
const TEXTS = [
	'.',
	'..',
	'../',
	'../../v1/kb/1',
	'..%2f..%2fv1',
	'%2f',
	'%2e%2e',
	'%',
	'a/b',
	'a\\..\\b',
	'?a=1&ids=2',
	'#there',
	'//evil.example/',
	'@evil.example',
	'https://evil.example/../x',
	'http://[',
	'a\r\nX-Injected: 1\r\n\r\nGET / HTTP/1.1',
	'\r\n',
	'a\0b',
	'\ud800',
	'b\udc00c',
	'\u202eRTL \u05d0\u05d1',
	'👩‍👩‍👧 é ﷽',
	'',
	'   ',
	',',
	'/',
	'__proto__',
	'constructor',
	'constructor.name',
	'toString',
	'true',
	'NaN',
	'Infinity',
	'1e999',
	'-1',
	'0x10',
	'null',
	'"text"',
	'[1]',
	'{',
	'{"a":',
	'{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
	'{"a":"\\ud800"}',
	'{"a":1e999}',
	'x'.repeat(LONG),
	'👩'.repeat(LONG / 2),
];

const NUMBERS = [0, -0, -1, 1.5, 5e-324, 2 ** 31, 2 ** 53, 1e21, 1e308, NaN, Infinity, -Infinity];

/** Values of other types than a parameter has, among them what an expression alone can give. */
const OTHERS: Array<[string, () => unknown]> = [
	['null', () => null],
	['undefined', () => undefined],
	['true', () => true],
	['false', () => false],
	['a bigint', () => BigInt(10)],
	['[]', () => []],
	['[null]', () => [null]],
	['[[]]', () => [[]]],
	['[{}]', () => [{}]],
	['[undefined]', () => [undefined]],
	['a list of texts', () => ['a', '../b']],
	['a list of a lone surrogate', () => ['\ud800']],
	['{}', () => ({})],
	['an object', () => ({ a: { b: [1] } })],
	['an object for a locator', () => ({ __rl: true, mode: 'id', value: { a: 1 } })],
	['an object that has no text', () => ({ toString: 1, valueOf: 1 })],
	['a list of what has no text', () => [{ toString: 1, valueOf: 1 }]],
	['an object without a prototype', () => Object.create(null) as unknown],
	['__proto__ as a key', () => JSON.parse('{"__proto__":{"polluted":1}}') as unknown],
	['constructor as a key', () => ({ constructor: { prototype: { polluted: 1 } } })],
	['a bigint inside', () => ({ a: [BigInt(10)] })],
	['NaN inside', () => ({ a: NaN })],
	['a date', () => new Date(0)],
	['a date that is none', () => new Date(NaN)],
	['a date of luxon', () => DateTime.fromMillis(0)],
	['a date of luxon that is none', () => DateTime.fromMillis(NaN)],
	['a date that is none inside', () => ({ a: new Date(NaN) })],
	['deep lists', () => JSON.parse(deepText('[', ']')) as unknown],
	['deep objects', () => JSON.parse(deepText('{"a":', '}')) as unknown],
	['deep lists as text', () => deepText('[', ']')],
	['deep objects as text', () => deepText('{"a":', '}')],
	['deep objects inside', () => ({ a: [JSON.parse(deepText('{"a":', '}'))] })],
];

function deepText(open: string, close: string): string {
	return `${open.repeat(LEVELS)}${open === '[' ? '' : '1'}${close.repeat(LEVELS)}`;
}

/** One value of each kind, made anew. */
export function everyKind(): HostileValue[] {
	return [
		...TEXTS.map((value) => ({ kind: JSON.stringify(value.slice(0, 40)), value })),
		...NUMBERS.map((value) => ({ kind: Object.is(value, -0) ? '-0' : String(value), value })),
		...OTHERS.map(([kind, make]) => ({ kind, value: make() })),
	];
}

/** Texts put together of the pieces that are dangerous, and of any others. */
const hostileText = fc
	.array(fc.oneof(fc.constantFrom(...TEXTS.slice(0, -2)), fc.string({ unit: 'binary' })), {
		maxLength: 4,
	})
	.map((pieces) => pieces.join(''));

const hostileKey = fc.oneof(
	fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'toJSON', 'value', 'id'),
	hostileText,
);

/** Any value at all, of the kinds above or nested out of them. */
export const hostileValue: fc.Arbitrary<unknown> = fc.letrec<{ any: unknown }>((tie) => ({
	any: fc.oneof(
		{ depthSize: 'small' },
		{ arbitrary: hostileText, weight: 3 },
		fc.double(),
		fc.bigInt(),
		fc.constantFrom(null, undefined, true, false),
		fc.date({ noInvalidDate: false }),
		hostileText.map((text) => JSON.stringify({ a: text })),
		fc.array(tie('any'), { maxLength: 3 }),
		fc.array(fc.tuple(hostileKey, tie('any')), { maxLength: 3 }).map(objectOf),
	),
})).any;

/** An object with these keys of its own, whatever they are called. */
function objectOf(entries: Array<[string, unknown]>): object {
	const object = {};
	for (const [key, value] of entries) {
		Object.defineProperty(object, key, {
			value,
			enumerable: true,
			configurable: true,
			writable: true,
		});
	}
	return object;
}

/** Freezes a value and everything in it, without calling itself: values may be deep. */
export function deepFreeze<Value>(root: Value): Value {
	const waiting: unknown[] = [root];
	while (waiting.length > 0) {
		const value = waiting.pop();
		if (typeof value !== 'object' || value === null || Object.isFrozen(value)) continue;
		// Dates of luxon remember what they have worked out; that is no business of ours.
		if (DateTime.isDateTime(value)) continue;
		if (!ArrayBuffer.isView(value)) Object.freeze(value);
		waiting.push(...Object.values(value));
	}
	return root;
}

const BUILT_IN = [Object.prototype, Array.prototype, String.prototype, Function.prototype, Object];

/** Every key and value of the built-in prototypes, to be compared later. */
export function builtIns(): unknown[] {
	return BUILT_IN.map((one) => Object.entries(Object.getOwnPropertyDescriptors(one)));
}
