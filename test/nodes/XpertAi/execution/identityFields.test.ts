import type { IDataObject } from 'n8n-workflow';
import { DateTime } from 'luxon';

import { identityText, keyIfGiven, keyOf } from 'nodes/XpertAi/execution/identityFields';
import { isMissingPartError } from 'nodes/XpertAi/execution/missingExpressionPart';
import { MissingPart } from 'nodes/XpertAi/payloads/identity';

import { evaluatingItem as itemWith } from '../../support/evaluatingItem';
import { thrownBy } from '../../support/thrown';

describe('a key', () => {
	const refusal = (documentKey: string, json: IDataObject = {}) =>
		thrownBy(() => keyOf(itemWith({ documentKey }, json), 'documentKey'));

	it.each<[string, IDataObject, string]>([
		['={{ $json.a }}', {}, 'is empty: its expression gave nothing for this item'],
		['={{ $json.a }}', { a: ' ' }, 'is empty: its expression gave only blanks for this item'],
		['=x{{ $json.a }}', {}, 'lacks a part: {{ $json.a }} gave nothing for this item'],
		['=x{{ $json.a }}', { a: [1] }, 'lacks a part: {{ $json.a }} gave [1]'],
		[
			'=x{{ $json.a }}',
			{ a: 2 ** 60 },
			'lacks a part: {{ $json.a }} gave a number without its last digits',
		],
		['={{ $json.a }}', { a: [1] }, 'must be text, but is [1]'],
		[
			'={{ $json.a }}',
			{ a: 2 ** 60 },
			'must be text, as so large a number has lost its last digits, but is 1152921504606847000',
		],
		['={{ $json.a }}', { a: 'null' }, 'holds "null", which stands for a missing value'],
		[
			'={{ ["a", String($json.a)].join("-") }}',
			{},
			'holds "undefined", which stands for a missing value',
		],
		['x', {}, ''],
	])('of %s is refused in words (%#)', (expression, json, words) => {
		if (words === '') expect(keyOf(itemWith({ documentKey: expression }), 'documentKey')).toBe('x');
		else expect(refusal(expression, json).message).toBe(`"Document Key" ${words}`);
	});

	it('that lacks a part says which one and how to go on', () => {
		expect(refusal('={{ $json.a }}', { b: 1 })).toMatchObject({
			description: expect.stringContaining(
				'The item has b. Correct the expression, or leave such items out',
			),
		});
		expect(refusal('={{ $json.a }}')).toMatchObject({
			description: expect.stringContaining('The item itself is empty'),
		});
		const long = 'x'.repeat(100);
		const { message } = refusal(`=x{{ $json.${long} }}`);
		expect(message).toBe(
			`"Document Key" lacks a part: {{ $json.${'x'.repeat(74)}… }} gave nothing for this item`,
		);
	});

	it('is told from other refusals if it lacks a part', () => {
		expect(isMissingPartError(refusal('=x{{ $json.a }}'))).toBe(true);
		expect(isMissingPartError(refusal('={{ $json.a }}'))).toBe(true);
		expect(isMissingPartError(refusal('={{ $json.a }}', { a: 'null' }))).toBe(false);
		expect(isMissingPartError(undefined)).toBe(false);
	});

	it('that is Fixed and holds an expression is refused', () => {
		expect(refusal('{{ $json.a }}').message).toContain('is Fixed and holds an expression');
		const item = itemWith({ documentKey: '=x{{ $json.a }}' }, { a: '{{ $json.b }}' });
		expect(keyOf(item, 'documentKey')).toBe('x{{ $json.b }}');
	});

	it('may be left out', () => {
		for (const documentKey of ['', ' ', '='])
			expect(keyIfGiven(itemWith({ documentKey }), 'documentKey')).toBeUndefined();
	});

	it('keeps the error of n8n, which names the parameter', () => {
		const error = thrownBy(() =>
			keyOf(itemWith({ documentKey: "=x{{ $('Nowhere').item.json.a }}" }), 'documentKey'),
		);
		expect(error).toMatchObject({ name: 'ExpressionError', context: { parameter: 'documentKey' } });
	});
});

it('an address is there, and is told if it is not', () => {
	const read = (url: string, json: IDataObject) => () =>
		identityText(itemWith({ url }, json), 'url');
	expect(read('=https://a/{{ $json.a }} ', { a: 'b' })()).toBe('https://a/b');
	expect(thrownBy(read('={{ $json.a }}', { a: '' })).message).toContain('is empty: its expression');
	expect(read('', {})()).toBe('');
});

describe('a collection', () => {
	const parameters = {
		documentSettings: {
			documentVersion: '={{ $json.version }}',
			folder: '={{ $json.folder }}/x',
			chunkSize: '={{ $json.size }}',
			mimeType: 'text/plain',
			metadata: '={{ { at: $json.at } }}',
			metadataRows: {
				values: [
					{ key: '={{ $json.key }}', content: '=a{{ $json.a }}' },
					{ key: 'b', content: '={{ $json.list }}' },
					{ key: 'c', content: '={{ $json.at }}' },
				],
			},
		},
	};
	const at = DateTime.fromISO('2026-01-31T08:00:00Z', { zone: 'utc' });

	it('has each value, the part that is missing, and not what is read alone', () => {
		const json = { key: 'k', size: 5, list: ['x'], at: at as unknown as string };
		const item = itemWith(parameters, json);
		expect(item.parameter('documentSettings')).toEqual({
			documentVersion: undefined,
			folder: new MissingPart({ code: '$json.folder', gave: undefined, isAlone: false }),
			chunkSize: 5,
			mimeType: 'text/plain',
			metadata: { at },
			metadataRows: {
				values: [
					{
						key: 'k',
						content: new MissingPart({ code: '$json.a', gave: undefined, isAlone: false }),
					},
					{ key: 'b', content: ['x'] },
					{ key: 'c', content: '2026-01-31T08:00:00.000Z' },
				],
			},
		});
		expect(item.asked).toEqual(
			['$json.folder', '$json.a', '$json.list', '$json.at'].map((one) => `{{ ${one} }}`),
		);
	});

	it('without such a field is left to n8n', () => {
		const item = itemWith({ documentSettings: { chunkSize: '={{ $json.size }}' } }, { size: 5 });
		expect(item.parameter('documentSettings')).toEqual({ chunkSize: 5 });
		expect(item.asked).toEqual([]);
	});
});
