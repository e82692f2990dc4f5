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
