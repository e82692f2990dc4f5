import { DateTime } from 'luxon';

/** Deeper than any function that calls itself can follow. */
const LEVELS = 10_000;
const LONG = 20_000;

const deepLists = `${'['.repeat(LEVELS)}${']'.repeat(LEVELS)}`;
const deepObjects = `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`;

/** One of each kind that no user means to enter, made anew; an expression can give all of them. */
export const hostileValues = (): unknown[] => [
	// What means something to paths, headers, parsers or JavaScript itself.
	...'. .. ../ ../../v1/kb/1 ..%2f..%2fv1 %2f %2e%2e % a/b a\\..\\b , /'.split(' '),
	...'?a=1&ids=2 #there //evil.example/ @evil.example https://evil.example/../x http://['.split(
		' ',
	),
	...'__proto__ constructor constructor.name toString true NaN Infinity 1e999 -1 0x10'.split(' '),
	...'null "text" [1] { {"a": {"a":"\\ud800"} {"a":1e999}'.split(' '),
	'{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
	'a\r\nX-Injected: 1\r\n\r\nGET / HTTP/1.1',
	...['\r\n', 'a\0b', '\ud800', 'b\udc00c', '\u202eRTL \u05d0\u05d1', '👩‍👩‍👧 é ﷽', '', '   '],
	...['x'.repeat(LONG), '👩'.repeat(LONG / 2), deepLists, deepObjects],
	...[0, -0, -1, 1.5, 5e-324, 2 ** 31, 2 ** 53, 1e21, 1e308, NaN, Infinity, -Infinity],
	...[null, undefined, true, false, BigInt(10)],
	...[[], [null], [[]], [{}], [undefined], ['a', '../b'], ['\ud800']],
	...[{}, { a: { b: [1] } }, { a: [BigInt(10)] }, { a: NaN }, Object.create(null)],
	{ __rl: true, mode: 'id', value: { a: 1 } },
	// What has no text.
	...[{ toString: 1, valueOf: 1 }, [{ toString: 1, valueOf: 1 }]],
	...[JSON.parse('{"__proto__":{"polluted":1}}'), { constructor: { prototype: { polluted: 1 } } }],
	...[new Date(0), new Date(NaN), { a: new Date(NaN) }],
	...[DateTime.fromMillis(0), DateTime.fromMillis(NaN)],
	...[JSON.parse(deepLists), JSON.parse(deepObjects), { a: [JSON.parse(deepObjects)] }],
];

/** Freezes a value and everything in it, without calling itself: values may be deep. */
export function deepFreeze<Value>(root: Value): Value {
	const waiting: unknown[] = [root];
	while (waiting.length > 0) {
		const value = waiting.pop();
		if (typeof value !== 'object' || value === null || Object.isFrozen(value)) continue;
		// Dates of luxon remember what they have worked out.
		if (DateTime.isDateTime(value)) continue;
		if (!ArrayBuffer.isView(value)) Object.freeze(value);
		waiting.push(...Object.values(value));
	}
	return root;
}
