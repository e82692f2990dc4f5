import { parseReadExpression, readPath } from 'nodes/XpertAi/payloads/readPath';

/** The steps of an expression, in short. Undefined if it does more than read. */
const stepsOf = (expression: string) =>
	parseReadExpression(expression)?.map(({ key, isOptional }) => `${isOptional ? '?' : ''}${key}`);

describe('an expression that only reads', () => {
	it.each([
		['{{ $json.a }}', ['a']],
		['{{$json.a}}', ['a']],
		['{{ \t$json.a\t\t}}', ['a']],
		['{{ $json.a.b_1.$c }}', ['a', 'b_1', '$c']],
		['{{ $json.größe }}', ['größe']],
		['{{ $json.class }}', ['class']],
		['{{ $json["a b"] }}', ['a b']],
		["{{ $json['a.b'].c }}", ['a.b', 'c']],
		['{{ $json[""] }}', ['']],
		['{{ $json.a[0][12] }}', ['a', '0', '12']],
		['{{ $json?.a?.b?.[0]?.["c d"] }}', ['?a', '?b', '?0', '?c d']],
	])('is split into its steps: %s', (expression, steps) => {
		expect(stepsOf(expression)).toEqual(steps);
	});

	it.each([
		...['$json.a', '{{ $json }}', '{{ $json. }}', '{{ $jsonl.a }}', '{{ $json.a.b() }}'],
		...['x{{ $json.a }}', '{{ $json.a }} ', ' {{ $json.a }}', '{{ $json.a }}{{ $json.b }}'],
		...['{{ $json.a + 1 }}', '{{ $json.a || $json.b }}', '{{ -$json.a }}', '{{ ($json.a) }}'],
		...['{{ $json.a[$json.b] }}', '{{ $json[-1] }}', '{{ $json[01] }}', '{{ $json[1.5] }}'],
		...['{{ $json["a\\n"] }}', '{{ $json["a }} b"] }}', '{{ $json[`a`] }}', '{{ $json["a" }}'],
		...['{{ $json.a; }}', '{{ $json.a // b }}', '{{ $json . a }}', '{{ $json.1 }}'],
		...['{{ $json.a?.5 }}', '{{ $binary.a }}', "{{ $('A').item.json.a }}", '\\{{ $json.a }}'],
		...['{{ $json.a', '$json.a }}', '', '{{ }}', '{{ $json["a\tb"] }}'],
	])('is not taken for one: %s', (expression) => {
		expect(stepsOf(expression)).toBeUndefined();
	});
});

describe('the value at a path', () => {
	const read = (expression: string, json: unknown) =>
		readPath(json, parseReadExpression(expression) ?? []);

	it.each([
		['{{ $json.a }}', { a: 'x' }, 'x'],
		['{{ $json.a }}', { a: '' }, ''],
		['{{ $json.a }}', { a: 0 }, 0],
		['{{ $json.a }}', { a: false }, false],
		['{{ $json.a }}', { a: null }, null],
		['{{ $json.a }}', {}, undefined],
		['{{ $json.a }}', Object.assign(Object.create(null), { a: 1 }), 1],
		['{{ $json["a.b"] }}', { 'a.b': 1, a: { b: 2 } }, 1],
		['{{ $json.a.b[1] }}', { a: { b: ['x', 'y'] } }, 'y'],
		['{{ $json.a[2] }}', { a: ['x'] }, undefined],
		['{{ $json.a.length }}', { a: ['x'] }, 1],
		['{{ $json.toString }}', { toString: 'x' }, 'x'],
		['{{ $json.a?.b.c }}', { a: null }, undefined],
		['{{ $json.a?.b }}', {}, undefined],
	])('is read: %s %#', (expression, json, value) => {
		expect(read(expression, json)).toEqual({ value });
	});

	class Point {
		x = 1;
	}
	it.each<[string, string, unknown]>([
		['an object', '{{ $json.a }}', { a: {} }],
		['a list', '{{ $json.a }}', { a: [] }],
		['a date', '{{ $json.a }}', { a: new Date() }],
		['a function', '{{ $json.a }}', { a: () => 1 }],
		['no finite number', '{{ $json.a }}', { a: Number.NaN }],
		['a large integer', '{{ $json.a }}', { a: 1n }],
		['a symbol', '{{ $json.a }}', { a: Symbol('a') }],
		['a missing parent', '{{ $json.a.b }}', {}],
		['a parent that is null', '{{ $json.a.b }}', { a: null }],
		['the length of a text', '{{ $json.a.length }}', { a: 'x' }],
		['an inherited property', '{{ $json.constructor }}', {}],
		['an inherited method', '{{ $json.a.map }}', { a: [] }],
		['the prototype', '{{ $json.__proto__ }}', {}],
		['a property of an instance', '{{ $json.a.x }}', { a: new Point() }],
		[
			'a getter',
			'{{ $json.a }}',
			{
				get a() {
					throw new Error('is not called');
				},
			},
		],
		['no item', '{{ $json.a }}', undefined],
	])('is left to n8n: %s', (_, expression, json) => {
		expect(read(expression, json)).toBeUndefined();
	});
});
