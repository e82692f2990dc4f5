import { DateTime } from 'luxon';
import type { IDataObject } from 'n8n-workflow';

import {
	type IdentityOptions,
	MissingPart,
	hasLostDigits,
	templateValueByParts,
} from 'nodes/XpertAi/payloads/identity';
import { parseTemplate } from 'nodes/XpertAi/payloads/template';

import { n8nValue } from '../../support/expressions';

/** The value of an expression for an item, and what was evaluated for it. */
function valueOf(expression: string, json: Record<string, unknown> = {}, rule?: IdentityOptions) {
	const asked: string[] = [];
	const found = templateValueByParts(
		parseTemplate(expression),
		(part) => {
			asked.push(part);
			return n8nValue(`=${part}`, json as IDataObject);
		},
		rule,
	);
	return { found, asked };
}

const missing = (code: string, gave: unknown, isAlone = false) =>
	new MissingPart({ code, gave, isAlone });

describe('the value of an expression', () => {
	const DATE = new Date('2026-01-31T08:00:00Z');
	const MOMENT = DateTime.fromISO('2026-01-31T08:00:00Z', { zone: 'utc' });

	it.each<[string, Record<string, unknown>]>([
		['{{ $json.a }}', { a: 0 }],
		['{{ $json.a }}', { a: false }],
		['{{ $json.a }}', { a: '' }],
		['{{ $json.a }}', { a: DATE }],
		['{{ $json.a }}', { a: MOMENT }],
		['{{ $json.a }}', { a: 2 ** 60 }],
		['x{{ $json.a }}{{ $json.b }}', { a: 0, b: false }],
		['x{{ $json.a }}', { a: DATE }],
		['x{{ $json.a }}', { a: MOMENT }],
		["{{ 'x' + $json.a }}", { a: DATE }],
		["{{ 'x' + $json.a }}", { a: MOMENT }],
		['{{ `x${$json.a}` }}', { a: MOMENT }],
		['{{ $json.a + $json.b }}', { a: 1, b: 2 }],
		['x{{ $json.a + 1 }}', { a: 1 }],
		["{{ $json.a + $json.b + 'x' }}", { a: 1, b: 2 }],
		["{{ 'x' + $json.a + 1 }}", { a: 1 }],
		['x{{ $json.a + $json.b }}', { a: Infinity, b: -Infinity }],
		['{{ `x${$json.a + $json.b}` }}', { a: Infinity, b: -Infinity }],
		['{{ $json.a }}/{{ $json.b }}', { a: '', b: 'x' }],
		["a\\\\{{ $json.a }}{{ 'it\\'s' }}\\\\", { a: 'x' }],
		['{{ $json.a * 2 }}', { a: 3 }],
		['{{ String($json.a) }}', { a: 'null-safety.md' }],
		['{{ [...$json.a].join("-") }}', { a: ['null island', 'x'] }],
		['{{ $json.a.toLowerCase() }}', { a: 'docs/Undefined/NaN.md' }],
		["{{ $json.a.join('/') }}", { a: ['x', 'undefined'] }],
		['{{ String($json.a) }}', { a: 'undefinedness' }],
		['{{ String($json.a) + 1 }}', { a: 5 }],
		['{{ $json.a }}', { a: 'undefined' }],
		["{{ 'null' }}{{ $json.a }}", { a: 'x' }],
		['text', {}],
	])('%s is what n8n gives (%#)', (expression, json) => {
		const { found } = valueOf(expression, json);
		expect(found).toEqual(n8nValue(`=${expression}`, json as IDataObject));
	});

	it.each<[string, Record<string, unknown>, MissingPart]>([
		['{{ $json.a }}', {}, missing('$json.a', undefined, true)],
		['{{ $json.a }}', { a: null }, missing('$json.a', null, true)],
		['{{ $json.a }}', { a: Number.NaN }, missing('$json.a', Number.NaN, true)],
		['{{ $json.a }}', { a: { b: 1 } }, missing('$json.a', { b: 1 }, true)],
		['{{ $json.a }}', { a: ['b'] }, missing('$json.a', ['b'], true)],
		[' / {{ $json.a }} ', {}, missing('$json.a', undefined, true)],
		['x{{ $json.a }}', {}, missing('$json.a', undefined)],
		['x{{ $json.a }}', { a: 2 ** 60 }, missing('$json.a', 2 ** 60)],
		['x{{ $json.a }}', { a: '' }, missing('$json.a', '')],
		['{{ $json.a }}:{{ $json.b }}', { a: 'x' }, missing('$json.b', undefined)],
		['{{ $json.a }}:{{ $json.b }}', { a: ' ', b: '' }, missing('$json.a', '')],
		["{{ 'x' + $json.a }}", {}, missing('$json.a', undefined)],
		['{{ $json.a + 1 }}', { a: null }, missing('$json.a', null, true)],
		['{{ `x${$json.a}` }}', { a: null }, missing('$json.a', null)],
		['{{ String($json.a) }}', {}, missing('String($json.a)', 'undefined', true)],
		...['x-[object Object]', 'x Invalid Date', 'x Invalid DateTime', 'x.undefined-y'].map(
			(gave): [string, Record<string, unknown>, MissingPart] => [
				`{{ ['${gave}'].join() }}`,
				{},
				missing(`['${gave}'].join()`, gave, true),
			],
		),
		[
			"{{ ['x', String($json.a)].join('-') }}",
			{},
			missing("['x', String($json.a)].join('-')", 'x-undefined', true),
		],
		["{{ 'x.'.concat($json.a) }}", { a: null }, missing("'x.'.concat($json.a)", 'x.null', true)],
		[
			"{{ 'x '.concat($json.a) }}",
			{ a: {} },
			missing("'x '.concat($json.a)", 'x [object Object]', true),
		],
		[
			"{{ 'x '.concat(new Date('x')) }}",
			{},
			missing("'x '.concat(new Date('x'))", 'x Invalid Date', true),
		],
		[
			'{{ $json.a.concat("/", $json.b) }}',
			{ a: 'null.md' },
			missing('$json.a.concat("/", $json.b)', 'null.md/undefined', true),
		],
	])('%s lacks a part (%#)', (expression, json, part) => {
		expect(valueOf(expression, json).found).toEqual(part);
	});

	it('may need a sign in every part', () => {
		const rule = { needsEveryPart: true };
		const lack = (json: Record<string, unknown>) =>
			valueOf('{{ $json.a }}:{{ $json.b }}', json, rule).found;
		for (const blank of ['', ' \n', '\0', '\u200b'])
			expect(lack({ a: 'x', b: blank })).toEqual(missing('$json.b', blank));
		expect(lack({ a: 'x', b: 0 })).toBe('x:0');
	});

	it('may be a list or an object, but not beside text', () => {
		const rule = { takesObjects: true };
		expect(valueOf('{{ $json.a }}', { a: ['b'] }, rule).found).toEqual(['b']);
		expect(valueOf('x{{ $json.a }}', { a: ['b'] }, rule).found).toEqual(missing('$json.a', ['b']));
		for (const invalid of [DateTime.fromISO('none'), new Date(Number.NaN)])
			for (const one of [rule, {}])
				expect(valueOf('{{ $json.a }}', { a: invalid }, one).found).toBeInstanceOf(MissingPart);
	});

	it('is evaluated once for each part, up to the first that is missing', () => {
		const expression = "x{{ $json.a }}{{ 'y' + $json.b }}{{ $json.c }}";
		const first = ['{{ $json.a }}', '{{ $json.b }}'];
		expect(valueOf(expression, { a: 1, b: 2, c: 3 }).asked).toEqual([...first, '{{ $json.c }}']);
		expect(valueOf(expression, { a: 1, c: 3 }).asked).toEqual(first);
	});
});

it.each([
	[2 ** 53, true],
	[2 ** 53 - 1, false],
	[0.5, false],
	['9007199254740993', false],
])('%j has lost its last digits: %s', (number, isLost) => {
	expect(hasLostDigits(number)).toBe(isLost);
});
