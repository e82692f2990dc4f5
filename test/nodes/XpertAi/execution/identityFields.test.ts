import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { DateTime } from 'luxon';

import { identityText, keyIfGiven, keyOf } from 'nodes/XpertAi/execution/identityFields';
import { sourceNameAndShard } from 'nodes/XpertAi/operations/document/sourceIdentity';
import { conversationKeyOf } from 'nodes/XpertAi/operations/thread/run/runRequest';
import {
	readVersion,
	asVersion,
	wantsVersion,
} from 'nodes/XpertAi/operations/document/submit/documentVersion';
import { throwIfFixedVersion } from 'nodes/XpertAi/operations/document/submit/fixedFields';
import { isMissingPartError } from 'nodes/XpertAi/execution/missingExpressionPart';
import { submitFields } from 'nodes/XpertAi/operations/document/submit/fields';
import { startFields } from 'nodes/XpertAi/operations/thread/run/fields';
import { MissingPart } from 'nodes/XpertAi/payloads/identity';

import { itemOf } from '../../support/context';
import { n8nValue } from '../../support/expressions';
import { thrownBy } from '../../support/thrown';

/** An item with this JSON, of a node with these parameters. `asked` has each expression that n8n evaluates. */
function itemWith(parameters: INodeParameters, json: IDataObject = {}, fields = submitFields) {
	const asked: string[] = [];
	const evaluateExpression = (expression: string) => {
		asked.push(expression);
		return n8nValue(`=${expression}`, json);
	};
	const item = itemOf(parameters, { fields, json, methods: { evaluateExpression } });
	return Object.assign(item, { asked });
}

const VERSION = 'documentSettings.documentVersion';
const withVersion = (documentVersion: string) => ({ documentSettings: { documentVersion } });

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

	it('that people share has a sign in each part, and no word for a missing value', () => {
		const read = (conversationKey: string, json: IDataObject) => () =>
			conversationKeyOf(itemWith({ conversationKey }, json, startFields));
		expect(read('={{ $json.a }}:{{ $json.b }}', { a: 'a', b: 1 })()).toBe('a:1');
		expect(thrownBy(read('={{ $json.a }}:{{ $json.b }}', { a: 'a', b: '' })).message).toContain(
			'lacks a part: {{ $json.b }} gave nothing',
		);
		expect(thrownBy(read('={{ $json.a }}', { a: 'a-null' })).message).toContain('holds "null"');
	});
});

describe('a source', () => {
	it('has a name and a shard, each with a sign in every part', () => {
		const parameters = {
			sourceName: '=t-{{ $json.a }}',
			options: { shard: '={{ $json.b }} of 2' },
		};
		expect(sourceNameAndShard(itemWith(parameters, { a: 'x', b: 1 }))).toEqual({
			sourceName: 't-x',
			shard: '1 of 2',
		});
		for (const [json, label] of [
			[{ a: '', b: 1 }, '"Source Name" lacks a part: {{ $json.a }}'],
			[{ a: 'x', b: '' }, '"Shard" lacks a part: {{ $json.b }}'],
		] as const)
			expect(thrownBy(() => sourceNameAndShard(itemWith(parameters, json))).message).toContain(
				label,
			);
	});

	it('may have neither, and has no shard where the operation has none', () => {
		expect(sourceNameAndShard(itemWith({}))).toEqual({ sourceName: '', shard: '' });
		const fields = submitFields.filter(({ name }) => name === 'sourceName');
		const options = { shard: '={{ $json.none }}' };
		expect(sourceNameAndShard(itemWith({ sourceName: 'a', options }, {}, fields)).shard).toBe('');
	});

	it('may come from an expression that gives all options', () => {
		const options = '={{ { shard: $json.part } }}';
		expect(sourceNameAndShard(itemWith({ options }, { part: '1 of 2' })).shard).toBe('1 of 2');
		const asText = '={{ JSON.stringify({ shard: $json.part }) }}';
		expect(sourceNameAndShard(itemWith({ options: asText }, { part: '1 of 2' })).shard).toBe(
			'1 of 2',
		);
		expect(sourceNameAndShard(itemWith({ options }, {})).shard).toBe('');
	});
});

describe('a version', () => {
	it.each<[string, unknown, string | undefined]>([
		['a text with blanks around it', ' v1 ', 'v1'],
		['a number', 7, '7'],
		['a Date', new Date('2026-01-31T08:00:00Z'), '2026-01-31T08:00:00.000Z'],
		[
			'a DateTime',
			DateTime.fromISO('2026-01-31T08:00:00Z', { zone: 'utc' }),
			'2026-01-31T08:00:00.000Z',
		],
		['a text with such a word', 'null-1', 'null-1'],
		['nothing', undefined, undefined],
		['null', null, undefined],
		['an empty text', '', undefined],
		['blanks', ' ', undefined],
		['true', true, undefined],
		['an object', {}, undefined],
		['a list', ['a'], undefined],
		['an invalid Date', new Date(NaN), undefined],
		['the word undefined', 'undefined', undefined],
		['the word null between blanks', ' null ', undefined],
		['the word NaN', 'NaN', undefined],
		['the words of an invalid date', 'Invalid DateTime', undefined],
		['the words of an object', '[object Object]', undefined],
	])('may be made of %s, if that stands for something', (_, value, version) => {
		expect(asVersion(value)).toBe(version);
	});

	it.each<[string, IDataObject, string | undefined]>([
		['={{ $json.a }}', { a: 7 }, '7'],
		['=v{{ $json.a }}', { a: 7 }, 'v7'],
		['=v{{ $json.a }}', {}, undefined],
		['={{ $json.a }}', { a: { b: 1 } }, undefined],
		['', {}, undefined],
	])('of the expression %s is read (%#)', (expression, json, version) => {
		const item = itemWith(withVersion(expression), json);
		expect(readVersion(item, VERSION)).toBe(version);
		expect(wantsVersion(item, VERSION)).toBe(expression !== '');
	});

	it.each([
		['v1', 2, true],
		['=v1', 2, true],
		["={{ 'v' + 1 }}", 2, true],
		['v1', 1, false],
		['', 2, false],
		['={{ $json.a }}', 2, false],
	])('of %s for %i documents is refused: %s', (version, count, isRefused) => {
		const check = () => {
			throwIfFixedVersion(itemWith(withVersion(version)), VERSION, count);
			throw new Error('accepted');
		};
		expect(thrownBy(check).message).toContain(
			isRefused ? '"Document Version" is Fixed' : 'accepted',
		);
	});

	it('of a Fixed expression is told as what it is', () => {
		const check = () => throwIfFixedVersion(itemWith(withVersion('{{ $json.a }}')), VERSION, 2);
		expect(thrownBy(check).message).toContain('is Fixed and holds an expression');
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
